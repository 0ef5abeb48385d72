"""A choice of responses of a data set: kinds of source, and systems."""

from collections.abc import Sequence

from annotation.core.errors import AnnotationError
from annotation.models import Dataset, SourceKind


def check_sources(dataset: Dataset, kinds: Sequence[str], systems: Sequence[str]) -> None:
    """Refuse unknown kinds of source, and systems that the data set does not have."""
    accepted = SourceKind.of_references()
    unknown = sorted(set(kinds) - set(accepted))
    if unknown:
        message = f"Kind of source: found {unknown[0]!r}; accepted: {', '.join(accepted)}."
        raise AnnotationError.at("source_kinds", message)
    named = list(dataset.systems.order_by("name").values_list("name", flat=True))
    missing = sorted(set(systems) - set(named))
    if missing:
        has = ", ".join(named) or "none"
        message = f"System: found {missing[0]!r}; accepted: one of “{dataset}”: {has}."
        raise AnnotationError.at("source_systems", message)
