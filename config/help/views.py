"""The pages of help. They need no account: nothing in them belongs to a project."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from config.help.contents import GUIDES
from config.help.documents import Heading, document, first_titles, index, picture
from config.help.folding import folded
from config.help.glossary import FIELD, FIVE
from config.help.searching import search
from correlations.published.registry import TABLES


@require_GET
def help_index(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()
    sections = index()
    values = {
        "query": query,
        "found": search(query) if query else [],
        "five": FIVE,
        "guides": dict(sections)[GUIDES],
        "sections": [(title, first_titles(documents), documents) for title, documents in sections if title != GUIDES],
    }
    return render(request, "help/help_index.html", values)


@require_GET
def glossary(request: HttpRequest) -> HttpResponse:
    contents = [Heading(2, term.name, term.anchor) for term in (*FIVE, *FIELD)]
    return render(request, "help/glossary.html", {"five": FIVE, "field": FIELD, "contents": contents})


@require_GET
def published_tables(request: HttpRequest) -> HttpResponse:
    """Set printed results beside those that are computed here."""
    return render(request, "help/published_tables.html", {"tables": TABLES})


@require_GET
def help_document(request: HttpRequest, name: str) -> HttpResponse:
    chosen = document(name)
    if chosen is None:
        raise Http404("There is no such document.")
    contents = [heading for heading in chosen.headings[1:] if heading.level <= 3]
    shown = {"document": chosen, "contents": contents, "folded": folded(chosen.html)}
    return render(request, "help/document.html", shown)


@require_GET
@cache_control(max_age=3600)
def help_picture(request: HttpRequest, name: str) -> FileResponse:
    found = picture(name)
    if found is None:
        raise Http404("There is no such picture.")
    path, content_type = found
    return FileResponse(path.open("rb"), content_type=content_type)
