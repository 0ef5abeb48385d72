"""How pages say that a number was chosen as the best one on the items that it is reported on."""

from correlations.results.study import StudyRow

MARK = "tuned on these items"
CHOSEN_HERE = "Its references were chosen on these items."
ALL_CHOSEN = "That it reads all references was chosen on these items."
WHY = (
    "Chosen as the best on these very items: on other items it is worth less, and how much less depends on the choice."
)


def chosen_here(row: StudyRow) -> str:
    """Return that a row is the best of several choices of references, in a sentence."""
    return ALL_CHOSEN if row.subset == "all" else CHOSEN_HERE
