"""Raters are excluded, restored and flagged; their slots are reopened; ratings never change."""

from collections.abc import Callable

import pytest

from annotation.campaigns.services.lifecycle import campaign_close
from annotation.core.errors import AnnotationError
from annotation.models import (
    AuditEntry,
    Campaign,
    DecisionAction,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    QualityRules,
    Rater,
    RaterDecision,
    Rating,
    Slot,
    SlotState,
    Unit,
    User,
)
from annotation.quality.selectors.decisions import decisions, excluded_rater_ids
from annotation.quality.services.decisions import (
    cannot_judge_reopen,
    rater_exclude,
    rater_flag,
    rater_include,
    rater_unflag,
    raters_replace,
)
from annotation.rating.selectors.handout import Waiting, waiting
from annotation.rating.services.handout import unit_request
from annotation.rating.services.ratings import ratings_submit
from annotation.results.selectors.counted import counted_ratings
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset, rate_next

pytestmark = pytest.mark.django_db


def log() -> list[tuple[object, ...]]:
    return list(Rating.objects.order_by("pk").values_list())


def cannot_judge(presentation: Presentation, *places: int) -> None:
    values = {(position, "relevance"): 4 for position in range(len(presentation.order)) if position not in places}
    ratings_submit(
        token=presentation.token,
        rater=presentation.rater,
        values=values,
        cannot_judge=dict.fromkeys(places, "No sentence"),
    )


def offer_reasons(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(cannot_judge_reasons=["No sentence"])


# --- Excluding --------------------------------------------------------------------------------------------------------


def test_an_excluded_rater_gets_no_unit_and_loses_the_one_on_screen(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), ratings_per_unit=1)
    rater, other_rater = join(campaign), join(campaign)
    held = unit_request(campaign=campaign, rater=rater)
    assert held is not None
    assert unit_request(campaign=campaign, rater=other_rater) is None
    exclusion = rater_exclude(campaign=campaign, rater=rater, reason="Sent by a script", by=manager)
    assert (exclusion.released, exclusion.reopened) == (1, 0)
    assert unit_request(campaign=campaign, rater=rater) is None
    assert waiting(campaign=campaign, rater=rater) == Waiting.EXCLUDED
    taken = unit_request(campaign=campaign, rater=other_rater)
    assert taken is not None
    assert taken.slot_id == held.slot_id
    assert answer(held).extra  # a late answer is stored but does not count
    assert not answer(taken).extra
    assert excluded_rater_ids([campaign]) == [rater.pk]


def test_the_answer_of_an_excluded_rater_is_late_even_if_the_slot_is_free(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    rater = join(campaign)
    held = unit_request(campaign=campaign, rater=rater)
    assert held is not None
    rater_exclude(campaign=campaign, rater=rater, reason="Spam")
    assert answer(held).extra
    assert not Slot.objects.filter(state=SlotState.DONE).exists()


def test_slots_of_an_excluded_rater_are_reopened_only_to_replace_answers(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=2), ratings_per_unit=1)
    rater, other_rater = join(campaign), join(campaign)
    while rate_next(campaign, rater, 1):
        pass
    before = log()
    assert rater_exclude(campaign=campaign, rater=rater, reason="Spam").reopened == 0
    assert rate_next(campaign, other_rater) is None
    exclusion = rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True)
    assert exclusion.reopened == 6
    assert log() == before
    assert set(Unit.objects.values_list("done_slots", flat=True)) == {0}
    assert set(Presentation.objects.values_list("outcome", flat=True)) == {PresentationOutcome.REPLACED}
    done = 0
    while rate_next(campaign, other_rater, 5):
        done += 1
    assert done == 6
    assert set(Unit.objects.values_list("done_slots", flat=True)) == {1}
    assert log()[:6] == before
    assert [(decision.action, decision.reopened_slots) for decision in decisions(campaign)] == [
        ("reopen", 6),
        ("exclude", 0),
    ]


def test_only_an_exclusion_reopens_slots(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    with pytest.raises(ValueError, match="accepted: only for exclude"):
        rater_flag(campaign=campaign, rater=join(campaign), reason="Fast", replace=True)


def test_a_repeated_decision_changes_nothing(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    rater = join(campaign)
    rate_next(campaign, rater)
    acts: list[Callable[[], object]] = [
        lambda: rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True).decision,
        lambda: rater_flag(campaign=campaign, rater=rater, reason="Fast").decision,
        lambda: rater_unflag(campaign=campaign, rater=rater, reason="Fine").decision,
        lambda: rater_include(campaign=campaign, rater=rater, reason="Sorry").decision,
    ]
    for act in acts:
        assert act() is not None
        assert act() is None
    assert list(RaterDecision.objects.values_list("action", flat=True)) == ["exclude", "flag", "unflag", "include"]
    mine = Participation.objects.get(rater=rater)
    assert (mine.excluded_at, mine.flagged_at) == (None, None)


def test_a_decision_keeps_reason_rules_and_evidence_and_is_audited_without_the_name(
    project: Project, manager: User
) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    rater = join(campaign, "Jane Doe")
    rules = QualityRules.objects.create(campaign=campaign, version=1, rules=[], before_launch=True)
    evidence = {"n": 5, "estimate": 0.2}
    rater_exclude(campaign=campaign, rater=rater, reason="  Gold \n missed ", rules=rules, evidence=evidence)
    rater_include(campaign=campaign, rater=rater, reason="Gold was wrong", by=manager)
    first, second = RaterDecision.objects.all()
    assert (first.reason, first.rules, first.evidence, first.decided_by) == ("Gold missed", rules, evidence, None)
    assert (second.action, second.decided_by) == (DecisionAction.INCLUDE, manager)
    entries = AuditEntry.objects.filter(verb__startswith="rater.").order_by("pk")
    assert [(entry.verb, entry.actor, entry.rater) for entry in entries] == [
        ("rater.exclude", None, rater),
        ("rater.include", manager, rater),
    ]
    assert "Jane" not in "".join(entry.summary for entry in entries)


@pytest.mark.parametrize("reason", ["", "  \n", "x" * 301, "a\x00b"])
def test_a_decision_needs_a_reason(project: Project, reason: str) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    rater = join(campaign)
    with pytest.raises(AnnotationError) as refused:
        rater_exclude(campaign=campaign, rater=rater, reason=reason)
    assert list(refused.value.fields) == ["reason"]
    assert not RaterDecision.objects.exists()


def test_a_rater_who_did_not_take_part_cannot_be_excluded(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    with pytest.raises(AnnotationError, match="has not taken part"):
        rater_exclude(campaign=campaign, rater=Rater.objects.create(project=project, pseudonym="R1"), reason="Spam")


def test_a_restored_rater_gets_the_withdrawn_unit_again(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]))
    rater = join(campaign)
    held = unit_request(campaign=campaign, rater=rater)
    rater_exclude(campaign=campaign, rater=rater, reason="Spam")
    rater_include(campaign=campaign, rater=rater, reason="A mistake")
    second_presentation = unit_request(campaign=campaign, rater=rater)
    assert held is not None
    assert second_presentation is not None
    assert second_presentation.unit_id == held.unit_id
    assert not answer(second_presentation).extra
    assert excluded_rater_ids([campaign]) == []


