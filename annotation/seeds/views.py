"""Seeds: draw candidates from a corpus, select seeds, and show a selection with its means then and now."""

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation.core.access import may_manage
from annotation.core.chart_views import chart_response, chart_theme
from annotation.core.errors import AnnotationError
from annotation.core.exports import Column, objects_response, table_response
from annotation.core.jobs import job_request_cancel
from annotation.core.numbers import card
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, perform, project_view
from annotation.datasets.lookups import dataset_or_404
from annotation.datasets.tasks import dataset_import_execute
from annotation.models import Campaign, Dataset, Project, Role, SeedSelecting, SeedSelection
from annotation.seeds import selectors
from annotation.seeds.charts import seed_means
from annotation.seeds.criteria import CRITERIA
from annotation.seeds.forms import SampleForm, SelectForm
from annotation.seeds.services import selections as services
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.sampling import seeds_sample
from annotation.seeds.services.selecting import seeds_select_create
from annotation.seeds.tasks import seeds_select_execute

PAGE = 50
SELECTION_COLUMNS: dict[str, Column] = {
    "dataset": "dataset.slug",
    "threshold": "threshold",
    "candidates": lambda selection: selection.report["candidates"],
    "kept": "n_members",
    "splits": lambda selection: selection.report["splits"],
    "seed": "seed",
    "campaigns": lambda selection: [campaign.name for campaign in selection.campaigns.all()],
    "selected_at": "created_at",
}
MEMBER_COLUMNS = {
    "item_id": "member.item.external_id",
    "split": "member.split",
    "response": "member.response_id",
    "text": "member.response.text",
    "message": "member.item.message",
    "mean_when_selected": "member.rating_mean",
    "ratings_when_selected": "member.n_ratings",
    "mean_now": "mean_now",
    "ratings_now": "n_now",
    "fell_below": "has_fallen",
}
MOST_LEVELS = 20  # rows of the table of thresholds


