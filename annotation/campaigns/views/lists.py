"""Lists of responses: which there are, what is on one, and a campaign that rates it."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.forms.lists import RateListForm, models_for
from annotation.campaigns.services import free_name
from annotation.campaigns.services import lists as services
from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.selectors.lists import response_lists_of, responses_page
from annotation.models import Project, ResponseList, Role

PAGE = 50
COLUMNS = ("item_id", "message", "response", "text_key", "text", "sources", "split")


@require_GET
@project_view(Role.VIEWER)
def response_list_list(request: MemberRequest) -> HttpResponseBase:
    lists: QuerySet[Any] = response_lists_of(request.project).prefetch_related("campaigns")
    if wanted := request.GET.get("format"):
        columns = ["list", "name", "dataset", "responses", "items", "origin", "created_by", "created"]
        rows = (
            (
                one.pk,
                one.name,
                one.dataset.slug,
                one.size,
                one.n_items,
                one.origin,
                str(one.created_by or ""),
                one.created_at,
            )
            for one in lists
        )
        return table_response(format=wanted, filename=f"{request.project.slug}-lists", columns=columns, rows=rows)
    page, older = newest_page(lists, before=whole_number(request, "before"), size=PAGE)
    context = {"project": request.project, "lists": page, "older": older}
    return render(request, "annotation/campaigns/response_list_list.html", context)


def _list_or_404(project: Project, pk: int) -> ResponseList:
    return get_in_project_or_404(response_lists_of(project), project, pk=pk)


@require_GET
@object_view(_list_or_404, Role.VIEWER)
def response_list_detail(request: MemberRequest, found: ResponseList) -> HttpResponseBase:
    project = request.project
    if wanted := request.GET.get("format"):
        name = f"{project.slug}-list-{found.pk}"
        return table_response(format=wanted, filename=name, columns=COLUMNS, rows=_rows(found))
    position, last = whole_number(request, "after"), whole_number(request, "response")
    after = None if position is None else (position, last or 0)
    page, following = responses_page(found, after=after, size=PAGE)
    campaigns = list(found.campaigns.order_by("pk"))
    context = {
        "project": project,
        "list": found,
        "responses": page,
        "next_url": f"?after={following[0]}&response={following[1]}" if following else "",
        "first_url": "?" if after else "",
        "campaigns": campaigns,
        "may_manage": may_manage(project),
        "may_rate": may_manage(project) and models_for(found).exists(),
    }
    return render(request, "annotation/campaigns/response_list_detail.html", context)


def _rows(found: ResponseList) -> Iterator[tuple[object, ...]]:
    responses = found.responses.select_related("item").prefetch_related("sources__system")
    for one in responses.order_by("item__position", "pk").iterator(chunk_size=2000):
        sources = [str(source) for source in one.sources.all()]
        yield one.item.external_id, one.item.message, one.pk, one.text_key, one.text, sources, one.item.split


@require_http_methods(["GET", "POST"])
@object_view(_list_or_404, Role.MANAGER)
def response_list_rate(request: MemberRequest, found: ResponseList) -> HttpResponse:
    """A draft that asks about the list what another campaign asks. The address may say ``like`` and ``ratings``."""
    initial = {
        "like": whole_number(request, "like"),
        "ratings_per_unit": whole_number(request, "ratings") or 2,
        "name": free_name(request.project, found.name),
    }
    form = RateListForm(found, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            campaign = services.campaign_for_list(response_list=found, by=request.user, **form.cleaned_data)
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "review")
    context = {"project": request.project, "list": found, "form": form}
    return render(request, "annotation/campaigns/response_list_rate.html", context)


@require_POST
@object_view(_list_or_404, Role.MANAGER)
def response_list_delete(request: MemberRequest, found: ResponseList) -> HttpResponse:
    try:
        services.response_list_delete(response_list=found, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:response-list-detail", request.project.slug, found.pk)
    messages.success(request, f"Deleted the list “{found.name}”.")
    return redirect("annotation:response-list-list", request.project.slug)
