"""Studies of either kind: list, create, watch, read."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.core.access import may_manage
from annotation.core.job_views import job_part
from annotation.core.parameters import whole_number
from annotation.core.views import MemberRequest, object_view, project_view
from annotation.models import JobState, Project, Role
from annotation.rating.selectors.overlaps import overlaps
from annotation.references.sets.selectors import without_equal_weights
from correlations.forms.specifications import SpecificationForm
from correlations.models import Study
from correlations.selectors.compared import finished_studies
from correlations.selectors.joint import datasets_to_study, joint_studies
from correlations.selectors.lists import AnyStudy, study_page
from correlations.selectors.metrics import study_warning, usual_texts
from correlations.views.kinds import AnyResult, Kind, StudyPage, study_page_or_404
from metrics.views.runs import chosen_texts

MOST_JOINT = 50  # studies over several data sets that the list shows


@require_GET
@project_view(Role.VIEWER)
def study_list(request: MemberRequest, kind: Kind[AnyStudy, AnyResult]) -> HttpResponse:
    project, before = request.project, whole_number(request, "before")
    studies, older = study_page(kind.model, project, before=before)
    rows = [
        (study, kind.url("detail", project, study.pk), [(name, cell(study)) for name, cell in kind.cells.items()])
        for study in studies
    ]
    context = {
        "project": project,
        "kind": kind,
        "here": kind.title,
        "trail": _trail(kind, project)[:-1],
        "new_label": kind.label("New"),
        "none_label": f"{kind.label('No')} yet",
        "all_label": kind.label("All", plural=True),
        "rows": rows,
        "older_url": f"?before={older}" if older else "",
        "newest_url": "" if before is None else "?",
        "may_create": may_manage(project),
        "create_url": kind.url("create", project),
        "csv_url": kind.url("list-download", project, "csv"),
        "json_url": kind.url("list-download", project, "json"),
        "compare_url": _compare_url(kind, project),
        "joint_studies": joint_studies(project)[:MOST_JOINT] if kind.model is Study else [],
        "joint_url": _joint_url(kind, project),
        "verify_url": reverse("correlations:study-verification-list", args=[project.slug]),
    }
    return render(request, "correlations/study_list.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.MANAGER)
def study_create(request: MemberRequest, kind: Kind[AnyStudy, AnyResult]) -> HttpResponse:
    project = request.project
    texts = chosen_texts(request, usual=usual_texts(project) if kind.model is Study else None)
    context: dict[str, Any] = {
        "project": project,
        "title": kind.label("New"),
        "subtitle": kind.purpose,
        "here": "New",
        "trail": _trail(kind, project),
        "list_url": kind.url("list", project),
        "create_url": kind.url("create", project),
        "texts": texts,
        "release": texts.release,
        "datasets_without_weights": without_equal_weights(project),
        "specification_form": SpecificationForm(auto_id="of_%s"),
    }
    if texts.dataset is not None:
        form, form_context = kind.form(request, texts.dataset, texts.release)
        if result := form.submit(kind.create, project=project, by=request.user):
            study, created = result
            if created:
                kind.task.delay_on_commit(study.pk)
                for each in overlaps(list(study.campaigns.order_by("name"))):
                    messages.warning(request, each.sentence)
            else:
                messages.info(request, "Opened the existing study with these settings.")
            return redirect(kind.url("detail", project, study.pk))
        context |= {"form": form, **form_context}
    return render(request, kind.template("create"), context)


@require_GET
@object_view(study_page_or_404, Role.VIEWER)
def study_detail(request: MemberRequest, page: StudyPage[AnyStudy, AnyResult]) -> HttpResponse:
    project, kind, study = request.project, page.kind, page.study
    context: dict[str, Any] = {"project": project, "study": study, "may_manage": may_manage(project)}
    if request.htmx:
        return job_part(request, study, "correlations/_study_status.html", context)
    context |= {
        "eyebrow": kind.eyebrow(study),
        "here": study.name,
        "trail": _trail(kind, project),
        "report": kind.template("report"),
        "retry_url": kind.url("retry", project, study.pk),
        "verify_url": kind.url("verify", project, study.pk),
        "spec": study.specification,
    }
    if study.state == JobState.DONE:
        context |= kind.report(study, page.result) | {"tokenizer_warning": study_warning(study)}
    return render(request, "correlations/study_detail.html", context)


def _compare_url(kind: Kind[AnyStudy, AnyResult], project: Project) -> str:
    """Return where ticked studies are compared; empty while there are not two finished ones, and for other kinds."""
    if kind.model is not Study or finished_studies(project).count() < 2:
        return ""
    return reverse("correlations:study-compare", args=[project.slug])


def _joint_url(kind: Kind[AnyStudy, AnyResult], project: Project) -> str:
    """Return where a study over several data sets is started; empty without two, for viewers, and for other kinds."""
    if kind.model is not Study or not may_manage(project) or len(datasets_to_study(project)) < 2:
        return ""
    return reverse("correlations:study-joint-start", args=[project.slug])


def _trail(kind: Kind[AnyStudy, AnyResult], project: Project) -> list[tuple[str, str]]:
    """Return the titles and addresses of the lists above a page: studies, and those of another kind."""
    studies = ("Studies", reverse("correlations:study-list", args=[project.slug]))
    return list(dict.fromkeys([studies, (kind.title, kind.url("list", project))]))
