"""Filters that format numbers and names."""

import math
from collections.abc import Sequence

from django import template
from django.template.defaultfilters import floatformat
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.core.numbers import decimals, end_digits
from metrics.models import ScoreRun, SystemScore
from metrics.scoring import settings
from metrics.scoring.colours import metric_colour
from metrics.selectors.runs import metric_label
from metrics.selectors.zeros import zero_reason
from metrics.subsets import Subset

register = template.Library()
MINUS = "−"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ID_SHOWN = 10


@register.filter
def percent(share: float | None) -> str:
    """Return whole percent; only 0 is shown as 0, only 1 as 100."""
    if share is None:
        return "–"
    if 0.995 <= share < 1:
        return ">99 %"
    return "<1 %" if 0 < share < 0.005 else f"{round(100 * share)} %".replace("-", MINUS)


@register.filter
def signed(value: float | None, digits: int = 3) -> str:
    """Return a number with its sign, 0 without one; an undefined one is a dash."""
    return "–" if value is None else decimals(value, digits, plus=True)


@register.filter
def negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value  # of 0, not −0


@register.filter
def number(value: float | None, digits: int | str = -1) -> str:
    """Format as ``floatformat``, with a minus sign instead of a hyphen."""
    return floatformat(value, digits).replace("-", MINUS)


@register.filter
def nonzero(value: float | None, digits: int = 3) -> str:
    """Format as `number`, with a decimal more or as a bound if a value that is not 0 would be shown as 0.

    >>> nonzero(0.0003), nonzero(0.0), nonzero(0.1744), nonzero(-1e-9), nonzero(None)
    ('0.0003', '0.000', '0.174', '> −0.0001', '')
    """
    if value is None or not math.isfinite(value) or value == 0:
        return number(value, digits)
    for shown in (digits, digits + 1):
        if float(f"{value:.{shown}f}"):
            return number(value, shown)
    least = f"0.{'0' * digits}1"
    return f"< {least}" if value > 0 else f"> {MINUS}{least}"


@register.filter
def interval(ends: Sequence[float] | None, decimals: int | str = 2) -> str:
    """Write an interval as [low, high]; a dash if there is none."""
    return bounds(ends[0], ends[1], decimals) if ends else "–"


@register.simple_tag
def bounds(low: float, high: float, digits: int | str = 2) -> str:
    """Write an interval; an end that would round to 0 though the interval leaves out 0 has more digits.

    >>> bounds(0.004, 0.19), bounds(-0.004, 0.19)
    ('[0.004, 0.19]', '[0.00, 0.19]')
    """
    of_low, of_high = end_digits(low, high, int(digits)) if int(digits) > 0 else (digits, digits)
    return f"[{number(low, of_low)}, {number(high, of_high)}]"


@register.filter
def metric_dot(label: str) -> SafeString:
    """Return a dot in the metric's colour, which is the same on every page and in every chart."""
    light, dark = (metric_colour(label, theme) for theme in ("light", "dark"))
    return format_html('<i class="metric-dot" style="--light: {}; --dark: {}"></i>', light, dark)


@register.filter
def css(value: float) -> str:
    """Return a number as style sheets read it, whatever the language of the page."""
    return f"{value:g}"


@register.filter
def p_value(value: float | None) -> str:
    """Return three decimals; a non-zero value is never shown as 0."""
    if value is None or value != value:
        return "–"
    return "< 0.001" if value < 0.001 else number(value, 3)


@register.filter
def p_text(value: float | None) -> str:
    """Return a p-value as part of a sentence.

    >>> p_text(0.25), p_text(0.0001)
    ('p = 0.250', 'p < 0.001')
    """
    shown = p_value(value)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


@register.filter
def probability(value: float | None) -> str:
    """Return five decimals; a small value as a power of ten, so that no ratio reads 0 / 0."""
    if value is None or value != value:
        return "–"
    if value == 0 or value >= 0.001:
        return number(value, 5)
    digits, power = f"{value:.2e}".split("e")
    return f"{digits} × 10{str(int(power)).translate(SUPERSCRIPT)}"


@register.filter
def short_id(external_id: str) -> str:
    """Shorten an id that is too long for a table; show all of it in a title."""
    return external_id if len(external_id) <= 2 * ID_SHOWN else f"{external_id[:ID_SHOWN]}…"


@register.filter
def references(subset_label: str) -> str:
    """Return the full name of a subset: forms and commands call the single reference "original"."""
    return "single (the original)" if subset_label == "single" else subset_label


@register.filter
def why_zero(score: SystemScore, run: ScoreRun) -> str:
    return zero_reason(score, run)


@register.filter
def with_settings(label: str, signature: str) -> str:
    """Return a metric's label with the settings that depart from the field's usual ones."""
    return settings.with_settings(label, signature)


@register.filter
def run_label(run: ScoreRun) -> str:
    """Return the metric with its references."""
    name = with_settings(metric_label(run), run.signature)
    return f"{name}, {references(Subset.from_mapping(run.subset).label)}"
