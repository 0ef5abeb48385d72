"""Table 3 of Dušek, Novikova and Rieser 2017: word-overlap metrics against median ratings of single outputs."""

import csv
from collections.abc import Sequence

import numpy as np

from correlations.published.table import FOLDER, Cell, Line, PublishedTable
from correlations.stats.segment_level import on_scale_by_range, rating_errors, segment_level_correlation

# By column of the data: the name, and the printed Pearson, Spearman, MAE and RMSE.
PRINTED = {
    "Bleu_4": ("BLEU", 0.074, 0.061, 2.264, 2.731),
    "METEOR": ("METEOR", 0.095, 0.099, 1.820, 2.129),
    "ROUGE_L": ("ROUGE-L", 0.079, 0.072, 1.312, 1.674),
    "CIDEr": ("CIDEr", 0.061, 0.058, 2.606, 2.935),
}
CONSTANT = 4.5  # "a trivial constant baseline that always predicts the overall average human rating (4.5)"
CONSTANT_ERRORS = 1.013, 1.233
LOW, HIGH, STEP = 1.0, 6.0, 0.5


def _lines() -> list[Line]:
    with (FOLDER / "emnlp17.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    ratings = np.array([float(row["quality"]) for row in rows])
    constant = rating_errors(np.full(ratings.shape, CONSTANT), ratings)
    lines = [Line("Constant of 4.5", (None, None, *_errors(CONSTANT_ERRORS, (constant.mae, constant.rmse))))]
    for column, (name, r, rho, *errors) in PRINTED.items():
        scores = np.array([float(row[column]) for row in rows])
        placed = on_scale_by_range(scores, low=LOW, high=HIGH, step=STEP, rounding="down")
        values = segment_level_correlation(placed[None], ratings[None]).values
        apart = rating_errors(placed, ratings)
        coefficients = Cell(r, values["pearson"], 3), Cell(rho, values["spearman"], 3)
        lines.append(Line(name, (*coefficients, *_errors(errors, (apart.mae, apart.rmse)))))
    return lines


def _errors(printed: Sequence[float], computed: Sequence[float]) -> tuple[Cell, ...]:
    return tuple(Cell(each, here, 3) for each, here in zip(printed, computed, strict=True))


TABLE = PublishedTable(
    key="emnlp17",
    title="Word-overlap metrics against raters, output by output",
    paper="Dušek, Novikova and Rieser, LGNL 2017, Table 3, rows of metrics",
    data=(
        "2,460 outputs of three systems on BAGEL, SFRest and SFHot, their scores and median quality ratings, as "
        "published with Novikova et al., EMNLP 2017. Scores are put on the scale of 1 to 6 by their lowest and "
        "highest, and rounded down to half points: the printed errors follow from that alone."
    ),
    licence="MIT, © 2021 Jekaterina Novikova.",
    differs=(
        "The paper computed its own scores with the scripts of Microsoft COCO, over data that its published form "
        "differs from a little: correlations agree to 0.005, errors to 0.03. The paper rounds scores before it "
        "correlates them, as is done here. Assay’s studies and its documentation of quality estimation take scores as "
        "they are, which moves these by up to 0.008: METEOR to 0.098 and 0.103, CIDEr to 0.064 and 0.057."
    ),
    columns=("Pearson’s r", "Spearman’s ρ", "MAE", "RMSE"),
    compute=_lines,
)
