"""How pages say that a metric's model was trained on the outputs that its row is about."""

from collections.abc import Mapping, Sequence
from typing import Any

from correlations.models import Study
from correlations.results.study import StudyRow
from correlations.specification import NAMED, SEEN
from metrics.scoring.models.files import SHOWN
from metrics.scoring.quality_estimate import QualityEstimate
from metrics.selectors.models import PREFIX
from metrics.selectors.seen import Seen

MARK = "trained on these items"
WHY = (
    "Its model learnt from ratings of these very outputs: the row shows how well it remembers them, not how well it "
    "judges others. Cross-validated predictions are honest."
)


def trained_on(study: Study, row: StudyRow) -> Seen | None:
    """Return how many of the study's outputs the row's model was trained on; None if there is none such."""
    if row.metric != QualityEstimate.name:
        return None
    seen: Mapping[str, Any] = study.specification.get(NAMED, {}).get(SEEN, {})
    for reference, counts in seen.items():
        if reference.removeprefix(PREFIX)[:SHOWN] in row.signature and counts["outputs"]:
            return Seen(**counts)
    return None


def trained_sentence(study: Study, row: StudyRow) -> str:
    """Return the warning about a row whose model was trained on its outputs; empty for other rows."""
    seen = trained_on(study, row)
    if seen is None:
        return ""
    return f"Its model was trained on {seen.outputs:,} of these {seen.of:,} outputs: that shows how well it remembers."


def trained_rows(study: Study, rows: Sequence[StudyRow]) -> list[tuple[StudyRow, Seen]]:
    """Return the rows whose models were trained on outputs of the study, with how many."""
    return [(row, seen) for row in rows if (seen := trained_on(study, row)) is not None]
