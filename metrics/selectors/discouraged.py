"""References of a release that an output should not match, which metrics without weights reward all the same."""

from django.db.models import Q
from django.utils.html import format_html

from annotation.core.numbers import counted
from annotation.models import Release, SourceKind


def bad_references_warning(release: Release) -> str:
    """Return what speaks against all references of a release and which to take instead; empty if nothing does."""
    negative, random = Q(weight__lt=0), Q(response__sources__kind=SourceKind.RANDOM)
    has_negative, has_random = (release.weights.filter(each).exists() for each in (negative, random))
    if not (has_negative or has_random):
        return ""
    n = release.weights.filter(negative | random).order_by().values("pk").distinct().count()
    kinds = " or ".join([*(["random"] if has_random else []), *(["of negative weight"] if has_negative else [])])
    if has_random:
        kinds = f"that {'is' if n == 1 else 'are'} {kinds}"
    return format_html(
        "“all” has {} {}: metrics that read no weights, such as BLEU and chrF, reward an output for matching "
        "these, too; for such metrics write <code>w&gt;0</code>, the references that raters found good.",
        counted(n, "reference"),
        kinds,
    )
