"""Lock and change rows of recruitments and provider accounts."""

from typing import Any, TypeVar

from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.models import ProviderAccount, Recruitment

AnyRow = TypeVar("AnyRow", Recruitment, ProviderAccount)


def locked(row: AnyRow) -> AnyRow:
    """Return the row as it is now, locked until the end of the transaction."""
    return type(row)._default_manager.select_for_update(of=("self",)).get(pk=row.pk)


@transaction.atomic
def options_change(row: AnyRow, **options: Any) -> AnyRow:
    """Set these options, with None removed, and leave the others; return the changed row."""
    fresh = locked(row)
    changed = {**fresh.options, **options}
    fresh.options = {name: value for name, value in changed.items() if value is not None or name not in options}
    fresh.save(update_fields=["options"])
    return fresh


def checked_name(name: str, longest: int) -> str:
    """Return a name without superfluous spaces; refuse an empty and a long one."""
    cleaned = " ".join(name.split())
    if not 1 <= len(cleaned) <= longest:
        raise AnnotationError.at("name", f"Found {len(cleaned)} characters; accepted: 1 to {longest}.")
    return cleaned
