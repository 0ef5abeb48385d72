"""How pages and tables say that a number was chosen as the best one on the items that it is reported on."""

from collections.abc import Iterable, Mapping, Sequence

from annotation.core.prose import enumerated
from correlations.results.study import StudyResult, StudyRow

MARK = "tuned on these items"
CHOSEN_HERE = "Its references were chosen on these items."
ALL_CHOSEN = "That it reads all references was chosen on these items."
WHY = (
    "Chosen as the best on these very items: on other items it is worth less, and how much less depends on the choice."
)


def chosen_here(row: StudyRow) -> str:
    """Return that a row is the best of several choices of references, in a sentence."""
    return ALL_CHOSEN if row.subset == "all" else CHOSEN_HERE


def is_tuned(result: StudyResult, row: StudyRow) -> bool:
    """Return whether a row that is named as the best was picked from several choices of references."""
    return sum(each.label == row.label for each in result.rows) > 1


def references_chosen(result: StudyResult, rows: Iterable[StudyRow]) -> str:
    """Return of which of the named rows the references were chosen, in a sentence; empty if of none."""
    return of_metrics_chosen([row.label for row in rows if is_tuned(result, row)])


def of_metrics_chosen(labels: Sequence[str]) -> str:
    """Return that the references of metrics were chosen, in a sentence.

    >>> of_metrics_chosen(["BLEU", "chrF", "BLEU"])
    'The references of BLEU and chrF were chosen on these items.'
    """
    return f"The references of {enumerated(list(dict.fromkeys(labels)))} were chosen on these items." if labels else ""


def tuned_marks(result: StudyResult, values: Mapping[int, float | None]) -> dict[int, str]:
    """Return `MARK` for each row that is the highest of several choices of its metric's references, else nothing.

    ``values`` are the coefficients of rows by their places in the study's table; of a metric they may hold one alone.
    """
    highest: dict[str, float] = {}
    for index, value in values.items():
        if value is not None:
            label = result.rows[index].label
            highest[label] = max(highest.get(label, value), value)
    return {
        index: MARK
        if value is not None and value == highest[result.rows[index].label] and is_tuned(result, result.rows[index])
        else ""
        for index, value in values.items()
    }
