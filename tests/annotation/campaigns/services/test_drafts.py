"""Drafts: every column is checked against the others and the data set."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from annotation.campaigns.design.templates import TEMPLATES
from annotation.campaigns.design.wording import CHECKS_LINE
from annotation.campaigns.fields.table import CAMPAIGN, CampaignDraft, CriterionDraft
from annotation.campaigns.selectors import rated_sources
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.readiness import launch_report, speaks_of_another
from annotation.campaigns.services.starting import campaign_start
from annotation.campaigns.services.validation import draft_problems
from annotation.campaigns.services.writing import campaign_change, campaign_create, campaign_update
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Criterion, Item, Project, ResponseSource, SourceKind, Target, User
from tests.annotation.worlds.campaigns import RELEVANCE, make_campaign, make_dataset
from tests.annotation.worlds.field_examples import example

SLIDER = CriterionDraft(
    "score", "How good?", scale_min=0, scale_max=100, labels=["bad", "good"], kind="slider", step=0.5
)
MAGNITUDE = CriterionDraft(
    "worth", "Beside the standard?", kind="magnitude", standard_source="human", standard_value=100
)
BETTER = CriterionDraft("better", "Which?", kind="preference", scale_max=2, ties=True)
GOLD = {"item": "item-0", "texts": [{"text": "Yes.", "expected": {"relevance": [4, 5]}}]}


def full_draft(project: Project) -> CampaignDraft:
    dataset = make_dataset(project)
    dataset.items.filter(position__lt=2).update(split="test")
    texts = [{"text": "A", "expected": {"relevance": [1.0, 2.0]}}, {"text": "B", "expected": {}}]
    screens = [{"item": "item-1", "context": [], "message": "", "feedback": "", "texts": texts}]
    values: dict[str, Any] = {
        "dataset": dataset,
        "name": "Everything",
        "response_list": None,
        "reference_kinds": (),
        "criteria": [RELEVANCE, SLIDER, BETTER],
        "target": "chosen",
        "systems": list(dataset.systems.filter(name__in=["Ada", "Bo"])),
        "pairs": [["Ada", "Bo"]],
        "split": "test",
        "item_limit": 1,
        "presentation": "pair",
        "writing": {},  # not beside pairs and checks
        "comment": "optional",
        "cannot_judge_reasons": ["Not English"],
        "instructions": "Read.",
        "consent": "Agree?",
        "rater_language": "de",
        "ratings_per_unit": 4,
        "min_units_per_rater": 2,
        "max_units_per_rater": 30,
        "seconds_between_units": 1,
        "break_every_units": 10,
        "lease_seconds": 120,
        "lease_min_seconds": 60,
        "lease_max_seconds": 900,
        "admission": "named",
        "payment_per_unit": Decimal("0.1250"),
        "payment_currency": "EUR",
        "payment_fee_percent": Decimal("33.30"),
        "completion_code": "C0DE",
        "questions": {
            "when": "after",
            "questions": [
                {"name": "age", "question": "How old?", "kind": "number", "required": False, "low": 18.0, "high": None}
            ],
        },
        "qualification": {"training": [], "test": screens, "pass_mark": 0.5, "attempts": 1},
        "quality": {
            "every": 5,
            "mix": {"gold": 1, "repeat": 2},
            "repeat_gap": 3,
            "gold": screens,
            "attention": [],
            "degraded": {"count": 4, "operations": ["drop"]},
            "anchors": {"count": 2, "low": {"score": 60.0}},
        },
        "seed": 99,
    }
    return CampaignDraft(**{name: values[name] if name in values else example(CAMPAIGN[name]) for name in CAMPAIGN})


def test_a_draft_is_stored_and_read_back_completely(project: Project, manager: User) -> None:
    draft = full_draft(project)
    campaign = campaign_create(project=project, draft=draft, by=manager)
    stored = draft_of(Campaign.objects.get(pk=campaign.pk))
    for name in CAMPAIGN:
        if name not in ("criteria", "systems", "reference_kinds"):
            assert getattr(stored, name) == getattr(draft, name), name
    assert stored.criteria == [criterion.stored() for criterion in draft.criteria]
    assert {system.name for system in stored.systems} == {"Ada", "Bo"}
    (entry,) = campaign.audit_entries.all()
    assert (entry.verb, entry.actor) == ("campaign.create", manager)
    updated = campaign_update(campaign=campaign, draft=stored, by=manager)
    assert updated.audit_entries.count() == 1  # nothing changed, nothing logged
    assert campaign_launch(campaign=campaign, by=manager).units.count() == 1


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"target": "everything"}, "target"),
    ({"presentation": "grid"}, "presentation"),
    ({"comment": "maybe"}, "comment"),
    ({"admission": "all"}, "admission"),
    ({"rater_language": "tlh"}, "rater_language"),
    ({"reference_kinds": ["human"]}, "reference_kinds"),
    ({"target": "references", "reference_kinds": ["system"]}, "reference_kinds"),
    ({"split": "nowhere"}, "split"),
    ({"pairs": [["Ada", "Bo"]]}, "pairs"),
    ({"presentation": "pair", "pairs": [["Ada", "Ada"]]}, "pairs"),
    ({"presentation": "pair", "pairs": [["Ada", "Zoe"]]}, "pairs"),
    ({"presentation": "pair", "pairs": [["Ada", "Bo"], ["Bo", "Ada"]]}, "pairs"),
    ({"presentation": "pair", "target": "references"}, "presentation"),
    ({"cannot_judge_reasons": ["x" * 81]}, "cannot_judge_reasons"),
    ({"cannot_judge_reasons": ["a", "a"]}, "cannot_judge_reasons"),
    ({"min_units_per_rater": 9, "max_units_per_rater": 5}, "min_units_per_rater"),
    ({"lease_min_seconds": 60}, "lease_max_seconds"),
    ({"lease_min_seconds": 60, "lease_max_seconds": 30}, "lease_max_seconds"),
    ({"lease_min_seconds": 60, "lease_max_seconds": 90}, "lease_seconds"),
    ({"payment_per_unit": Decimal("-1")}, "payment_per_unit"),
    ({"payment_per_unit": Decimal("0.00001")}, "payment_per_unit"),
    ({"payment_per_unit": Decimal("NaN")}, "payment_per_unit"),
    ({"payment_currency": "euro"}, "payment_currency"),
    ({"questions": {"questions": [{"name": "x", "question": "?", "kind": "essay"}]}}, "questions.questions.1.kind"),
    ({"criteria": []}, "criteria"),
    ({"criteria": [RELEVANCE, RELEVANCE]}, "criteria.1.name"),
    ({"criteria": [replace(RELEVANCE, scale_max=40)]}, "criteria.0.scale_max"),
    ({"criteria": [replace(RELEVANCE, kind="stars")]}, "criteria.0.kind"),
    ({"criteria": [replace(SLIDER, labels=["one"])]}, "criteria.0.labels"),
    ({"criteria": [replace(SLIDER, step=0.3)]}, "criteria.0.step"),
    ({"criteria": [replace(SLIDER, step=float("nan"))]}, "criteria.0.step"),
    ({"criteria": [BETTER]}, "criteria.0.kind"),
    ({"criteria": [replace(MAGNITUDE, standard_value=0)]}, "criteria.0.standard_value"),
    ({"criteria": [replace(MAGNITUDE, standard_source="mined")]}, "criteria.0.standard_source"),
    ({"criteria": [MAGNITUDE, replace(MAGNITUDE, name="two", standard_source="Ada")]}, "criteria"),
    ({"quality": {"every": 1}}, "quality.every"),
    ({"quality": {"gold": [{**GOLD, "item": "item-99"}]}}, "quality.gold.1.item"),
    ({"quality": {"gold": [{"texts": [GOLD["texts"][0]] * 2}]}}, "quality.gold.1.texts"),
    (
        {"quality": {"gold": [{"texts": [{"text": "x", "expected": {"relevance": [4, 6]}}]}]}},
        "quality.gold.1.texts.1.expected.relevance",
    ),
    (
        {"qualification": {"test": [GOLD, {"texts": [{"text": "x", "expected": {"wit": [1, 1]}}]}]}},
        "qualification.test.2.texts.1.expected.wit",
    ),
    ({"qualification": {"pass_mark": 2}}, "qualification.pass_mark"),
    ({"quality": {"anchors": {"count": 1, "low": {"relevance": 9}}}}, "quality.anchors.low.relevance"),
]


@pytest.mark.parametrize(("change", "field"), INVALID)
def test_an_invalid_draft_is_refused_at_its_field(project: Project, change: dict[str, Any], field: str) -> None:
    draft = CampaignDraft(dataset=make_dataset(project), name="Replies", criteria=[RELEVANCE])
    assert draft_problems(project, draft) == {}
    problems = draft_problems(project, replace(draft, **change))
    assert field in problems
    if field != "quality.every":  # its mix is refused as well
        assert list(problems) == [field]


def test_anchors_need_texts_by_people(project: Project) -> None:
    draft = CampaignDraft(
        dataset=make_dataset(project), name="Replies", criteria=[RELEVANCE], quality={"anchors": {"count": 3}}
    )
    assert draft_problems(project, draft) == {}
    ResponseSource.objects.filter(kind=SourceKind.HUMAN).update(kind=SourceKind.MINED)
    assert list(draft_problems(project, draft)) == ["quality.anchors.count"]


@pytest.mark.parametrize(
    ("options", "sources"),
    [
        ({"split": "test"}, 6),
        ({"split": "test", "item_limit": 1}, 3),
        ({"target": "references"}, 8),
        ({"target": "references", "reference_kinds": ["mined"]}, 4),
        ({"presentation": "pair", "pairs": [["Ada", "Cy"]]}, 8),
    ],
)
def test_the_rated_responses_depend_on_split_kinds_and_pairs(
    project: Project, options: dict[str, Any], sources: int
) -> None:
    dataset = make_dataset(project)
    dataset.items.filter(position__gte=2).update(split="test")
    for item in Item.objects.filter(dataset=dataset):
        response = item.responses.create(text=f"mined {item.position}", text_key=f"{item.position}")
        ResponseSource.objects.create(response=response, item=item, kind=SourceKind.MINED)
    assert rated_sources(make_campaign(dataset, launch=False, **options)).count() == sources


def test_a_step_checks_only_its_own_fields(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project), launch=False, quality={"gold": [GOLD]})
    shorter = [replace(RELEVANCE, scale_max=3)]
    changed = campaign_change(campaign=campaign, changes={"criteria": shorter}, settle=["criteria"], by=manager)
    assert changed.criteria.get().scale_max == 3
    report = launch_report(changed)
    assert [remark.field for remark in report.problems] == ["quality.gold.1.texts.1.expected.relevance"]
    with pytest.raises(AnnotationError, match="on the scale of 'relevance', 1 to 3"):
        campaign_launch(campaign=changed)
    with pytest.raises(AnnotationError) as refused:
        campaign_change(campaign=changed, changes={"seed": -1}, settle=["seed", "criteria"])
    assert list(refused.value.fields) == ["seed"]


def test_a_given_name_follows_how_texts_are_shown_until_a_person_edits_it(project: Project, manager: User) -> None:
    dataset = make_dataset(project)
    campaign = campaign_start(project=project, template="delta-bleu-systems", dataset=dataset, by=manager)
    make_campaign(dataset, name="Replies in a list", launch=False)

    def change(**changes: object) -> str:
        return campaign_change(campaign=campaign, changes=changes, settle=[], by=manager).name

    assert campaign.name == "Replies in pairs"
    assert change(presentation="list") == "Replies in a list (2)"
    assert change(presentation="single") == "Replies, one at a time"
    assert change(name="Mine", presentation="pair") == "Mine"
    assert change(presentation="single") == "Mine"


def test_the_report_counts_items_money_and_hours(project: Project) -> None:
    quality = {"every": 4, "mix": {"repeat": 1}}
    campaign = make_campaign(
        make_dataset(project),
        launch=False,
        ratings_per_unit=3,
        payment_per_unit=Decimal("0.2"),
        payment_fee_percent=Decimal(50),
        max_units_per_rater=5,
        quality=quality,
    )
    report = launch_report(campaign)
    # 12 units x 3 = 36 slots; 1 item in 4 is a check: 12; 48 items at 0.20 are 9.60, and a fee of half of it.
    assert (report.units, report.slots, report.checks, report.screens) == (12, 36, 12, 48)
    assert f"The launch plans 12 {report.unit_label.lower()} to be rated, with 36 slots to fill" in report.launch_text
    assert (report.pay, report.fees, report.total) == (Decimal("9.60"), Decimal("4.80"), Decimal("14.40"))
    assert report.raters_at_least == 8  # 36 slots, 5 for each rater
    assert report.hours == pytest.approx(48 * report.seconds / 3600)
    assert float(report.pay_per_hour or 0) == pytest.approx(3600 * 0.2 / report.seconds, abs=0.01)
    hints = {remark.field for remark in report.hints}
    assert {"consent", "instructions", "completion_code"} <= hints
    assert report.ready


def test_unset_fields_and_risky_values_give_hints(project: Project) -> None:
    campaign = make_campaign(
        make_dataset(project),
        launch=False,
        ratings_per_unit=1,
        consent="Ask [your name] or see [here](https://x.org).",
        instructions="Read [the passage].",
        max_units_per_rater=3,
        quality={"every": 5, "mix": {"repeat": 1}, "repeat_gap": 9},
        lease_seconds=5,
        completion_code="DONE",
    )
    report = launch_report(campaign)
    (problem,) = report.problems
    assert (problem.field, "[your name]" in problem.text, "[here]" in problem.text) == ("consent", True, False)
    hints = {remark.field: remark.text for remark in report.hints}
    assert "after one response" in hints.pop("min_units_per_rater")
    assert set(hints) == {"instructions", "ratings_per_unit", "quality.repeat_gap", "payment_per_unit", "lease_seconds"}


def test_instructions_speak_of_checks_only_where_there_are_some(project: Project) -> None:
    for template in TEMPLATES:
        assert not speaks_of_another(template.design["presentation"], template.design["instructions"])
        checks = bool(template.design.get("quality", {}).get("every"))
        assert (CHECKS_LINE in template.design["instructions"]) == checks, template.slug
    draft = {"launch": False, "instructions": f"Rate.\n\n{CHECKS_LINE}"}
    without = make_campaign(make_dataset(project), name="Without", **draft)
    (hint,) = [hint for hint in launch_report(without).hints if "none are mixed in" in hint.text]
    assert hint.field == "instructions"
    checked = make_campaign(without.dataset, name="Checked", quality={"every": 4, "mix": {"repeat": 1}}, **draft)
    assert not [hint for hint in launch_report(checked).hints if "none are mixed in" in hint.text]


def test_the_consent_text_says_whose_texts_are_rated() -> None:
    for template in TEMPLATES:
        by_systems = template.design["target"] == Target.OUTPUTS
        assert ("how well computers write" in template.design["consent"]) == by_systems, template.slug


def test_a_data_set_with_nothing_to_rate_is_a_problem(project: Project) -> None:
    report = launch_report(make_campaign(make_dataset(project, items=0), launch=False))
    assert (report.ready, report.units, report.problems[0].field) == (False, 0, "target")


def test_an_item_without_a_standard_is_reported_before_the_launch(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), launch=False, criteria=[MAGNITUDE])
    assert launch_report(campaign).ready
    ResponseSource.objects.filter(kind=SourceKind.HUMAN, item__external_id="item-2").delete()
    (problem,) = launch_report(campaign).problems
    assert "found 1 item without one: item-2" in problem.text
    with pytest.raises(AnnotationError, match="standard text for every item"):
        campaign_launch(campaign=campaign)


def test_settings_that_a_scale_does_not_have_are_not_stored(project: Project) -> None:
    odd = replace(BETTER, step=7.0, standard_value=5.0, standard_source="human")
    campaign = make_campaign(make_dataset(project), launch=False, presentation="pair", criteria=[odd])
    stored = Criterion.objects.get(campaign=campaign)
    assert (stored.scale_min, stored.scale_max, stored.step, stored.standard_value) == (-2, 2, 1.0, None)
