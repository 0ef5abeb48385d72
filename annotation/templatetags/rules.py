"""A filter that names exclusion rules in words."""

from django import template

from annotation.weighting.exclusion.registry import RULES

register = template.Library()


@register.filter
def rule_title(name: str) -> str:
    """Return the title of a rule; the name itself for a rule of an imported release that is not known here."""
    return RULES[name].title if name in RULES else name
