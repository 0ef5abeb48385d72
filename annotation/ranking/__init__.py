"""Who is better, by ratings: means, differences, Bradley-Terry strengths and ranks of systems, with intervals.

Pure functions on arrays: usable from a notebook without the rest of Assay.
"""

from annotation.ranking.bradley_terry import bradley_terry, bradley_terry_certainty
from annotation.ranking.means import system_means
from annotation.ranking.ranks import clusters, rank_ranges
from annotation.ranking.standardised import standardised

__all__ = ["bradley_terry", "bradley_terry_certainty", "clusters", "rank_ranges", "standardised", "system_means"]
