"""Systems whose outputs are references themselves: what a metric says of them is circular."""

from collections.abc import Sequence

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Dataset, ResponseSource, SourceKind

LOOKED_AT = 500  # items, the first ones: enough to tell most outputs from some
PERFECT = "metrics without weights find these perfect, whatever raters think of them"


def systems_that_copy(dataset: Dataset) -> list[str]:
    """Return the systems most of whose outputs are, letter by letter, references of their items."""
    is_reference = ResponseSource.objects.filter(
        response=OuterRef("response"), kind__in=SourceKind.of_references()
    ).order_by()
    outputs = ResponseSource.objects.filter(
        kind=SourceKind.SYSTEM, system__dataset=dataset, item__position__lt=LOOKED_AT
    ).order_by()
    by_system = (
        outputs.annotate(copied=Exists(is_reference))
        .values("system__name")
        .annotate(n=Count("pk"), n_copied=Count("pk", filter=Q(copied=True)))
    )
    return sorted(each["system__name"] for each in by_system if 2 * each["n_copied"] > each["n"])


def copies_sentence(systems: Sequence[str]) -> str:
    """Return the warning about systems that copy references; empty if none does."""
    if not systems:
        return ""
    return f"Circular: most outputs of {' and '.join(systems)} are references themselves; {PERFECT}."