def test_a_restored_rater_can_correct_a_replaced_answer_without_filling_a_slot(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), ratings_per_unit=1)
    rater = join(campaign)
    first = rate_next(campaign, rater)
    assert first is not None
    rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True)
    rater_include(campaign=campaign, rater=rater, reason="A mistake")
    assert unit_request(campaign=campaign, rater=rater) is None
    assert answer(first, 5).correction
    assert Unit.objects.get().done_slots == 0
    assert list(Rating.objects.order_by("pk").values_list("value", "extra")) == [(3.0, False), (5.0, False)]


def test_after_closing_raters_can_be_excluded_but_not_replaced(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    rater = join(campaign)
    rate_next(campaign, rater)
    campaign_close(campaign=campaign)
    with pytest.raises(AnnotationError, match="closed; to replace ratings"):
        rater_exclude(campaign=campaign, rater=rater, reason="Spam", replace=True)
    assert not RaterDecision.objects.exists()
    rater_exclude(campaign=campaign, rater=rater, reason="Spam")
    with pytest.raises(AnnotationError, match="closed"):
        raters_replace(campaign=campaign)


def test_slots_of_all_excluded_raters_can_be_reopened_together(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project, items=2, systems=["Ada"]), ratings_per_unit=3)
    raters = [join(campaign) for _ in range(3)]
    for rater in raters:
        rate_next(campaign, rater)
        rate_next(campaign, rater)
    for rater in raters[:2]:
        rater_exclude(campaign=campaign, rater=rater, reason="Spam")
    assert raters_replace(campaign=campaign, by=manager) == 4
    assert raters_replace(campaign=campaign, by=manager) == 0
    assert set(Unit.objects.values_list("done_slots", flat=True)) == {1}
    assert sorted((decision.action, decision.reason, decision.reopened_slots) for decision in decisions(campaign)) == [
        *[("exclude", "Spam", 0)] * 2,
        *[("reopen", "For other raters.", 2)] * 2,
    ]
    excluded = counted_ratings([campaign]).left_out.exclusions
    assert [(exclusion.raters, exclusion.reason) for exclusion in excluded] == [(2, "Spam")]


# --- Cannot judge -----------------------------------------------------------------------------------------------------


def test_unjudged_slots_are_reopened_up_to_a_bound_for_each_unit(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada", "Bo"]), ratings_per_unit=2)
    offer_reasons(campaign)
    for positions in ((0,), (0,)):
        rater = join(campaign)
        for _ in range(2):
            presentation = unit_request(campaign=campaign, rater=rater)
            assert presentation is not None
            cannot_judge(presentation, *positions if presentation.unit.label == "Ada" else ())
    before = log()
    assert cannot_judge_reopen(campaign=campaign, by=manager) == 1
    assert cannot_judge_reopen(campaign=campaign, by=manager) == 0  # the bound counts earlier reopenings
    assert cannot_judge_reopen(campaign=campaign, per_unit=5, by=manager) == 1
    assert log() == before
    assert dict(Unit.objects.values_list("label", "done_slots")) == {"Ada": 0, "Bo": 2}
    third = join(campaign)
    assert rate_next(campaign, third) is not None
    assert [entry.data for entry in AuditEntry.objects.filter(verb="campaign.reopen_unjudged").order_by("pk")] == [
        {"places": 1, "per_unit": 1},
        {"places": 1, "per_unit": 5},
    ]


def test_the_slot_of_an_answer_corrected_to_a_judgement_is_not_reopened(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1), presentation="pair")
    offer_reasons(campaign)
    rater = join(campaign)
    presentation = unit_request(campaign=campaign, rater=rater)
    assert presentation is not None
    cannot_judge(presentation, 1)
    cannot_judge(presentation)
    assert cannot_judge_reopen(campaign=campaign) == 0
    cannot_judge(presentation, 0)
    assert cannot_judge_reopen(campaign=campaign) == 1
    assert unit_request(campaign=campaign, rater=rater) is not None


@pytest.mark.parametrize("per_unit", [0, 101, True])
def test_the_bound_is_a_number_of_slots(project: Project, per_unit: int) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    with pytest.raises(AnnotationError, match="accepted: 1 to 100"):
        cannot_judge_reopen(campaign=campaign, per_unit=per_unit)
