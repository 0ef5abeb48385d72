"""Table 2 of Galley et al. 2015: the intervals around the correlations of BLEU, sBLEU and ΔBLEU."""

from correlations.published.table import Cell, Line, PublishedTable
from correlations.stats.intervals import fisher_z_interval

OBSERVATIONS = 12 * 22 * 2  # pairs of systems, units of 100 among 2,114 sentences, both orientations
# As printed, for single references, those of weights from 0.6 on, and all: rho with its interval, tau with its own.
PRINTED = {
    "BLEU, single": ((0.260, 0.178, 0.337), (0.171, 0.087, 0.252)),
    "BLEU, w ≥ 0.6": ((0.343, 0.265, 0.416), (0.232, 0.150, 0.312)),
    "BLEU, all": ((0.318, 0.239, 0.392), (0.212, 0.129, 0.292)),
    "sBLEU, single": ((0.265, 0.183, 0.342), (0.175, 0.091, 0.256)),
    "sBLEU, w ≥ 0.6": ((0.330, 0.252, 0.404), (0.222, 0.140, 0.302)),
    "sBLEU, all": ((0.258, 0.177, 0.336), (0.167, 0.083, 0.249)),
    "ΔBLEU, single": ((0.280, 0.199, 0.357), (0.187, 0.103, 0.268)),
    "ΔBLEU, w ≥ 0.6": ((0.405, 0.331, 0.474), (0.281, 0.200, 0.357)),
    "ΔBLEU, all": ((0.484, 0.415, 0.546), (0.342, 0.265, 0.415)),
}


def _lines() -> list[Line]:
    lines = []
    for name, coefficients in PRINTED.items():
        cells = []
        for value, *ends in coefficients:
            cells += [
                Cell(end, here, 3) for end, here in zip(ends, fisher_z_interval(value, OBSERVATIONS), strict=True)
            ]
        lines.append(Line(name, tuple(cells)))
    return lines


TABLE = PublishedTable(
    key="delta-bleu",
    title="Intervals around the correlations of BLEU and ΔBLEU",
    paper="Galley et al., ACL 2015, Table 2",
    data="The coefficients that the same table prints. Fisher’s interval for 12 · 22 · 2 = 528 observations.",
    licence="Facts from the paper.",
    differs=(
        "How the paper came to its number of observations is not said; with 528, its design counted in both "
        "orientations, every interval follows to 0.001. That takes mirrored observations for independent. Assay shows "
        "it as the paper’s interval, and beside it a bootstrap over items, and over raters, that counts them once. The "
        "raters’ data of the paper are not published: its coefficients cannot be computed again."
    ),
    columns=("ρ, low", "ρ, high", "τ, low", "τ, high"),
    compute=_lines,
)
