"""The table of the scale in the instructions."""

import pytest

from annotation.campaigns.design.scale_words import Point, described_points, followed, follows, rewritten
from annotation.campaigns.design.templates import TEMPLATES, Template
from annotation.campaigns.fields.table import CriterionDraft

THREE = CriterionDraft("quality", "How good is it?", scale_max=3, labels=("Bad", "Fair", "Good"))
FOUR = CriterionDraft("quality", "How good is it?", scale_max=4, labels=("Bad", "Poor", "Fair", "Good"))
WRITTEN = """Read it.

## The scale

| Points | Name | When |
| --- | --- | --- |
| **3** | Good | It fits. |
| **2** | Fair | It could be said. |
| **1** | Bad | It makes no sense. |

Use all of it.

## Good to know

- There are checks.
"""


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.slug)
def test_the_instructions_of_a_template_describe_its_scale(template: Template) -> None:
    criteria = [CriterionDraft(**criterion) for criterion in template.design["criteria"]]
    assert described_points(template.design["instructions"])
    assert follows(template.design["instructions"], criteria)


def test_a_table_follows_and_each_name_keeps_its_description() -> None:
    text = followed(WRITTEN, [THREE], [FOUR])
    assert described_points(text) == [
        Point("4", "Good", "It fits."),
        Point("3", "Fair", "It could be said."),
        Point("2", "Poor"),
        Point("1", "Bad", "It makes no sense."),
    ]
    assert [line for line in text.splitlines() if line and not line.startswith("|")] == [
        line for line in WRITTEN.splitlines() if line and not line.startswith("|")
    ]
    assert followed(text, [FOUR], [THREE]) == WRITTEN


def test_a_table_that_was_written_otherwise_does_not_follow_but_can_be_rewritten() -> None:
    own = WRITTEN.replace("| Fair |", "| So so |")
    assert not follows(own, [THREE])
    assert followed(own, [THREE], [FOUR]) == own
    assert follows(rewritten(own, [FOUR]), [FOUR])


def test_instructions_without_a_table_say_nothing_of_the_scale_until_one_is_added() -> None:
    plain = "Read it.\n\n## Good to know\n\n- There are checks.\n"
    assert follows(plain, [THREE])
    assert followed(plain, [THREE], [FOUR]) == plain
    text = rewritten(plain, [THREE])
    assert [point.name for point in described_points(text)] == ["Good", "Fair", "Bad"]
    assert text.startswith("Read it.\n\n## The scale\n")
    assert text.endswith("## Good to know\n\n- There are checks.\n")
    assert described_points(rewritten("", [THREE]))


def test_different_scales_have_a_table_each_under_their_questions() -> None:
    slider = CriterionDraft("fit", "How well does it fit?", "slider", 0, 100, labels=("Not", "Fully"))
    text = rewritten(WRITTEN, [THREE, slider])
    assert [point.value for point in described_points(text)] == ["3", "2", "1", "100", "0"]
    assert text.index("**How good is it?**") < text.index("**How well does it fit?**") < text.index("Use all of it.")
    assert rewritten(text, [THREE, slider]) == text
    assert rewritten(text, [THREE]) == WRITTEN


def test_a_scale_without_points_ends_the_table() -> None:
    best = CriterionDraft("best", "Which?", "best_worst")
    assert "|" not in rewritten(WRITTEN, [best])
    assert "The scale" not in rewritten(WRITTEN.replace("Use all of it.\n\n", ""), [best])
