"""How far each row agrees with the other raters in a rater's place, and that rater, as a picture."""

import math

from annotation.core.charts import Spec, Theme
from correlations.charts.forest import ForestRow, forest_plot
from correlations.results.ceiling import CoefficientCeiling
from correlations.results.study import NO_REFERENCES, StudyResult, StudyRow
from correlations.selectors.settings_words import settings_in_words

AGREEMENT = "agreement"
_BAR = "a rater with the other raters"
_CAPTION = f"Dot: in a rater’s place, with the other raters; line: its 95% interval over items. Upright bar: {_BAR}."
_NOWHERE = (math.nan, math.nan)


def has_agreement(result: StudyResult) -> bool:
    """Return whether some row can be compared with a rater."""
    return any(human.metric is not None for _, human in _rows(result))


def agreement_figure(result: StudyResult, theme: Theme) -> Spec | None:
    """Draw the agreement of each row beside a rater's, the closest first; None if no row can be compared with one."""
    known = [(row, human) for row, human in _rows(result) if human.metric is not None]
    if not known:
        return None
    rows = sorted(known, key=lambda each: each[1].metric or 0.0, reverse=True)
    return forest_plot(
        [_drawn(row, human, result.lead.label) for row, human in rows],
        title="Agreement with the other raters, output by output",
        settings=settings_in_words(result),
        bar=_BAR,
        theme=theme,
    )


def agreement_caption(result: StudyResult) -> str:
    """Return how to read the chart."""
    return f"{_CAPTION} {settings_in_words(result)}".strip()


def _rows(result: StudyResult) -> list[tuple[StudyRow, CoefficientCeiling]]:
    ceilings = (ceiling.coefficients[result.lead.key] for ceiling in result.ceilings)
    return list(zip(result.rows, ceilings, strict=True))


def _drawn(row: StudyRow, human: CoefficientCeiling, coefficient: str) -> ForestRow:
    return ForestRow(
        metric=row.label,
        subset="" if row.subset == NO_REFERENCES else row.subset_label,
        coefficient=coefficient,
        mean=math.nan if human.metric is None else human.metric,
        honest=human.metric_ends or _NOWHERE,
        ceiling=math.nan if human.one_rater is None else human.one_rater,
    )
