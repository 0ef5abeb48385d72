"""Changes of a running campaign: choose, read exactly what will happen, then do it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.errors import AnnotationError
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, Role, User
from annotation.quality.forms.operations import (
    ExtendForm,
    ItemsForm,
    OperationForm,
    ReopenForm,
    StoppedSystemForm,
    SystemForm,
)
from annotation.quality.selectors.amendments import Marking, places, places_to_fill
from annotation.quality.selectors.decisions import replaceable, to_reopen
from annotation.quality.services import decisions, operations

Asked = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """``effects`` says in sentences what ``perform`` is going to do, or raises why it cannot be done."""

    title: str
    lead: str
    button: str
    icon: str
    form: type[OperationForm]
    effects: Callable[[Campaign, Asked], list[str]]
    perform: Callable[[Campaign, Asked, User], object]
    done: str


def _count(n: int, one: str, several: str = "") -> str:
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def _cost(campaign: Campaign, n_places: int) -> list[str]:
    if not campaign.payment_per_unit or not n_places:
        return []
    amount = campaign.payment_per_unit * n_places
    total = amount * (1 + campaign.payment_fee_percent / Decimal(100))
    fee = f", with the provider's fee {total:,.2f}" if campaign.payment_fee_percent else ""
    return [f"That costs up to {amount:,.2f} {campaign.payment_currency}{fee}, checks mixed in not included."]


def _extend_effects(campaign: Campaign, asked: Asked) -> list[str]:
    operations.extension_check(campaign, asked["ratings_per_unit"])
    more = asked["ratings_per_unit"] - campaign.ratings_per_unit
    found = places(campaign)
    added, waiting = found.units * more, found.stopped_units * more
    held = f" {_count(waiting, 'of them belongs', 'of them belong')} to stopped systems and wait." if waiting else ""
    return [
        f"Each of the {_count(found.units, 'unit')} gets {_count(more, 'more place')}: {added:,} in all.{held}",
        "What was rated stays as it is. Nobody is given a unit twice: who has seen all of them cannot fill new places.",
        *_cost(campaign, added - waiting),
    ]


def _marked(n_places: int, units: int, again: str) -> str:
    return f"{_count(units, 'unit')} with {_count(n_places, 'unfilled place')} {'is' if units == 1 else 'are'} {again}."


def _stop_effects(campaign: Campaign, asked: Asked) -> list[str]:
    name, found = asked["system"].name, _marking(operations.stop_check, campaign, asked)
    kept = f"What raters have on screen of {name} they may still send, and it counts. No rating is lost."
    shown = campaign.presentation_kind.after_stopping(name)
    return [_marked(places_to_fill(campaign, found.to_stop), len(found.to_stop), "handed out no more"), shown, kept]


def _resume_effects(campaign: Campaign, asked: Asked) -> list[str]:
    found = _marking(operations.resume_check, campaign, asked)
    n_places = places_to_fill(campaign, found.to_resume)
    return [_marked(n_places, len(found.to_resume), "handed out again"), *_cost(campaign, n_places)]


def _marking(check: Callable[..., Marking], campaign: Campaign, asked: Asked) -> Marking:
    return check(campaign, asked["system"])


def _items_effects(campaign: Campaign, asked: Asked) -> list[str]:
    found = operations.items_found(campaign, asked.get("item_limit"))
    if not found.units:
        raise AnnotationError(operations.nothing_to_add(campaign, found))
    added = len(found.units) * campaign.ratings_per_unit
    what = f"{_count(found.n_new_items, 'new item')}, {_count(len(found.units), 'unit')}, {_count(added, 'place')}"
    said = [
        f"Added behind what is there: {what}. The new units are handed out first, being the least filled.",
        *_cost(campaign, added),
    ]
    if found.n_lists_left:
        said.append(
            f"Lists of {_count(found.n_lists_left, 'item')} would show other texts by now; they stay as they are."
        )
    if found.new_systems:
        said.append(f"Not in the design, so left out: {', '.join(found.new_systems)}.")
    return said


def _replace_effects(campaign: Campaign, asked: Asked) -> list[str]:
    found = replaceable(campaign)
    n, raters = found.count(), found.values("rater").distinct().count()
    if not n:
        raise AnnotationError("There is nothing to replace: no place is filled by a rater who is excluded.")
    return [
        f"Opened for others: {_count(n, 'place')} filled by {_count(raters, 'excluded rater')}.",
        "The ratings stay in the log, and are paid; figures leave them out already.",
        *_cost(campaign, n),
    ]


def _reopen_effects(campaign: Campaign, asked: Asked) -> list[str]:
    n = len(to_reopen(campaign, asked["per_unit"]))
    if not n:
        raise AnnotationError(
            "There is nothing to open: every unit that could not be judged has had its further tries."
        )
    return [
        f"Opened for others: {_count(n, 'place')} whose rater could not judge everything on screen.",
        "Values given beside what could not be judged go on counting.",
        *_cost(campaign, n),
    ]


OPERATIONS: dict[str, Operation] = {
    "extend": Operation(
        "More ratings of each unit",
        "Every unit gets more places; orders on screen stay balanced over all of them.",
        "Add the places",
        "plus-lg",
        ExtendForm,
        _extend_effects,
        lambda campaign, asked, by: operations.campaign_extend(campaign=campaign, by=by, **asked),
        "The places are there and are being handed out.",
    ),
    "stop-system": Operation(
        "Stop a system",
        "Its texts are handed out no more. You can resume it at any time.",
        "Stop it",
        "pause-circle",
        SystemForm,
        _stop_effects,
        lambda campaign, asked, by: operations.system_stop(campaign=campaign, by=by, **asked),
        "Stopped.",
    ),
    "resume-system": Operation(
        "Resume a system",
        "What was left of a stopped system's texts is handed out again.",
        "Resume it",
        "play-circle",
        StoppedSystemForm,
        _resume_effects,
        lambda campaign, asked, by: operations.system_resume(campaign=campaign, by=by, **asked),
        "Resumed.",
    ),
    "add-items": Operation(
        "Add items",
        "The data set as it is now is planned again, by the same design; what is not there yet is added.",
        "Add them",
        "layers",
        ItemsForm,
        _items_effects,
        lambda campaign, asked, by: operations.items_add(campaign=campaign, by=by, **asked),
        "The items are there and are being handed out.",
    ),
    "replace-excluded": Operation(
        "Replace excluded raters",
        "What excluded raters have rated is asked of others.",
        "Open the places",
        "arrow-repeat",
        OperationForm,
        _replace_effects,
        lambda campaign, asked, by: decisions.raters_replace(campaign=campaign, by=by),
        "The places are open for others.",
    ),
    "reopen-unjudged": Operation(
        "Ask again what could not be judged",
        "Where a rater could not judge, somebody else may try.",
        "Open the places",
        "arrow-repeat",
        ReopenForm,
        _reopen_effects,
        lambda campaign, asked, by: decisions.cannot_judge_reopen(campaign=campaign, by=by, **asked),
        "The places are open for others.",
    ),
}


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.MANAGER)
def campaign_operation(request: MemberRequest, campaign: Campaign, operation: str) -> HttpResponse:
    """The questions first; once they are answered, in the address, what would happen; a post does it."""
    if operation not in OPERATIONS:
        raise Http404(f"No operation {operation!r}; there are {', '.join(OPERATIONS)}.")
    chosen = OPERATIONS[operation]
    form = _form(request, chosen, campaign)
    effects, refusal = [], _why_not(campaign)
    if not refusal and form.is_bound and form.is_valid():
        try:
            if request.method == "POST":
                chosen.perform(campaign, form.cleaned_data, request.user)
                messages.success(request, f"{chosen.title}: {chosen.done}")
                return redirect("annotation:campaign-detail", request.project.slug, campaign.pk)
            effects = chosen.effects(campaign, form.cleaned_data)
        except AnnotationError as error:
            form.add_refusal(error)
            refusal = " ".join(map(str, form.non_field_errors()))
    context = {
        "project": request.project,
        "campaign": campaign,
        "operation": chosen,
        "name": operation,
        "form": form,
        "effects": effects,
        "refusal": refusal,
        "places": places(campaign),
    }
    refused = request.method == "POST"
    return render(request, "annotation/quality/campaign_operation.html", context, status=400 if refused else 200)


def _form(request: HttpRequest, chosen: Operation, campaign: Campaign) -> OperationForm:
    if request.method == "POST":
        return chosen.form(campaign, request.POST)
    empty = chosen.form(campaign)
    answered = not empty.fields or any(name in request.GET for name in empty.fields)
    return chosen.form(campaign, request.GET) if answered else empty


def _why_not(campaign: Campaign) -> str:
    if campaign.imported:
        return "The judgements of this campaign were collected elsewhere: nothing is handed out."
    if campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED):
        return f"The campaign is {campaign.get_state_display().lower()}; only a running or paused one can be changed."
    return ""
