"""What the header's help says about the page, and addresses in the documents."""

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config.help.columns import COLUMNS, explanation
from config.help.pages import Page, page_of

register = template.Library()


@register.simple_tag(takes_context=True)
def about_page(context: Context) -> Page | None:
    """Return what help says of the page that is shown, or None."""
    match = getattr(context.get("request"), "resolver_match", None)
    return page_of(match.view_name) if match else None


@register.filter
def document_url(source: str) -> str:
    """Return the address of ``document#heading`` in the product."""
    name, _, anchor = source.partition("#")
    return reverse("help-document", args=[name]) + (f"#{anchor}" if anchor else "")


@register.simple_tag
def th(table: str, label: str, classes: str = "", rowspan: int = 1) -> SafeString:
    """Return the header of a column; one with an explanation shows it on hover and focus (``static/js/headers.js``)."""
    text = explanation(table, label)
    span = format_html(' rowspan="{}"', rowspan) if rowspan > 1 else ""
    look = format_html(' class="{}"', classes) if classes else ""
    inner = format_html('<button class="explained" type="button" title="{}" data-column-note>{}</button>', text, label)
    return format_html('<th scope="col"{}{}>{}</th>', span, look, inner if text else label)


@register.simple_tag
def explain(table: str, label: str) -> SafeString:
    """Return attributes for a link in a header, such as one that sorts, that explain its column."""
    text = explanation(table, label)
    return format_html('title="{}" data-column-note', text) if text else SafeString()


@register.inclusion_tag("components/column_notes.html")
def column_notes(table: str) -> dict[str, object]:
    """Return the explanations of a table as a list, for phones: there rows are cards, without headers."""
    return {"columns": COLUMNS[table].items()}


@register.simple_tag(takes_context=True)
def api_examples(context: Context) -> list[dict[str, str]]:
    """Return first requests to this very installation, to copy."""
    here = context["request"].build_absolute_uri("/api/v1/")
    header = "-H 'Authorization: Token YOUR-TOKEN'"
    body = "-H 'Content-Type: application/json' -d"
    return [
        {
            "id": "example-token",
            "what": "the request for a token",
            "text": "A token for your username and password; it works for 30 days.",
            "command": f"curl {here}token/ -d username=YOU -d password=PASSWORD -d name=Notebook",
        },
        {
            "id": "example-projects",
            "what": "the request for your projects",
            "text": "Your projects, and your role in each.",
            "command": f"curl {here}projects/ {header}",
        },
        {
            "id": "example-import",
            "what": "the request for an import",
            "text": "Import a data set. The answer is a job: ask its url until it is done.",
            "command": f"curl {here}projects/PROJECT/dataset-imports/ {header} "
            "-F name='Small talk' -F file=@dataset.jsonl",
        },
        {
            "id": "example-run",
            "what": "the request for scores",
            "text": "Score two systems with weighted references.",
            "command": f"curl {here}projects/PROJECT/score-runs/ {header} {body} "
            '\'{"release": "gold/v1", "systems": ["SystemA", "SystemB"], "metric": "delta_bleu"}\'',
        },
    ]
