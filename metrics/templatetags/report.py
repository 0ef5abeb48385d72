"""Numbers as a report writes them."""

from django import template
from django.template.defaultfilters import floatformat

from metrics.models import ScoreRun
from metrics.selectors.runs import metric_label
from metrics.subsets import Subset

register = template.Library()
MINUS = "−"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ID_SHOWN = 10


@register.filter
def percent(share: float | None) -> str:
    """A share in whole percent; what is not nothing is never written as 0, nor what is not all as 100."""
    if share is None:
        return "–"
    if 0.995 <= share < 1:
        return ">99 %"
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


@register.filter
def signed(value: float | None, places: int = 3) -> str:
    """With its sign, and a minus that is one; an undefined difference is a dash."""
    return "–" if value is None else f"{value:+.{places}f}".replace("-", MINUS)


@register.filter
def negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value  # of 0, not −0


@register.filter
def number(value: float | None, places: int | str = -1) -> str:
    """As ``floatformat``, with a minus that is one."""
    return floatformat(value, places).replace("-", MINUS)


@register.filter
def p_value(value: float | None) -> str:
    """To three places; what is not nothing is never written as 0."""
    if value is None or value != value:
        return "–"
    return "< 0.001" if value < 0.001 else number(value, 3)


@register.filter
def probability(value: float | None) -> str:
    """To five places; a small one to three digits and a power of ten, so that no quotient of two reads 0 / 0."""
    if value is None or value != value:
        return "–"
    if value == 0 or value >= 0.001:
        return number(value, 5)
    digits, power = f"{value:.2e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(SUPERSCRIPT)}"


@register.filter
def short_id(external_id: str) -> str:
    """The beginning of an id too long for a table; the whole of it belongs into the title beside."""
    return external_id if len(external_id) <= 2 * ID_SHOWN else f"{external_id[:ID_SHOWN]}…"


@register.filter
def references(subset_label: str) -> str:
    """The name of a subset in full: forms and commands call the single reference "original"."""
    return "single (the original)" if subset_label == "single" else subset_label


@register.filter
def run_label(run: ScoreRun) -> str:
    """The metric and which references it used."""
    return f"{metric_label(run)}, {references(Subset.from_mapping(run.subset).label)}"
