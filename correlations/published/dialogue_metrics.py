"""Table 1 of D'Haro et al. 2019: metrics of dialogue over the 20 systems of DSTC6."""

import csv

from annotation.core.numbers import decimals
from correlations.published.table import FOLDER, Cell, Line, PublishedTable
from correlations.stats.system_level import system_level_correlation

# By column of the data: the name, and the printed rows "Pearson Correlation" and "p-value".
PRINTED = {
    "BLEU_4": ("BLEU-4", -0.5108, 0.0214),
    "METEOR": ("METEOR", 0.3628, 0.1159),
    "ROUGE_L": ("ROUGE-L", 0.1450, 0.5420),
    "CIDEr": ("CIDEr", -0.1827, 0.4408),
    "SkipThoughts": ("Skip-thoughts", -0.4563, 0.0432),
    "EmbeddingAverage": ("Embedding average", 0.7768, 0.0001),
    "VectorExtrema": ("Vector extrema", 0.2345, 0.3196),
    "GreedyMatching": ("Greedy matching", 0.4028, 0.0782),
    "AM_FM": ("AM-FM", 0.8907, 1.41e-7),
}


def _lines() -> list[Line]:
    with (FOLDER / "dstc6-table1.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    systems, human = [row["system"] for row in rows], [float(row["human_mean"]) for row in rows]
    lines = []
    for column, (name, r, p) in PRINTED.items():
        result = system_level_correlation([float(row[column]) for row in rows], human, systems)
        found = result.most_influential
        cells = (
            Cell(r, result.values["pearson"], 4),
            Cell(p, result.pvalues["pearson"], *((4, False) if p >= 1e-4 else (2, True))),
        )
        note = f"r = {decimals(found.values['pearson'])} without {found.system}" if found else ""
        lines.append(Line(name, cells, note))
    return lines


TABLE = PublishedTable(
    key="dstc6",
    title="Metrics of dialogue against raters, over 20 systems",
    paper="D’Haro, Banchs, Hori and Li, Computer Speech and Language 2019, Table 1, last two rows",
    data="The scores and mean ratings that the same table prints, to four decimals.",
    licence="Facts from the paper.",
    differs=(
        "Coefficients agree to 0.0005: the printed scores are rounded, and p-values move with them. Assay says beside "
        "each what it is without the system that moves it most: S_20, whose raters’ mean lies far below all others, "
        "carries the paper’s best."
    ),
    columns=("Pearson’s r", "p"),
    compute=_lines,
)
