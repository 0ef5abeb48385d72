"""What a report says of imported scores and of automatic metrics, each by themselves."""

from dataclasses import replace

import pytest

from correlations.models import Study
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.headlines import study_headline
from correlations.selectors.shown_apart import shown_apart
from metrics.scoring.external import External
from tests.correlations.views.conftest import lead_sentences

pytestmark = pytest.mark.django_db
WIDE, ABOVE, BELOW = (-0.1, 0.2), (0.1, 0.4), (-0.4, -0.1)


def test_the_lead_says_how_many_metrics_of_each_kind_are_shown_to_agree(study: Study) -> None:
    result = study.read_result()
    first = result.rows[0]

    def row(label: str, ends: tuple[float, float] | None, **changes: object) -> StudyRow:
        estimate = replace(first.coefficients["spearman"], value=0.2, over_items=ends, over_items_and_raters=ends)
        return replace(first, label=label, few_units="", coefficients={"spearman": estimate}, **changes)

    def said(*rows: StudyRow, best: str = "gpt") -> str:
        return shown_apart(replace(result, rows=rows), best)

    judge, other = row("gpt", ABOVE, metric=External.name), row("qwen", WIDE, metric=External.name)
    over = "range over items and raters"
    none = "Of the 2 automatic metrics none is shown to agree with the raters over these units:"
    assert said(judge, row("BLEU", WIDE), row("chrF", WIDE)) == f"{none} every {over} includes 0."
    assert said(judge, row("BLEU", WIDE), row("chrF", BELOW)) == f"{none} no {over} lies above 0."
    some = said(judge, row("BLEU", WIDE), row("chrF", ABOVE), row("chrF", WIDE))
    assert some.startswith("Of the 2 automatic metrics only chrF is shown to agree with the raters, with at least one")
    assert said(judge, row("BLEU", WIDE)).endswith(f"is not shown to agree with the raters: its {over} includes 0.")
    assert said(judge, row("BLEU", ABOVE)) == "BLEU, the only automatic metric, is shown to agree with the raters."
    both = said(judge, other, row("BLEU", ABOVE), row("chrF", ABOVE))
    assert both.startswith(
        "Of the 2 imported scores only gpt is shown to agree with the raters: no other imported score’s"
    )
    assert both.endswith(f"Of the 2 automatic metrics each is shown to agree with the raters: its {over} lies above 0.")
    # Nothing is said of one kind alone, of metrics that do not judge quality, or without intervals.
    assert said(row("BLEU", WIDE), row("chrF", WIDE)) == ""
    assert said(judge, row("length", WIDE, metric="length")) == ""
    assert said(judge, row("BLEU", None)) == ""
    assert said(row("BLEU", ABOVE), judge, best="BLEU").startswith("gpt, the only imported score, is shown")


def test_the_page_and_the_files_lead_with_it(study: Study) -> None:
    result: StudyResult = study.read_result()
    rows = tuple(replace(row, few_units="") for row in result.rows)
    rows = (replace(rows[0], metric=External.name, label="gpt"), *rows[1:])
    found = study_headline(study, replace(result, rows=rows))
    assert found is not None
    assert found.apart
    assert found.apart in lead_sentences(study, replace(result, rows=rows))
