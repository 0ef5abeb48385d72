"""Decisions about raters: exclude, restore, flag; reopen their slots for others.

No rating is ever changed or removed. An excluded rater gets no more work; statistics, releases and studies leave the
rater's ratings out and say so. Locks come in the order of docs/hand-out.md: the campaign's gate,
participation, slot, presentation, unit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotation import models
from annotation.campaigns.services.gate import campaign_alone, campaign_pass
from annotation.core.errors import AnnotationError
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.decisions import replaceable, to_reopen
from annotation.quality.services.amendments import amendable_check
from annotation.rating.selectors.handout import BEFORE_WORK

LONGEST_REASON = 300
REOPENED = {"state": models.SlotState.RETURNED, "rater": None, "token": None, "expires_at": None}


@dataclass(frozen=True)
class Act:
    """A kind of decision: what it changes, and how pages present it."""

    field: str  # of the participation: the time since when the rater is excluded or flagged
    sets: bool
    summary: str
    done: str  # what the rater is afterwards
    button: str
    text: str


ACTS = {
    models.DecisionAction.EXCLUDE: Act(
        "excluded_at",
        True,
        "Rater excluded.",
        "excluded",
        "Exclude",
        "The rater gets no more work. The ratings are left out of statistics and new releases, and stay in the log.",
    ),
    models.DecisionAction.INCLUDE: Act(
        "excluded_at",
        False,
        "Rater restored.",
        "restored",
        "Restore",
        "The ratings count again, and the rater gets work again.",
    ),
    models.DecisionAction.FLAG: Act(
        "flagged_at", True, "Rater flagged.", "flagged", "Flag", "Marks the rater for review; nothing else changes."
    ),
    models.DecisionAction.UNFLAG: Act(
        "flagged_at", False, "Flag removed.", "no longer flagged", "Remove the flag", "Nothing else changes."
    ),
}
SUMMARIES = {action: act.summary for action, act in ACTS.items()} | {models.DecisionAction.REOPEN: "Slots reopened."}
REOPENED_FOR = "For other raters."  # the reason if none is given; why the rater is excluded is another decision


@dataclass(frozen=True)
class Decided:
    """The result of a decision. ``decision`` is None if nothing changed: nothing was written."""

    decision: models.RaterDecision | None
    released: int = 0  # units taken from the rater, unanswered
    reopened: int = 0  # filled slots given to others


@transaction.atomic
def rater_decide(
    action: models.DecisionAction,
    *,
    campaign: models.Campaign,
    rater: models.Rater,
    reason: str,
    by: models.User | None = None,
    rules: models.QualityRules | None = None,
    evidence: Mapping[str, Any] | None = None,
    replace: bool = False,
) -> Decided:
    """Exclude, restore or flag a rater, or remove the flag; ``by`` is None if a rule decides.

    An excluded rater's open units are returned, and ``replace`` also reopens the slots that the rater had filled. If
    the rater was excluded before, reopening is a decision of its own, and the reason of the exclusion stands. A
    restored rater's ratings count beside those of raters who have filled the slots meanwhile.
    """
    if replace and action != models.DecisionAction.EXCLUDE:
        raise ValueError(f"replace: found for {action}; accepted: only for {models.DecisionAction.EXCLUDE}.")
    reason = _checked_reason(reason)
    act = ACTS[action]
    participation = _participation_lock(campaign, rater)
    if replace:
        amendable_check(participation.campaign, act="replace ratings")
    is_new = (getattr(participation, act.field) is None) == act.sets
    if is_new:
        models.Participation.objects.filter(pk=participation.pk).update(**{act.field: Now() if act.sets else None})
    released = reopened = 0
    if action == models.DecisionAction.EXCLUDE:
        released = _release(participation)
        reopened = _reopen(replaceable(participation.campaign, rater).order_by("pk")) if replace else 0
    if not is_new and not reopened:
        return Decided(None, released)
    decided = action if is_new else models.DecisionAction.REOPEN
    decision = _record(participation, decided, reopened, reason=reason, by=by, rules=rules, evidence=evidence)
    return Decided(decision, released, reopened)


rater_exclude = partial(rater_decide, models.DecisionAction.EXCLUDE)
rater_include = partial(rater_decide, models.DecisionAction.INCLUDE)
rater_flag = partial(rater_decide, models.DecisionAction.FLAG)
rater_unflag = partial(rater_decide, models.DecisionAction.UNFLAG)


@transaction.atomic
def rater_leaves(*, campaign: models.Campaign, rater: models.Rater) -> int:
    """Return a departed rater's open units, and how many there were. This is no decision about the rater."""
    return _release(_participation_lock(campaign, rater))


