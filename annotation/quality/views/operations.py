"""Changes to a running campaign: choose, read what will happen, then do it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.db.models import F, Sum
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, Role, Unit
from annotation.quality.forms import operations as forms
from annotation.quality.selectors.amendments import slot_counts, unfilled_slots
from annotation.quality.selectors.decisions import replaceable, to_reopen
from annotation.quality.selectors.topping_up import Question, top_up_plan
from annotation.quality.services import decisions, operations

Choices = Mapping[str, Any]
MOST_SHOWN = 5  # differences whose narrowing is shown one by one


@dataclass(frozen=True)
class Operation:
    """A change. ``effects`` describes in sentences what ``service`` will do, or raises if it cannot be done."""

    title: str
    lead: str
    button: str
    icon: str
    form: type[forms.OperationForm]
    effects: Callable[[Campaign, Choices], list[str]]
    service: Callable[..., object]
    done: str
    is_offered: Callable[[Campaign], object] = lambda campaign: True


def _cost(campaign: Campaign, n_slots: int) -> list[str]:
    if not campaign.payment_per_unit or not n_slots:
        return []
    amount = campaign.payment_per_unit * n_slots
    total = amount * (1 + campaign.payment_fee_percent / Decimal(100))
    fee = f", or {total:,.2f} with the provider's fee" if campaign.payment_fee_percent else ""
    return [f"This costs up to {amount:,.2f} {campaign.payment_currency}{fee}, not including checks."]


def _extend_effects(campaign: Campaign, choices: Choices) -> list[str]:
    operations.extension_check(campaign, choices["ratings_per_unit"])
    more = choices["ratings_per_unit"] - campaign.ratings_per_unit
    current = slot_counts(campaign)
    added, waiting = current.units * more, current.stopped_units * more
    if current.topped_up:
        wanted = Unit.objects.filter(campaign=campaign, ratings_wanted__lt=choices["ratings_per_unit"])
        missing = choices["ratings_per_unit"] - F("ratings_wanted")
        added = wanted.aggregate(n=Coalesce(Sum(missing), 0))["n"]
        return [
            f"Every item gets at least {choices['ratings_per_unit']} slots: {added:,} more in total.",
            f"What topping up gave {counted(current.topped_up, 'item')} is counted.",
            "Existing ratings stay. No rater gets the same item twice, so new slots need raters with items left.",
            *_cost(campaign, added),
        ]
    stopped = f" {counted(waiting, 'of them belongs', 'of them belong')} to stopped systems." if waiting else ""
    return [
        f"Each of the {counted(current.units, 'item')} gets {counted(more, 'more slot')}: {added:,} in total.{stopped}",
        "Existing ratings stay. No rater gets the same item twice, so new slots need raters with items left.",
        *_cost(campaign, added - waiting),
    ]


def _top_up_effects(campaign: Campaign, choices: Choices) -> list[str]:
    question = Question(choices["criterion"], tuple(choices["systems"]))
    given = {name: choices[name] for name in ("ratings", "floor", "most")}
    plan = top_up_plan(campaign, question=question, **given)
    least, most = min(plan.further.values()), max(plan.further.values())
    each = f"{least} more each" if least == most else f"{least} to {most} more each"
    others = plan.n_units - len(plan.further)
    rest = f" The other {counted(others, 'item')} stay as they are." if others else ""
    effects = [f"{counted(len(plan.further), 'item')} get {counted(plan.total, 'more slot')}: {each}.{rest}"]
    for pair, known, after in plan.pairs[:MOST_SHOWN]:
        half = [known.half_width(means, pair.alpha) for means in (known.means, after)]
        chance = [known.chance(means, pair.alpha) for means in (known.means, after)]
        effects.append(
            f"{pair.first} and {pair.second}: once all is rated, the interval that decides is ±{half[1]:.2f} instead "
            f"of ±{half[0]:.2f}, and the chance that it tells them apart {chance[1]:.0%} instead of {chance[0]:.0%}."
        )
    if not plan.pairs:
        effects.append(f"The weights' margins of error become {plan.narrowing:.0%} smaller on average.")
    return [
        *effects,
        "Results stay comparable: every item counts as one, however many ratings it has. Existing ratings stay.",
        *_cost(campaign, plan.total),
    ]


def _marked(n_slots: int, units: int, change: str) -> str:
    verb = "is" if units == 1 else "are"
    return f"{counted(units, 'item')} with {counted(n_slots, 'unfilled slot')} {verb} {change}."


def _stop_effects(campaign: Campaign, choices: Choices) -> list[str]:
    name, units = choices["system"].name, operations.stop_check(campaign, choices["system"]).to_stop
    return [
        _marked(unfilled_slots(campaign, units), len(units), "no longer handed out"),
        campaign.presentation_kind.after_stopping(name),
        f"Raters can still send what they have on screen of {name}, and it counts. No rating is lost.",
    ]


def _resume_effects(campaign: Campaign, choices: Choices) -> list[str]:
    units = operations.resume_check(campaign, choices["system"]).to_resume
    n_slots = unfilled_slots(campaign, units)
    return [_marked(n_slots, len(units), "handed out again"), *_cost(campaign, n_slots)]


def _items_effects(campaign: Campaign, choices: Choices) -> list[str]:
    addition = operations.addition_plan(campaign, choices.get("item_limit"))
    if not addition.units:
        raise AnnotationError(operations.nothing_to_add(campaign, addition))
    n_units, n_slots = len(addition.units), len(addition.units) * campaign.ratings_per_unit
    parts = (
        counted(addition.n_new_items, "new item of the data set", "new items of the data set"),
        counted(n_units, "item to rate", "items to rate"),
        counted(n_slots, "slot"),
    )
    effects = [
        f"Added after the existing items: {', '.join(parts)}. They are handed out first: they have the fewest ratings.",
        *_cost(campaign, n_slots),
    ]
    if addition.n_lists_left:
        lists = counted(addition.n_lists_left, "item")
        effects.append(f"The lists of {lists} would now show other texts; they stay as they are.")
    if addition.new_systems:
        effects.append(f"Left out because the design does not name them: {', '.join(addition.new_systems)}.")
    return effects


def _replace_effects(campaign: Campaign, choices: Choices) -> list[str]:
    presentations = replaceable(campaign)
    n, raters = presentations.count(), presentations.values("rater").distinct().count()
    if not n:
        raise AnnotationError("There is nothing to replace: excluded raters have filled no slots.")
    return [
        f"Reopened for others: {counted(n, 'slot')} filled by {counted(raters, 'excluded rater')}.",
        "The ratings stay in the log and are paid. Statistics already leave them out.",
        *_cost(campaign, n),
    ]


def _reopen_effects(campaign: Campaign, choices: Choices) -> list[str]:
    n = len(to_reopen(campaign, choices["per_unit"]))
    if not n:
        raise AnnotationError("There is nothing to reopen: every item was tried again as often as you allow.")
    return [
        f"Reopened for others: {counted(n, 'slot')} whose rater could not judge everything on screen.",
        "Values that these raters did give still count.",
        *_cost(campaign, n),
    ]


OPERATIONS: dict[str, Operation] = {
    "extend": Operation(
        "More ratings per item",
        "Ask more raters about every item than was planned. Ratings that were made stay.",
        "Add slots",
        "plus-lg",
        forms.ExtendForm,
        _extend_effects,
        operations.campaign_extend,
        "The slots are added and are being handed out.",
    ),
    "top-up": Operation(
        "Top up where it decides",
        "More ratings go to the items where they narrow what you ask most, instead of to all alike.",
        "Add slots",
        "graph-up",
        forms.TopUpForm,
        _top_up_effects,
        operations.campaign_top_up,
        "The slots are added and are being handed out.",
    ),
    "add-items": Operation(
        "Add items",
        "Plans the data set as it is now, by the same design, and adds what is missing.",
        "Add items",
        "layers",
        forms.ItemsForm,
        _items_effects,
        operations.items_add,
        "The items are added and are being handed out.",
    ),
    "stop-system": Operation(
        "Stop a system",
        "Its texts are no longer handed out. You can resume it at any time.",
        "Stop",
        "stop-circle",
        forms.SystemForm,
        _stop_effects,
        operations.system_stop,
        "Stopped.",
    ),
    "resume-system": Operation(
        "Resume a system",
        "The remaining texts of a stopped system are handed out again.",
        "Resume",
        "play-circle",
        forms.StoppedSystemForm,
        _resume_effects,
        operations.system_resume,
        "Resumed.",
    ),
    "replace-excluded": Operation(
        "Replace excluded raters",
        "Other raters rate what excluded raters have rated.",
        "Reopen slots",
        "people",
        forms.OperationForm,
        _replace_effects,
        decisions.raters_replace,
        "The slots are open for others.",
    ),
    "reopen-unjudged": Operation(
        "Ask again about items that could not be judged",
        "If a rater could not judge an item, another rater can try.",
        "Reopen slots",
        "arrow-clockwise",
        forms.ReopenForm,
        _reopen_effects,
        decisions.cannot_judge_reopen,
        "The slots are open for others.",
        attrgetter("cannot_judge_reasons"),
    ),
}


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_operation(request: MemberRequest, campaign: Campaign, operation: str) -> HttpResponse:
    """Show the form, then what the choices in the address would do; a POST does it."""
    if operation not in OPERATIONS:
        raise Http404(f"No operation {operation!r}; there are {', '.join(OPERATIONS)}.")
    chosen = OPERATIONS[operation]
    form = _form(request, chosen, campaign)
    effects, refusal = [], _refusal(campaign)
    if not refusal and request.method == "POST":
        if form.submit(chosen.service, campaign=campaign, by=request.user) is not None:
            messages.success(request, f"{chosen.title}: {chosen.done}")
            return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)
    elif not refusal:
        effects = form.submit(lambda **choices: chosen.effects(campaign, choices)) or []
    refusal = refusal or " ".join(map(str, form.non_field_errors()))
    context = {
        "project": request.project,
        "campaign": campaign,
        "operation": chosen,
        "name": operation,
        "form": form,
        "effects": effects,
        "refusal": refusal,
        "slots": slot_counts(campaign),
    }
    refused = request.method == "POST"
    return render(request, "annotation/quality/campaign_operation.html", context, status=400 if refused else 200)


def _form(request: HttpRequest, operation: Operation, campaign: Campaign) -> forms.OperationForm:
    if request.method == "POST":
        return operation.form(campaign, request.POST)
    empty = operation.form(campaign)
    is_filled = not empty.fields or any(name in request.GET for name in empty.fields)
    return operation.form(campaign, request.GET) if is_filled else empty


def _refusal(campaign: Campaign) -> str:
    if campaign.imported:
        return "The ratings of this campaign were imported: nothing is handed out."
    if campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED):
        return f"The campaign is {campaign.get_state_display().lower()}; only a running or paused one can be changed."
    return ""
