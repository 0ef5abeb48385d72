"""A campaign's records: the complete log, its tables, the methods paragraph, the datasheet."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.exports import CONTENT_TYPES, file_response, table_response
from annotation.core.forms import AGAIN
from annotation.core.markdown import markdown
from annotation.core.parameters import whole_numbers
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, CampaignState, Project, Role
from annotation.models.identities import IdentityUnreadable
from annotation.quality.selectors.amendments import amendments
from annotation.quality.services.amendments import chain_check
from annotation.records.selectors.facts import Facts, campaign_facts
from annotation.records.selectors.reading import redaction_check
from annotation.records.selectors.tables import AUDIT, TABLES, tables_of
from annotation.records.services import datasheet as sheets
from annotation.records.services.archive import TABLE_FORMATS, column_types, record_chunks, single_rows
from annotation.records.services.heds import FORM_URL, REFERENCE
from annotation.records.services.methods import methods_bibtex, methods_latex, methods_sentences, methods_text
from annotation.records.services.papers import record_documents

SOURCES = {  # the page with a sentence's numbers: the first of these that exists
    "design": ("campaign-design", "campaign-detail"),
    "raters": ("campaign-raters",),
    "ratings": ("campaign-ratings",),
    "quality": ("campaign-quality", "campaign-monitor-fragment"),
    "payment": ("campaign-recruitments", "campaign-raters"),
    "audit": ("campaign-audit", "campaign-records"),
    "presentations": ("campaign-records",),
}


class MethodsFile(NamedTuple):
    """A form of the methods paragraph: as a part of its page, and as a file."""

    key: str
    title: str
    label: str
    content_type: str
    write: Callable[[Facts], str]


METHODS = {
    "txt": MethodsFile("text", "Methods paragraph", "Text", "text/plain", methods_text),
    "tex": MethodsFile("latex", "LaTeX", ".tex", "application/x-tex", methods_latex),
    "bib": MethodsFile(
        "bibtex", "BibTeX", ".bib", "application/x-bibtex", lambda facts: methods_bibtex(facts.campaign)
    ),
}
CHECK_TABLES = ("check_units", "check_answers")
PERSONAL_TABLES = ("rater_answers",)
PERSONAL_REFUSED = "What raters answered about themselves is for managers; viewers see how often each answer was given."
CHECKS_REFUSED = "The known answers of checks are for managers until the campaign is closed."


def _refusal(project: Project, campaign: Campaign, *tables: str) -> str:
    """Return why someone may not see one of these tables; empty if all may be seen."""
    if may_manage(project):
        return ""
    if campaign.state != CampaignState.CLOSED and set(tables) & set(CHECK_TABLES):
        return CHECKS_REFUSED
    return PERSONAL_REFUSED if set(tables) & set(PERSONAL_TABLES) else ""


def _unreadable(request: HttpRequest, campaign: Campaign) -> HttpResponse | None:
    """Return the way back, with the reason, if ids of raters could not be replaced in the log."""
    try:
        redaction_check(campaign)
    except IdentityUnreadable as error:
        messages.error(request, f"{error.message} Until then no log is written: ids could not be replaced in it.")
        return redirect("annotation:campaign-records", campaign.project.slug, campaign.pk)
    return None


def _personal(campaign: Campaign) -> tuple[str, ...]:
    """Return the tables of personal data that the campaign's record has rows of."""
    return PERSONAL_TABLES if campaign.questions else ()


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_records(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    context = {
        "project": request.project,
        "campaign": campaign,
        "tables": [table for table in tables_of(campaign) if not _refusal(request.project, campaign, table.name)],
        "refusal": _refusal(request.project, campaign, *CHECK_TABLES, *_personal(campaign)),
        "may_search": Role(request.membership.role) == Role.OWNER,
    }
    return render(request, "annotation/records/campaign_records.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_record_amendments(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    """Check the amendments' chain of hashes now, and show the result."""
    context = {
        "project": request.project,
        "campaign": campaign,
        "check": chain_check(campaign),
        "amendments": amendments(campaign),
    }
    return render(request, "annotation/records/campaign_records_amendments.html", context)


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_record_download(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    """Write the complete record while it is sent. ``?parquet=0`` leaves Parquet out."""
    if refusal := _refusal(request.project, campaign, *CHECK_TABLES, *_personal(campaign)):
        raise PermissionDenied(refusal)
    if unreadable := _unreadable(request, campaign):
        return unreadable
    formats = TABLE_FORMATS[:1] if request.GET.get("parquet") == "0" else TABLE_FORMATS
    chunks = record_chunks(campaign, formats=formats, documents=record_documents)
    return file_response(chunks, "application/zip", f"{request.project.slug}-campaign-{campaign.pk}-record.zip")


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_record_table(request: MemberRequest, campaign: Campaign, name: str, file_format: str) -> HttpResponseBase:
    if name not in TABLES or file_format not in CONTENT_TYPES:
        raise Http404(
            f"No table {name!r} as {file_format!r}; there are {', '.join(TABLES)} as {', '.join(CONTENT_TYPES)}."
        )
    if refusal := _refusal(request.project, campaign, name):
        raise PermissionDenied(refusal)
    table = TABLES[name]
    if table is AUDIT and (unreadable := _unreadable(request, campaign)):
        return unreadable
    return table_response(
        format=file_format,
        filename=f"{request.project.slug}-campaign-{campaign.pk}-{name}",
        columns=[column.name for column in table.columns],
        rows=single_rows(table, campaign, json_as_text=file_format == "parquet"),
        types=column_types(table),
    )


@require_GET
@object_view(campaign_or_404, Role.VIEWER)
def campaign_record_methods(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    """Show the paragraph with a link to the source of each sentence, or return it as a file."""
    facts = campaign_facts(campaign)
    if ending := request.GET.get("format"):
        if ending not in METHODS:
            raise Http404(f"No methods paragraph as {ending!r}; there are {', '.join(METHODS)}.")
        file = METHODS[ending]
        name = f"campaign-{campaign.pk}-methods.{ending}"
        return file_response(file.write(facts), f"{file.content_type}; charset=utf-8", name)
    links = {source: _first_page(names, request.project, campaign) for source, names in SOURCES.items()}
    context = {
        "project": request.project,
        "campaign": campaign,
        "sentences": [(each.text, each.source, links[each.source]) for each in methods_sentences(facts)],
        "parts": [file._asdict() | {"ending": ending, "text": file.write(facts)} for ending, file in METHODS.items()],
    }
    return render(request, "annotation/records/campaign_records_methods.html", context)


def _first_page(names: Iterable[str], project: Project, campaign: Campaign) -> str:
    for name in names:
        try:
            return reverse(f"annotation:{name}", args=[project.slug, campaign.pk])
        except NoReverseMatch:
            continue
    return reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.VIEWER, post=Role.MANAGER)
def campaign_record_datasheet(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    project = request.project
    sheet = sheets.sheet_of(campaign_facts(campaign))
    if ending := request.GET.get("format"):
        return _sheet_file(sheet, ending)
    errors: dict[str, list[str]] = {}
    refusal, version = "", sheets.sheet_version(sheet)
    if request.method == "POST":
        given, seen = _given_answers(request, sheet), request.POST.get("version", "")
        try:
            sheets.datasheet_update(campaign=campaign, answers=given, seen=seen, by=request.user)
        except Overtaken as error:
            refusal, errors, version = f"{error.message} {AGAIN}", error.fields, error.version
            sheet = sheets.with_answers(sheet, given)
        except AnnotationError as error:
            n = len(error.fields)
            refusal = f"Nothing was saved: {n} answer{pluralize(n)} cannot be saved. See below."
            errors, version = error.fields, seen
            sheet = sheets.with_answers(sheet, given)
        else:
            messages.success(request, "Saved.")
            return redirect("annotation:campaign-record-datasheet", project.slug, campaign.pk)
    context = {
        "project": project,
        "campaign": campaign,
        "sheet": sheet,
        "errors": errors,
        "refusal": refusal,
        "version": version,
        "may_manage": may_manage(project),
        "reference": REFERENCE,
        "form_url": FORM_URL,
    }
    return render(request, "annotation/records/campaign_records_datasheet.html", context)


def _given_answers(request: HttpRequest, sheet: sheets.Sheet) -> dict[str, sheets.ManagerAnswer]:
    """Return the form's answers to the questions that the record leaves open; an option is a number."""
    return {
        entry.key: sheets.ManagerAnswer(
            request.POST.get(f"text-{entry.key}", "").replace("\r\n", "\n").strip(),
            tuple(sorted(whole_numbers(request.POST, f"option-{entry.key}"))),
        )
        for entry in sheet.entries
        if not entry.is_final
    }


def _sheet_page(sheet: sheets.Sheet) -> str:
    context: dict[str, Any] = {"campaign": sheet.facts.campaign, "body": markdown(sheets.sheet_markdown(sheet))}
    return render_to_string("annotation/records/campaign_records_datasheet_file.html", context)


SHEETS: dict[str, tuple[str, Callable[[sheets.Sheet], str]]] = {
    "md": ("text/markdown; charset=utf-8", sheets.sheet_markdown),
    "html": ("text/html; charset=utf-8", _sheet_page),
    "json": ("application/json", sheets.sheet_json),
}


def _sheet_file(sheet: sheets.Sheet, ending: str) -> HttpResponseBase:
    if ending not in SHEETS:
        raise Http404(f"No datasheet as {ending!r}; there are {', '.join(SHEETS)}.")
    content_type, write = SHEETS[ending]
    return file_response(write(sheet), content_type, f"campaign-{sheet.facts.campaign.pk}-heds.{ending}")
