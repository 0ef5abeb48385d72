"""Lists of responses: all lists, a list with its responses, and a campaign that rates it."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns.forms.lists import RateListForm, models_for
from annotation.campaigns.services.lists import campaign_for_list
from annotation.campaigns.services.names import free_name
from annotation.core.access import get_in_project_or_404, may_manage
from annotation.core.exports import Column, objects_response
from annotation.core.pages import newest_page
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.datasets.selectors.lists import response_lists_of, responses_page
from annotation.datasets.services import lists as services
from annotation.models import Project, ResponseList, Role

PAGE = 50
LIST_COLUMNS: dict[str, Column] = {
    "list": "pk",
    "name": "name",
    "dataset": "dataset.slug",
    "responses": "size",
    "items": "n_items",
    "origin": "origin",
    "created_by": lambda response_list: str(response_list.created_by or ""),
    "created": "created_at",
}
COLUMNS: dict[str, Column] = {
    "item_id": "item.external_id",
    "message": "item.message",
    "response": "pk",
    "text_key": "text_key",
    "text": "text",
    "sources": lambda response: [str(source) for source in response.sources.all()],
    "split": "item.split",
}


@require_GET
@project_view(Role.VIEWER)
def response_list_list(request: MemberRequest) -> HttpResponseBase:
    lists: QuerySet[Any] = response_lists_of(request.project).prefetch_related("campaigns")
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"{request.project.slug}-lists", lists, LIST_COLUMNS)
    page, older = newest_page(lists, before=whole_number(request, "before"), size=PAGE)
    context = {"project": request.project, "lists": page, "older": older}
    return render(request, "annotation/campaigns/response_list_list.html", context)


def _list_or_404(project: Project, pk: int) -> ResponseList:
    return get_in_project_or_404(response_lists_of(project), project, pk=pk)


@require_GET
@object_view(_list_or_404, Role.VIEWER)
def response_list_detail(request: MemberRequest, listed: ResponseList) -> HttpResponseBase:
    project = request.project
    if file_format := request.GET.get("format"):
        responses = listed.responses.select_related("item").prefetch_related("sources__system")
        rows = responses.order_by("item__position", "pk").iterator(chunk_size=2000)
        name = f"{project.slug}-list-{listed.pk}"
        return objects_response(file_format, name, rows, COLUMNS)
    position, last = whole_number(request, "after"), whole_number(request, "response")
    after = None if position is None else (position, last or 0)
    page, following = responses_page(listed, after=after, size=PAGE)
    campaigns = list(listed.campaigns.order_by("pk"))
    context = {
        "project": project,
        "list": listed,
        "responses": page,
        "next_url": f"?after={following[0]}&response={following[1]}" if following else "",
        "first_url": "?" if after else "",
        "campaigns": campaigns,
        "may_manage": may_manage(project),
        "may_rate": may_manage(project) and models_for(listed).exists(),
    }
    return render(request, "annotation/campaigns/response_list_detail.html", context)


@require_http_methods(["GET", "POST"])
@object_view(_list_or_404, Role.MANAGER)
def response_list_rate(request: MemberRequest, listed: ResponseList) -> HttpResponse:
    """Create a draft that rates the list like another campaign. The address may name ``like`` and ``ratings``."""
    initial = {
        "like": whole_number(request, "like"),
        "ratings_per_unit": whole_number(request, "ratings") or 2,
        "name": free_name(request.project, listed.name),
    }
    form = RateListForm(listed, request.POST or None, initial=initial)
    if campaign := form.submit(campaign_for_list, response_list=listed, by=request.user):
        return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "review")
    context = {"project": request.project, "list": listed, "form": form}
    return render(request, "annotation/campaigns/response_list_rate.html", context)


@require_POST
@object_view(_list_or_404, Role.MANAGER)
def response_list_delete(request: MemberRequest, listed: ResponseList) -> HttpResponse:
    if perform(request, services.response_list_delete, f"Deleted the list “{listed.name}”.", response_list=listed):
        return redirect("annotation:response-list-list", request.project.slug)
    return redirect("annotation:response-list-detail", request.project.slug, listed.pk)