@transaction.atomic
def raters_replace(
    *, campaign: models.Campaign, rater: models.Rater | None = None, by: models.User | None = None
) -> int:
    """Reopen all slots that excluded raters have filled, or those of one of them, and return how many.

    Each of these raters gets a decision with the number of reopened slots.
    """
    campaign_pass(campaign.pk)
    campaign = models.Campaign.objects.get(pk=campaign.pk)
    amendable_check(campaign, act="replace ratings")
    participations = models.Participation.objects.filter(
        campaign=campaign, rater__in=replaceable(campaign, rater).values("rater")
    )
    ids = _lock_rows(participations)
    total = 0
    for participation in models.Participation.objects.filter(pk__in=ids, excluded_at__isnull=False).select_related(
        "rater", "campaign"
    ):
        reopened = _reopen(replaceable(campaign, participation.rater).order_by("pk"))
        if reopened:
            _record(participation, models.DecisionAction.REOPEN, reopened, reason=REOPENED_FOR, by=by)
        total += reopened
    return total


@transaction.atomic
def cannot_judge_reopen(*, campaign: models.Campaign, per_unit: int = 1, by: models.User | None = None) -> int:
    """Reopen slots whose rater could not judge everything on screen, and return how many.

    At most ``per_unit`` slots of a unit are ever reopened in this way, so that units that no one can judge come to an
    end. Values in such an answer still count.
    """
    if isinstance(per_unit, bool) or not 1 <= per_unit <= 100:
        raise AnnotationError.at("per_unit", f"Found {per_unit}; accepted: 1 to 100.")
    # Alone, unlike above: slots of many raters are reopened without locking their participations.
    campaign = campaign_alone(campaign.pk)
    amendable_check(campaign, act="reopen slots")
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


def _participation_lock(campaign: models.Campaign, rater: models.Rater) -> models.Participation:
    """Return the participation locked: the rater's requests wait, and the campaign keeps its state."""
    campaign_pass(campaign.pk)
    ids = _lock_rows(models.Participation.objects.filter(campaign=campaign, rater=rater))
    participation = models.Participation.objects.select_related("rater", "campaign").filter(pk__in=ids).first()
    if participation is None:
        raise AnnotationError(f"{rater} has not taken part in “{campaign}”.")
    return participation


def _lock_rows(rows: QuerySet[Any]) -> list[int]:
    """Lock the rows in the order of their ids, so that two callers wait for each other; return the ids."""
    return list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _release(participation: models.Participation) -> int:
    """Return the rater's open units: their slots are free at once. As after a lapse, a unit may come back."""
    mine = {"campaign": participation.campaign_id, "rater": participation.rater_id}
    _free(models.Slot.objects.filter(**mine, state=models.SlotState.LEASED))
    shown = models.Presentation.objects.filter(**mine, outcome=models.PresentationOutcome.SHOWN).exclude(
        purpose__in=BEFORE_WORK
    )
    return shown.update(outcome=models.PresentationOutcome.LAPSED, ended_at=Now())


def _free(slots: QuerySet[models.Slot]) -> None:
    _lock_rows(slots)
    slots.update(**REOPENED)


def _reopen(presentations: Iterable[models.Presentation]) -> int:
    """Free the slots that these presentations fill, and return how many."""
    replaced = list(presentations)
    _free(models.Slot.objects.filter(pk__in=[presentation.slot_id for presentation in replaced]))
    ids = [presentation.pk for presentation in replaced]
    models.Presentation.objects.filter(pk__in=ids).update(outcome=models.PresentationOutcome.REPLACED)
    fewer = Counter(presentation.unit_id for presentation in replaced if presentation.unit_id is not None)
    _lock_rows(models.Unit.objects.filter(pk__in=fewer))
    units: defaultdict[int, list[int]] = defaultdict(list)
    for unit, n in fewer.items():
        units[n].append(unit)
    for n, pks in sorted(units.items()):
        models.Unit.objects.filter(pk__in=pks).update(done_slots=F("done_slots") - n)
    return len(replaced)


def _record(
    participation: models.Participation,
    action: models.DecisionAction,
    reopened: int,
    *,
    reason: str,
    by: models.User | None,
    rules: models.QualityRules | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> models.RaterDecision:
    decision = models.RaterDecision.objects.create(
        campaign_id=participation.campaign_id,
        rater=participation.rater,
        action=action,
        reason=reason,
        rules=rules,
        evidence=dict(evidence or {}),
        reopened_slots=reopened,
        decided_by=by,
    )
    slots = f" {reopened:,} slots reopened for others." if reopened else ""
    audit_record(
        verb=f"rater.{action.value}",
        summary=f"{SUMMARIES[action]}{slots} {reason}",  # without the name, which may be erased
        campaign=participation.campaign,
        rater=participation.rater,
        by=by,
        data={"decision": decision.pk, "reopened_slots": reopened, "rules": rules.version if rules else None},
    )
    return decision
