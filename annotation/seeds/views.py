"""Seeds: candidates from a corpus, which of them are kept, and how those that were stand by now."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.jobs import job_request_cancel
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Campaign, Dataset, Role, SeedMember, SeedSelecting, SeedSelection
from annotation.seeds import selectors
from annotation.seeds.charts import seed_means
from annotation.seeds.forms import SampleForm, SelectForm
from annotation.seeds.services import selections as services
from annotation.seeds.services.selecting import seeds_select_create
from annotation.seeds.tasks import seeds_select_execute

PAGE = 50
MEMBER_COLUMNS = (
    "item_id",
    "split",
    "response",
    "text",
    "message",
    "mean_when_selected",
    "ratings_when_selected",
    "mean_now",
    "ratings_now",
    "fell_below",
)
FEW = 20  # rows of a table of thresholds


@require_GET
@project_view(Role.VIEWER)
def seed_list(request: MemberRequest) -> HttpResponseBase:
    """Selections, and the data sets whose seeds can be selected."""
    project = request.project
    selections: QuerySet[Any] = selectors.selections_of(project)
    if wanted := request.GET.get("format"):
        columns = ["dataset", "threshold", "candidates", "kept", "splits", "seed", "campaigns", "selected_at"]
        rows = (
            (
                one.dataset.slug,
                one.threshold,
                one.report["candidates"],
                one.n_members,
                one.report["splits"],
                one.seed,
                [campaign.name for campaign in one.campaigns.all()],
                one.created_at,
            )
            for one in selections
        )
        return table_response(format=wanted, filename=f"{project.slug}-seeds", columns=columns, rows=rows)
    context = {
        "project": project,
        "selections": selections,
        "datasets": [(one, selectors.seed_campaigns(one).exists()) for one in selectors.seeded_datasets(project)],
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/seeds/seed_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def seed_sample(request: MemberRequest) -> HttpResponse:
    project = request.project
    chosen = project.corpora.filter(slug=request.GET.get("corpus", "")).first()
    form = SampleForm(project, request.POST or None, initial={"corpus": chosen})
    if request.method == "POST" and form.is_valid():
        try:
            job = services.seeds_sample(by=request.user, **form.asked())
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            dataset_import_execute.delay_on_commit(job.pk)
            return redirect("annotation:dataset-import-detail", project.slug, job.pk)
    return render(request, "annotation/seeds/seed_sample.html", {"project": project, "form": form})


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
def seed_select(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """What would be kept, at this threshold and at others; posted to, it is done."""
    earlier = SeedSelection.objects.filter(dataset=dataset).first()
    sent = request.POST if request.method == "POST" else request.GET
    form = SelectForm(dataset, sent)
    preview = None
    if form.offered and form.is_valid():
        asked = form.asked()
        try:
            if request.method == "POST":
                job = seeds_select_create(dataset=dataset, again=earlier is not None, by=request.user, **asked)
                seeds_select_execute.delay_on_commit(job.pk)
                return redirect("annotation:seed-selecting", request.project.slug, dataset.slug, job.pk)
            preview = services.seeds_preview(
                dataset=dataset, **{name: value for name, value in asked.items() if name != "seed"}
            )
        except AnnotationError as error:
            form.add_refusal(error)
    context = {
        "project": request.project,
        "dataset": dataset,
        "form": form,
        "preview": preview,
        "earlier": earlier,
        "reasons": selectors.what_came_of(earlier) if earlier else [],
        "levels": _levels(preview, form.cleaned_data["threshold"]) if preview else [],
        "query": urlencode(list(sent.lists()), doseq=True),
        "sent": [(name, value) for name, values in sent.lists() for value in values if name in form.fields],
    }
    return render(request, "annotation/seeds/seed_select.html", context)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_selecting(request: MemberRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """A selection on its way; whoever watches it is taken to what was selected."""
    job = get_object_or_404(SeedSelecting.objects.select_related("selection"), dataset=dataset, pk=pk)
    if job.selection is not None:
        messages.success(request, "Selected: the items have their splits.")
        made = reverse("annotation:seed-detail", args=[request.project.slug, dataset.slug])
        return HttpResponseClientRedirect(made) if request.htmx else redirect(made)
    asked = {key: value for key, value in job.asked.items() if key in ("campaigns", "threshold", "min_ratings", "seed")}
    shares = ", ".join(f"{name} {share:g}" for name, share in job.asked["shares"].items())
    again = urlencode({**asked, "shares": shares}, doseq=True)
    context = {
        "project": request.project,
        "dataset": dataset,
        "job": job,
        "again": again,
        "shares": shares,
        "campaigns": Campaign.objects.filter(pk__in=job.asked["campaigns"]).order_by("pk"),
        "may_manage": may_manage(request.project),
    }
    template = "seed_selecting_status" if request.htmx else "seed_selecting"
    return render(request, f"annotation/seeds/{template}.html", context)


@require_POST
@object_view(dataset_or_404, Role.MANAGER)
def seed_selecting_cancel(request: MemberRequest, dataset: Dataset, pk: int) -> HttpResponse:
    job_request_cancel(get_object_or_404(SeedSelecting, dataset=dataset, pk=pk))
    return redirect("annotation:seed-selecting", request.project.slug, dataset.slug, pk)


def _levels(preview: services.SeedPreview, threshold: float) -> list[dict[str, Any]]:
    """Rows of the table of thresholds: how many seeds each keeps, and the share of the candidates that is."""
    return [
        {
            "level": float(level),
            "kept": n,
            "share": n / preview.candidates if preview.candidates else 0,
            "percent": round(100 * n / preview.candidates, 1) if preview.candidates else 0,
            "chosen": level == selectors.exactly(threshold),
        }
        for level, n in preview.levels[-FEW:]
    ]


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_chart(request: MemberRequest, dataset: Dataset, file_format: str) -> HttpResponseBase:
    """Seeds by their mean: as they were selected or, with the fields of the form in the address, as they stand."""
    if "threshold" in request.GET:
        form = SelectForm(dataset, request.GET)
        if not form.is_valid():
            raise Http404("The address asks for no preview.")
        asked = form.asked()
        asked.pop("seed")
        try:
            preview = services.seeds_preview(dataset=dataset, **asked)
        except AnnotationError as error:
            raise Http404(error.message) from error
        scale, threshold = (preview.low, preview.high), asked["threshold"]
        drawn = services.bars(preview.distribution, *scale)
    else:
        selection = get_selection_or_404(dataset)
        scale, threshold = selection.report["scale"], selection.threshold
        drawn = selection.report["distribution"]
    if file_format in ("csv", "jsonl", "parquet"):
        columns = ["mean_from", "mean_to", "seeds", "kept"]
        rows = ((first, last, n, first >= threshold) for first, last, n in drawn)
        return table_response(format=file_format, filename=f"{dataset.slug}-seed-means", columns=columns, rows=rows)
    specification = seed_means(drawn, threshold=threshold, scale=scale, theme=chart_theme(request))
    return chart_response(specification, file_format, f"{dataset.slug}-seed-means")


def get_selection_or_404(dataset: Dataset) -> SeedSelection:
    selection = SeedSelection.objects.select_related("dataset", "created_by", "project").filter(dataset=dataset).first()
    if selection is None:
        raise Http404("The seeds of this data set were not selected.")
    return selection


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_detail(request: MemberRequest, dataset: Dataset) -> HttpResponseBase:
    """The selection: its facts, and its members with their means when they were selected and now."""
    project = request.project
    selection = SeedSelection.objects.select_related("dataset", "created_by", "project").filter(dataset=dataset).first()
    if selection is None:
        if may_manage(project):
            return redirect("annotation:seed-select", project.slug, dataset.slug)
        raise Http404("The seeds of this data set were not selected.")
    now = selectors.means_now(selection)
    if wanted := request.GET.get("format"):
        name, rows = f"{dataset.slug}-seeds", _member_rows(selection, now)
        return table_response(format=wanted, filename=name, columns=MEMBER_COLUMNS, rows=rows)
    fallen = {pk for pk, mean in now.items() if selectors.has_fallen(selection, mean)}
    splits = list(selection.report["splits"].items())
    split = request.GET.get("split", "")
    split = split if split in dict(splits) else ""
    only_fallen = request.GET.get("fallen") == "1"
    page, following = selectors.members_page(
        selection,
        split=split,
        among=fallen if only_fallen else None,
        after=whole_number(request, "after"),
        size=PAGE,
    )
    narrowed = {"split": split} if split else {}
    narrowed |= {"fallen": "1"} if only_fallen else {}
    draft = next(iter(selection.dataset.campaigns.filter(response_list__origin__selection=selection.pk)), None)
    context = {
        "project": project,
        "dataset": dataset,
        "selection": selection,
        "report": selection.report,
        "campaigns": selection.campaigns.order_by("pk"),
        "splits": splits,
        "split": split,
        "only_fallen": only_fallen,
        "n_fallen": len(fallen),
        "n_members": selection.report["kept"],
        "members": [_shown(member, now.get(member.response_id), selection) for member in page],
        "next_url": f"?{urlencode({**narrowed, 'after': following})}#members" if following is not None else "",
        "first_url": f"?{urlencode(narrowed)}#members" if request.GET.get("after") else "",
        "rated_in": selectors.comparable_campaigns(selection),
        "reasons": selectors.what_came_of(selection),
        "again": draft,
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/seeds/seed_detail.html", context)


def _shown(member: SeedMember, now: selectors.Mean | None, selection: SeedSelection) -> dict[str, Any]:
    return {
        "member": member,
        "now": float(now.value) if now else None,
        "n_now": now.n if now else 0,
        "more": (now.n if now else 0) - member.n_ratings,
        "fallen": selectors.has_fallen(selection, now),
    }


def _member_rows(selection: SeedSelection, now: dict[int, selectors.Mean]) -> Iterator[tuple[object, ...]]:
    members = selection.members.select_related("item", "response").order_by("item__position")
    for one in members.iterator(chunk_size=2000):
        mean = now.get(one.response_id)
        yield (
            one.item.external_id,
            one.split,
            one.response_id,
            one.response.text,
            one.item.message,
            one.rating_mean,
            one.n_ratings,
            float(mean.value) if mean else None,
            mean.n if mean else 0,
            selectors.has_fallen(selection, mean),
        )


@require_POST
@object_view(dataset_or_404, Role.MANAGER)
def seed_rate(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Two more ratings of each seed: a draft, to look at and launch."""
    selection = get_selection_or_404(dataset)
    try:
        campaign = services.seeds_rate_again(selection=selection, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:seed-detail", request.project.slug, dataset.slug)
    messages.success(request, "A draft that asks for two more ratings of each seed. Look it over, then launch it.")
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "review")


@require_POST
@object_view(dataset_or_404, Role.MANAGER)
def seed_unselect(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    try:
        services.seeds_unselect(selection=get_selection_or_404(dataset), by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:seed-detail", request.project.slug, dataset.slug)
    messages.success(request, "Taken back: the items have no splits.")
    return redirect("annotation:seed-list", request.project.slug)
