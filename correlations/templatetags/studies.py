"""Charts, download menus and progress of a study, with their addresses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from annotation.core.access import may_manage
from annotation.core.waiting import queue_text, time_left
from annotation.models import JobState
from correlations.models import ParameterStudy, Study, StudyVerification
from correlations.results.study import Comparison, StudyResult, StudyRow
from correlations.selectors import reports
from correlations.selectors import trained as trained_selectors
from correlations.selectors.changes import changes_since, same_texts
from correlations.selectors.metrics import Offered
from correlations.selectors.stated_scales import studies_of_run
from correlations.selectors.tuned import MARK, WHY
from correlations.selectors.verifications import is_equal, latest_verification, outcome_sentence
from correlations.selectors.worth import saved_in_words
from correlations.services.reports import FILES, report_sizes
from metrics.models import ScoreRun
from metrics.selectors.score_scales import RunScale
from metrics.templatetags.report import references

SIGNED = re.compile(r" %|(?: [=<>≥] )(?=[\d−])")
NAMED = 3  # studies that read a run

register = template.Library()


@register.inclusion_tag("components/chart.html", takes_context=True)
def study_chart(
    context: Context, figure: str, title: str, *, table: str = "", caption: str = "", anchor: str = ""
) -> dict[str, str]:
    """Show a chart of the study, with downloads of the chart and of a table."""
    images = {
        f"{file_format}_url": _address(context, "figure-download", figure, file_format)
        for file_format in ("svg", "png", "pdf")
    }
    tables = _table_addresses(context, table) if table else {}
    chart = {"title": title, "caption": caption, "id": anchor, "spec_url": _address(context, "figure", figure)}
    return chart | images | tables


@register.inclusion_tag("components/download_menu.html", takes_context=True)
def study_download(context: Context, table: str, of: str, label: str = "") -> dict[str, str]:
    """Show the download menu of one table of the study, or of the whole study; two side by side need labels."""
    if table == "study":
        return {"of": of, "json_url": _address(context, "download", table, "json")}
    return {"of": of, "label": label} | _table_addresses(context, table)


@register.inclusion_tag("correlations/parts/changes.html", takes_context=True)
def study_changes(context: Context) -> dict[str, str]:
    """Say that ratings have changed since the study was computed, and lead managers to computing it again."""
    study: Study | ParameterStudy = context["study"]
    changes = changes_since(study)
    if not changes or not may_manage(context["project"]):
        return {"changes": changes}
    return {"changes": changes, "again_url": study_again_url(context)}


@register.simple_tag(takes_context=True)
def study_again_url(context: Context) -> str:
    """Return the address of the form that begins with the study's texts and settings."""
    study: Study | ParameterStudy = context["study"]
    name = "parameter-study-create" if isinstance(study, ParameterStudy) else "study-create"
    url = reverse(f"correlations:{name}", args=[context["project"].slug])
    return f"{url}?{urlencode(same_texts(study))}"


@register.simple_tag
def tuned() -> SafeString:
    """Mark a number that was chosen as the best one on the items that it is reported on."""
    return mark_safe(render_to_string("components/tuned.html", {"mark": MARK, "why": WHY}).strip())  # noqa: S308


@register.simple_tag(takes_context=True)
def trained(context: Context, row: StudyRow) -> SafeString:
    """Mark a row whose metric's model was trained on the outputs that it is about; nothing for other rows."""
    if trained_selectors.trained_on(context["study"], row) is None:
        return SafeString("")
    mark = {"mark": trained_selectors.MARK, "why": trained_selectors.WHY}
    return mark_safe(render_to_string("components/tuned.html", mark).strip())  # noqa: S308


@register.inclusion_tag("components/job_status.html", takes_context=True)
def study_status(context: Context) -> dict[str, Any]:
    """Show how far an unfinished study is; the part refreshes itself."""
    study = context["study"]
    status = {"id": "study-status", "status": study.state}
    if study.state == JobState.FAILED:
        return status | {"message": study.error}
    status |= {"poll_url": _address(context, "detail"), "every": "1s", "csrf_token": context["csrf_token"]}
    if context["may_manage"]:
        status["cancel_url"] = _address(context, "cancel")
    if study.state == JobState.QUEUED:
        return status | {"message": queue_text(study)}
    return status | {"value": study.percent, "total": 100, "stage": study.progress_note, "left": time_left(study)}


