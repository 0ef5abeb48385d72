"""Decisions about raters: exclude, restore, flag; reopen their slots for others.

No rating is ever changed or removed. An excluded rater gets no more work; statistics, releases and studies leave the
rater's ratings out and say so. Locks come in the order of docs/hand-out.md: the campaign's gate,
participation, slot, presentation, unit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from annotation.campaigns.services.gate import campaign_alone, campaign_pass
from annotation.core.errors import AnnotationError
from annotation.models import (
    Campaign,
    CampaignState,
    DecisionAction,
    Participation,
    Presentation,
    PresentationOutcome,
    Purpose,
    QualityRules,
    Rater,
    RaterDecision,
    Slot,
    SlotState,
    Unit,
    User,
)
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.decisions import replaceable, to_reopen

LONGEST_REASON = 300
SENTENCES = {
    DecisionAction.EXCLUDE: "Rater excluded.",
    DecisionAction.INCLUDE: "Rater restored.",
    DecisionAction.FLAG: "Rater flagged.",
    DecisionAction.UNFLAG: "Flag removed.",
}
REOPENED = {"state": SlotState.RETURNED, "rater": None, "token": None, "expires_at": None}


@dataclass(frozen=True)
class Decided:
    """The result of a decision. ``decision`` is None if nothing changed: nothing was written."""

    decision: RaterDecision | None
    released: int = 0  # units taken from the rater, unanswered
    reopened: int = 0  # filled slots given to others


@dataclass(frozen=True)
class Grounds:
    """Why and by whom something is decided; ``by`` is None if a rule decides."""

    reason: str
    by: User | None = None
    rules: QualityRules | None = None
    evidence: Mapping[str, Any] | None = None


@transaction.atomic
def rater_exclude(
    *,
    campaign: Campaign,
    rater: Rater,
    reason: str,
    by: User | None = None,
    rules: QualityRules | None = None,
    evidence: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> Decided:
    """Exclude a rater: no more work, open units returned, ratings left out of statistics.

    ``replace`` also reopens the slots that the rater had filled. An answer sent later is stored as extra.
    """
    grounds = Grounds(_checked_reason(reason), by, rules, evidence)
    participation = _participation_lock(campaign, rater)
    if replace:
        _check_hands_out(participation.campaign, "replace ratings")
    new = participation.excluded_at is None
    if new:
        Participation.objects.filter(pk=participation.pk).update(excluded_at=Now())
    released = _release(participation)
    reopened = _reopen(replaceable(participation.campaign, rater).order_by("pk")) if replace else 0
    if not new and not reopened:
        return Decided(None, released)
    decision = _decide(participation, DecisionAction.EXCLUDE, grounds, reopened)
    return Decided(decision, released, reopened)


@transaction.atomic
def rater_include(*, campaign: Campaign, rater: Rater, reason: str, by: User | None = None) -> Decided:
    """Restore an excluded rater: the rater gets work again, and all ratings count again.

    They count beside those of raters who have filled the slots meanwhile.
    """
    grounds = Grounds(_checked_reason(reason), by)
    participation = _participation_lock(campaign, rater)
    if participation.excluded_at is None:
        return Decided(None)
    Participation.objects.filter(pk=participation.pk).update(excluded_at=None)
    return Decided(_decide(participation, DecisionAction.INCLUDE, grounds))


@transaction.atomic
def rater_leaves(*, campaign: Campaign, rater: Rater) -> int:
    """Return a departed rater's open units, and how many there were. This is no decision about the rater."""
    return _release(_participation_lock(campaign, rater))


