"""How pages say that a number was chosen as the best one on the items that it is reported on."""

MARK = "tuned on these items"
CHOSEN_HERE = "Its references were chosen on these items."
WHY = (
    "Chosen as the best on these very items: on other items it is worth less, and how much less depends on the choice."
)
