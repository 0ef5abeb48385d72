"""The coefficients that studies offer, by key."""

from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.kendall import KENDALL
from correlations.stats.coefficients.pearson import PEARSON
from correlations.stats.coefficients.somers_d import SOMERS_D
from correlations.stats.coefficients.spearman import SPEARMAN

COEFFICIENTS: dict[str, Coefficient] = {entry.key: entry for entry in (PEARSON, SPEARMAN, KENDALL, SOMERS_D)}