@transaction.atomic
def rater_flag(
    *,
    campaign: Campaign,
    rater: Rater,
    reason: str,
    by: User | None = None,
    rules: QualityRules | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Decided:
    """Mark a rater for review; nothing else changes."""
    grounds = Grounds(_checked_reason(reason), by, rules, evidence)
    participation = _participation_lock(campaign, rater)
    if participation.flagged_at is not None:
        return Decided(None)
    Participation.objects.filter(pk=participation.pk).update(flagged_at=Now())
    return Decided(_decide(participation, DecisionAction.FLAG, grounds))


@transaction.atomic
def rater_unflag(*, campaign: Campaign, rater: Rater, reason: str, by: User | None = None) -> Decided:
    grounds = Grounds(_checked_reason(reason), by)
    participation = _participation_lock(campaign, rater)
    if participation.flagged_at is None:
        return Decided(None)
    Participation.objects.filter(pk=participation.pk).update(flagged_at=None)
    return Decided(_decide(participation, DecisionAction.UNFLAG, grounds))


@transaction.atomic
def raters_replace(*, campaign: Campaign, by: User | None = None) -> int:
    """Reopen all slots that excluded raters have filled, and return how many.

    Each of these raters gets a decision with the number of reopened slots.
    """
    campaign_pass(campaign.pk)
    campaign = Campaign.objects.get(pk=campaign.pk)
    _check_hands_out(campaign, "replace ratings")
    raters = list(Rater.objects.filter(pk__in=replaceable(campaign).values("rater")).order_by("pk"))
    # Locked in the same order everywhere, so that two callers wait for each other.
    _lock_rows(Participation.objects.filter(campaign=campaign, rater__in=raters))
    total = 0
    for participation in Participation.objects.filter(
        campaign=campaign, rater__in=raters, excluded_at__isnull=False
    ).select_related("rater", "campaign"):
        reopened = _reopen(replaceable(campaign, participation.rater).order_by("pk"))
        if reopened:
            _decide(participation, DecisionAction.EXCLUDE, Grounds("Slots reopened for others.", by), reopened)
        total += reopened
    return total


@transaction.atomic
def cannot_judge_reopen(*, campaign: Campaign, per_unit: int = 1, by: User | None = None) -> int:
    """Reopen slots whose rater could not judge everything on screen, and return how many.

    At most ``per_unit`` slots of a unit are ever reopened in this way, so that units that no one can judge come to an
    end. Values in such an answer still count.
    """
    if isinstance(per_unit, bool) or not 1 <= per_unit <= 100:
        raise AnnotationError.at("per_unit", f"Found {per_unit}; accepted: 1 to 100.")
    # Alone, unlike above: slots of many raters are reopened without locking their participations.
    campaign = campaign_alone(campaign.pk)
    _check_hands_out(campaign, "reopen slots")
    reopened = _reopen(to_reopen(campaign, per_unit))
    if reopened:
        audit_record(
            verb="campaign.reopen_unjudged",
            summary=f"{reopened:,} slots reopened whose raters could not judge; at most {per_unit} of each unit.",
            campaign=campaign,
            by=by,
            data={"places": reopened, "per_unit": per_unit},
        )
    return reopened


# --- Parts ------------------------------------------------------------------------------------------------------------


def _checked_reason(reason: str) -> str:
    text = " ".join(reason.split())
    if not text:
        raise AnnotationError.at("reason", "Found nothing; accepted: a reason of up to 300 characters.")
    if len(text) > LONGEST_REASON or "\x00" in text:
        message = f"Found {len(text)} characters; accepted: up to {LONGEST_REASON}, none of them NUL."
        raise AnnotationError.at("reason", message)
    return text


def _participation_lock(campaign: Campaign, rater: Rater) -> Participation:
    """Return the participation locked: the rater's requests wait, and the campaign keeps its state."""
    campaign_pass(campaign.pk)
    _lock_rows(Participation.objects.filter(campaign=campaign, rater=rater))
    participations = Participation.objects.select_related("rater", "campaign")
    participation = participations.filter(campaign=campaign, rater=rater).first()
    if participation is None:
        raise AnnotationError(f"{rater} has not taken part in “{campaign}”.")
    return participation


def _lock_rows(rows: Any) -> None:
    list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk"))


def _check_hands_out(campaign: Campaign, act: str) -> None:
    if campaign.imported or campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED):
        state = "imported" if campaign.imported else campaign.get_state_display().lower()
        raise AnnotationError(f"The campaign is {state}; to {act} it must be running or paused.")


def _release(participation: Participation) -> int:
    """Return the rater's open units: their slots are free at once. As after a lapse, a unit may come back."""
    shown = Presentation.objects.filter(
        campaign=participation.campaign_id, rater=participation.rater_id, outcome=PresentationOutcome.SHOWN
    )
    slots = Slot.objects.filter(
        campaign=participation.campaign_id, rater=participation.rater_id, state=SlotState.LEASED
    )
    _lock_rows(slots)
    slots.update(**REOPENED)
    return shown.exclude(purpose__in=[Purpose.TRAINING, Purpose.TEST]).update(
        outcome=PresentationOutcome.LAPSED, ended_at=Now()
    )


def _reopen(presentations: Iterable[Presentation]) -> int:
    """Free the slots that these presentations fill, and return how many."""
    replaced = list(presentations)
    slots = Slot.objects.filter(pk__in=[presentation.slot_id for presentation in replaced])
    _lock_rows(slots)
    slots.update(**REOPENED)
    Presentation.objects.filter(pk__in=[presentation.pk for presentation in replaced]).update(
        outcome=PresentationOutcome.REPLACED
    )
    fewer: dict[int, int] = {}
    for presentation in replaced:
        if presentation.unit_id is not None:
            fewer[presentation.unit_id] = fewer.get(presentation.unit_id, 0) + 1
    _lock_rows(Unit.objects.filter(pk__in=fewer))
    for n in sorted(set(fewer.values())):
        Unit.objects.filter(pk__in=[unit for unit, times in fewer.items() if times == n]).update(
            done_slots=F("done_slots") - n
        )
    return len(replaced)


def _decide(participation: Participation, action: DecisionAction, grounds: Grounds, reopened: int = 0) -> RaterDecision:
    decision = RaterDecision.objects.create(
        campaign_id=participation.campaign_id,
        rater=participation.rater,
        action=action,
        reason=grounds.reason,
        rules=grounds.rules,
        evidence=dict(grounds.evidence or {}),
        reopened_slots=reopened,
        decided_by=grounds.by,
    )
    slots = f" {reopened:,} slots reopened for others." if reopened else ""
    audit_record(
        verb=f"rater.{action.value}",
        summary=f"{SENTENCES[action]}{slots} {grounds.reason}",  # without the name, which may be erased
        campaign=participation.campaign,
        rater=participation.rater,
        by=grounds.by,
        data={
            "decision": decision.pk,
            "reopened_slots": reopened,
            "rules": grounds.rules.version if grounds.rules else None,
        },
    )
    return decision