@register.inclusion_tag("components/job_status.html", takes_context=True)
def verification_status(context: Context) -> dict[str, Any]:
    """Show how far a verification is; the part refreshes itself."""
    job = context["verification"]
    status = {"id": "verification-status", "status": job.state}
    if job.is_finished:
        return status | {"message": job.error}
    address = [context["project"].slug, job.pk]
    status |= {"poll_url": reverse("correlations:study-verification-detail", args=address)}
    if context["may_manage"]:
        cancel_url = reverse("correlations:study-verification-cancel", args=address)
        status |= {"cancel_url": cancel_url, "csrf_token": context["csrf_token"]}
    if job.state == JobState.QUEUED:
        return status | {"message": queue_text(job)}
    return status | {"value": job.percent, "total": 100, "stage": job.progress_note, "left": time_left(job)}


@register.inclusion_tag("correlations/parts/verified.html", takes_context=True)
def verified(context: Context) -> dict[str, Any]:
    """Show when a study was last computed again, and whether every number is the same."""
    study, project = context["study"], context["project"]
    latest, field = latest_verification(study), StudyVerification.field_of(type(study))
    sentence = outcome_sentence(latest.outcome) if latest is not None and latest.outcome else ""
    return {
        "latest": latest,
        "sentence": sentence,
        "url": latest and reverse("correlations:study-verification-detail", args=[project.slug, latest.pk]),
        "differs": bool(sentence) and latest is not None and not is_equal(latest),
        "n": study.verifications.count(),
        "list_url": f"{reverse('correlations:study-verification-list', args=[project.slug])}?{field}={study.pk}",
    }


@register.filter
def row_references(row: StudyRow) -> str:
    """Return the references of a row as a table shows them."""
    return references(reports.row_references(row))


@register.filter
def side_references(comparison: Comparison, result: StudyResult) -> tuple[str, str]:
    """Return the references of both sides of a comparison as a table shows them."""
    first, second = reports.side_references(comparison, result)
    return references(first), references(second)


@register.filter
def entry(mapping: Mapping[str, Any], name: str) -> Any:
    """Return the entry of a mapping that a variable names."""
    return mapping[name]


@register.filter
def beside(left: Iterable[Any], right: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return the entries of two lists of one length, side by side."""
    return list(zip(left, right, strict=True))


@register.inclusion_tag("correlations/parts/report_menu.html", takes_context=True)
def report_menu(context: Context) -> dict[str, Any]:
    """Show the menu of the report's files, with the sizes of those made lately, and of a study's specification."""
    sizes = report_sizes(context["study"])
    files = [
        {
            "label": each.label,
            "purpose": each.purpose,
            "icon": each.icon,
            "size": sizes.get(each.ending),
            "url": _address(context, "report", each.ending),
        }
        for each in FILES.values()
    ]
    is_study = isinstance(context["study"], Study)
    return {"files": files, "specification_url": _address(context, "specification") if is_study else ""}


@register.filter
def choosable(offered: Mapping[str, Sequence[Offered]]) -> list[tuple[str, list[Offered]]]:
    """Return the groups of metrics with those of each that can be chosen; no group without any."""
    groups = ((group, [each for each in metrics if not each.missing]) for group, metrics in offered.items())
    return [(group, metrics) for group, metrics in groups if metrics]


@register.filter
def not_choosable(offered: Mapping[str, Sequence[Offered]]) -> list[Offered]:
    return [each for metrics in offered.values() for each in metrics if each.missing]


@register.filter
def ratings_saved(saved: float | None) -> str:
    return saved_in_words(saved)


@register.filter
def unbroken(text: str) -> str:
    """Return a sentence whose numbers stay on one line with their signs: “88 %”, “p = 0.012”, “w > 0”."""
    return SIGNED.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


@register.simple_tag
def studies_with(run: ScoreRun) -> list[Study]:
    """Return the finished studies that read these imported scores, newest first."""
    return studies_of_run(run)[:NAMED]


@register.simple_tag
def scale_of_run(run: ScoreRun) -> RunScale:
    """Return the scale that an imported run's scores are taken to have."""
    return RunScale.of(run)


@register.simple_tag
def corrected_runs(run: ScoreRun) -> list[ScoreRun]:
    """Return the runs of the same scores on a scale that was stated later, newest first."""
    alike = ScoreRun.objects.filter(project=run.project_id, dataset=run.dataset_id, metric=run.metric)
    corrected = alike.filter(report__imported__corrects=run.number)
    return list(corrected.order_by("-number").defer("report")[:NAMED])


def _table_addresses(context: Context, table: str) -> dict[str, str]:
    return {f"{file_format}_url": _address(context, "download", table, file_format) for file_format in ("csv", "json")}


def _address(context: Context, view: str, *args: Any) -> str:
    study = context["study"]
    kind = str(study._meta.verbose_name).replace(" ", "-")
    return reverse(f"correlations:{kind}-{view}", args=[context["project"].slug, study.pk, *args])
