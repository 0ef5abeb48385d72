"""Questions on raters' screens, rendered once for all screens that show them without an answer."""

from dataclasses import replace
from typing import Any

from django import template
from django.template import Context
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from annotation.rating.selectors.shown import Field, Question

register = template.Library()
TEMPLATE = "annotation/rating/rater_question.html"
SCREEN = "\ue000"  # stands for what identifies the screen in the names of fields


@register.simple_tag(takes_context=True)
def show_question(
    context: Context, question: Question, letter: str = "", turn: int | str = "", required: str = ""
) -> SafeString:
    """Return a question about a response with a letter, or about a turn of it."""
    if not question.is_blank:
        return _rendered(context, question, letter, turn, required)
    # The criteria of a launched campaign stay in memory, as they cannot change; those of a draft are read each time.
    known: dict[object, str] = vars(question.criterion).setdefault("_blank_questions", {})
    names = [field.name for field in question.fields]
    key = (*names, letter, turn, required, get_language())
    if key not in known:
        blank = replace(question, fields=[Field(name, f"{name}{SCREEN}") for name in names])
        known[key] = _rendered(context, blank, letter, turn, required)
    return mark_safe(known[key].replace(SCREEN, question.field.removeprefix(question.name)))  # noqa: S308 - a template's


def _rendered(context: Context, question: Question, letter: str, turn: int | str, required: str) -> SafeString:
    compiled: Any = get_template(TEMPLATE)
    with context.push(question=question, letter=letter, turn=turn, required=required):
        return SafeString(compiled.template.render(context))
