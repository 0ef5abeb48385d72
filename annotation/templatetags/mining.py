"""Labels for candidates and their outcomes."""

from django import template

from annotation.mining.forms import KINDS
from annotation.mining.forms import step_label as label_of_step

register = template.Library()
FATES = {"kept": "kept", "duplicate": "not kept", "dropped": "dropped"}


@register.filter
def step_label(step: str) -> str:
    return label_of_step(step)


@register.filter
def fate_label(fate: str) -> str:
    return FATES.get(fate, fate)


@register.filter
def near_label(name: str) -> str:
    """Name the text that a candidate nearly repeats, in a sentence: the seed, the parrot, mined 3."""
    return f"the {name.removesuffix(' 1')}" if name.startswith(("seed", "parrot")) else name


@register.filter
def kind_label(kind: str) -> str:
    labels = {source.value: label for source, label in KINDS.items()} | {"parrot": "Parrot"}
    return labels.get(kind, kind)