@require_GET
@project_view(Role.VIEWER)
def seed_list(request: MemberRequest) -> HttpResponseBase:
    """List selections, and the data sets whose seeds can be selected."""
    project = request.project
    selections: QuerySet[Any] = selectors.selections_of(project)
    if file_format := request.GET.get("format"):
        return objects_response(file_format, f"{project.slug}-seeds", selections, SELECTION_COLUMNS)
    datasets = selectors.seeded_datasets(project)
    context = {
        "project": project,
        "selections": selections,
        "datasets": [(dataset, selectors.seed_campaigns(dataset).exists()) for dataset in datasets],
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/seeds/seed_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def seed_sample(request: MemberRequest) -> HttpResponse:
    project = request.project
    corpus = project.corpora.filter(slug=request.GET.get("corpus", "")).first()
    form = SampleForm(project, request.POST or None, initial={"corpus": corpus})
    if job := form.submit(seeds_sample, by=request.user):
        dataset_import_execute.delay_on_commit(job.pk)
        return redirect("annotation:dataset-import-detail", project.slug, job.pk)
    return render(request, "annotation/seeds/seed_sample.html", {"project": project, "form": form})


@require_http_methods(["GET", "POST"])
@object_view(dataset_or_404, Role.MANAGER)
def seed_select(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Preview a selection at this threshold and at others; a POST starts it."""
    earlier = SeedSelection.objects.filter(dataset=dataset).first()
    form = SelectForm(dataset, request.POST if request.method == "POST" else request.GET)
    preview = None
    if form.offered and request.method == "POST":
        if job := form.submit(seeds_select_create, again=earlier is not None, by=request.user):
            seeds_select_execute.delay_on_commit(job.pk)
            return redirect("annotation:seed-selecting", request.project.slug, dataset.slug, job.pk)
    elif form.offered:
        preview = form.submit(services.seeds_preview)
    settings = cast(QueryDict, form.data)  # as sent, or the form's defaults
    context = {
        "project": request.project,
        "dataset": dataset,
        "form": form,
        "preview": preview,
        "earlier": earlier,
        "uses": selectors.selection_uses(earlier) if earlier else [],
        "cards": _preview_cards(preview) if preview else [],
        "levels": _levels(preview, form.cleaned_data["threshold"]) if preview else [],
        "chart": _chart_addresses(request.project, dataset, f"?{urlencode(list(settings.lists()), doseq=True)}"),
        "sent": [(name, value) for name, values in settings.lists() for value in values if name in form.fields],
    }
    return render(request, "annotation/seeds/seed_select.html", context)


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_selecting(request: MemberRequest, dataset: Dataset, pk: int) -> HttpResponse:
    """Show a selection in progress; when it is done, redirect to what was selected."""
    job = get_object_or_404(SeedSelecting.objects.select_related("selection"), dataset=dataset, pk=pk)
    if job.selection is not None:
        messages.success(request, "The seeds are selected, and their items have splits.")
        detail = reverse("annotation:seed-detail", args=[request.project.slug, dataset.slug])
        return HttpResponseClientRedirect(detail) if request.htmx else redirect(detail)
    names = ("campaigns", "threshold", "seed", *CRITERIA)
    fields = {name: value for name, value in job.asked.items() if name in names}
    shares = ", ".join(f"{name} {share:g}" for name, share in job.asked["shares"].items())
    again = urlencode({**fields, "shares": shares}, doseq=True)
    context = {
        "project": request.project,
        "dataset": dataset,
        "job": job,
        "again": again,
        "shares": shares,
        "criteria": _criteria_shown(job.asked),
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


def _preview_cards(preview: services.SeedPreview) -> list[dict[str, str]]:
    """Return the numbers of a preview, each with its label and hint."""
    failing = [f"{n:,} {CRITERIA[name].failing}" for name, n in preview.failing.items() if n]
    if preview.too_few:
        not_counted = card("Not counted", preview.unrated + preview.too_few, ", ".join(failing))
    else:
        not_counted = card("Not rated", preview.unrated, "never kept")
    return [
        card("Candidates", preview.candidates, "items with an original response"),
        card("Rated", preview.qualified, f"{preview.rated_less:,} with fewer ratings than planned"),
        not_counted,
        card("Kept", preview.kept),
        *(card(name, size, "of those kept") for name, size in preview.sizes.items()),
    ]


def _selection_cards(selection: SeedSelection, n_fallen: int) -> list[dict[str, str]]:
    report = selection.report
    fallen_hint = "kept, and marked" if n_fallen else "with all ratings up to now"
    return [
        card("Candidates", report["candidates"]),
        card("Rated", report["rated"], f"{report['rated_less']:,} with fewer ratings than planned"),
        card("Kept", report["kept"], link="#members"),
        *(card(name, n, link=f"?{urlencode({'split': name})}#members") for name, n in report["splits"].items()),
        card("Fell below since", n_fallen, fallen_hint, link="?fallen=1#members" if n_fallen else ""),
    ]


def _chart_addresses(project: Project, dataset: Dataset, query: str = "") -> dict[str, str]:
    """Return the address of the chart in each file format."""
    formats = ("json", "svg", "png", "csv")
    args = [project.slug, dataset.slug]
    return {each: reverse("annotation:seed-chart", args=[*args, each]) + query for each in formats}


def _criteria_shown(record: dict[str, Any]) -> list[tuple[str, int]]:
    return [(criterion.label, record.get(name, criterion.default)) for name, criterion in CRITERIA.items()]


def _levels(preview: services.SeedPreview, threshold: float) -> list[dict[str, Any]]:
    """Return the rows of the table of thresholds: the seeds that each keeps, and their share of the candidates."""
    return [
        {
            "level": float(level),
            "kept": n,
            "share": n / preview.candidates if preview.candidates else 0,
            "percent": round(100 * n / preview.candidates, 1) if preview.candidates else 0,
            "chosen": level == selectors.exactly(threshold),
        }
        for level, n in preview.levels[-MOST_LEVELS:]
    ]


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_chart(request: MemberRequest, dataset: Dataset, file_format: str) -> HttpResponseBase:
    """Draw seeds by mean rating: as selected or, with the form's fields in the address, as of now."""
    if "threshold" in request.GET:
        form = SelectForm(dataset, request.GET)
        preview = form.submit(services.seeds_preview)
        if preview is None:
            raise Http404(f"The address names no preview: {form.errors.as_text()}")
        scale, threshold = (preview.low, preview.high), form.cleaned_data["threshold"]
        bars = services.bars(preview.distribution, *scale)
    else:
        selection = get_selection_or_404(dataset)
        scale, threshold = selection.report["scale"], selection.threshold
        bars = selection.report["distribution"]
    if file_format in ("csv", "jsonl", "parquet"):
        columns = ["mean_from", "mean_to", "seeds", "kept"]
        rows = ((first, last, n, first >= threshold) for first, last, n in bars)
        return table_response(format=file_format, filename=f"{dataset.slug}-seed-means", columns=columns, rows=rows)
    specification = seed_means(bars, threshold=threshold, scale=scale, theme=chart_theme(request))
    return chart_response(specification, file_format, f"{dataset.slug}-seed-means")


def _selection_of(dataset: Dataset) -> SeedSelection | None:
    return SeedSelection.objects.select_related("dataset", "created_by", "project").filter(dataset=dataset).first()


def get_selection_or_404(dataset: Dataset) -> SeedSelection:
    if (selection := _selection_of(dataset)) is None:
        raise Http404("The seeds of this data set were not selected.")
    return selection


@require_GET
@object_view(dataset_or_404, Role.VIEWER)
def seed_detail(request: MemberRequest, dataset: Dataset) -> HttpResponseBase:
    """Show a selection and its members, with their means when they were selected and now."""
    project = request.project
    if may_manage(project) and _selection_of(dataset) is None:
        return redirect("annotation:seed-select", project.slug, dataset.slug)
    selection = get_selection_or_404(dataset)
    now = selectors.means_now(selection)
    if file_format := request.GET.get("format"):
        return objects_response(
            file_format, f"{dataset.slug}-seeds", selectors.members_now(selection, now), MEMBER_COLUMNS
        )
    fallen = {pk for pk, mean in now.items() if selectors.has_fallen(selection, mean)}
    splits = list(selection.report["splits"].items())
    split = request.GET.get("split", "")
    split = split if split in dict(splits) else ""
    only_fallen = request.GET.get("fallen") == "1"
    page, following = selectors.members_page(
        selection, split=split, among=fallen if only_fallen else None, after=whole_number(request, "after"), size=PAGE
    )
    narrowed = {"split": split} if split else {}
    narrowed |= {"fallen": "1"} if only_fallen else {}
    draft = next(iter(selection.dataset.campaigns.filter(response_list__origin__selection=selection.pk)), None)
    context = {
        "project": project,
        "dataset": dataset,
        "selection": selection,
        "report": selection.report,
        "criteria": _criteria_shown(selection.report),
        "campaigns": selection.campaigns.order_by("pk"),
        "splits": splits,
        "split": split,
        "only_fallen": only_fallen,
        "n_fallen": len(fallen),
        "cards": _selection_cards(selection, len(fallen)),
        "chart": _chart_addresses(project, dataset),
        "members": [selectors.MemberNow(member, now.get(member.response_id)) for member in page],
        "next_url": f"?{urlencode({**narrowed, 'after': following})}#members" if following is not None else "",
        "first_url": f"?{urlencode(narrowed)}#members" if request.GET.get("after") else "",
        "rated_in": selectors.comparable_campaigns(selection),
        "uses": selectors.selection_uses(selection),
        "again": draft,
        "may_manage": may_manage(project),
    }
    return render(request, "annotation/seeds/seed_detail.html", context)


@require_POST
@object_view(dataset_or_404, Role.MANAGER)
def seed_rate(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    """Create a draft that collects two more ratings of each seed."""
    selection = get_selection_or_404(dataset)
    try:
        campaign = seeds_rate_again(selection=selection, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:seed-detail", request.project.slug, dataset.slug)
    messages.success(request, "This draft collects two more ratings of each seed. Check it, then launch it.")
    return redirect("annotation:campaign-step", request.project.slug, campaign.pk, "review")


@require_POST
@object_view(dataset_or_404, Role.MANAGER)
def seed_unselect(request: MemberRequest, dataset: Dataset) -> HttpResponse:
    done = "The selection was deleted, and its items have no splits."
    if perform(request, services.seeds_unselect, done, selection=get_selection_or_404(dataset)):
        return redirect("annotation:seed-list", request.project.slug)
    return redirect("annotation:seed-detail", request.project.slug, dataset.slug)
