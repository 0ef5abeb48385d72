"""What two requests at the same moment must not both do. The database decides; the second gets a refusal in words."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, models, transaction

from annotation.core.errors import AnnotationError


@contextmanager
def refused_if_taken(constraint: str, refusal: AnnotationError) -> Iterator[None]:
    """Raise ``refusal`` if the block violates this unique constraint; nothing that the block wrote stays.

    A service looks first whether a name is free, so that all mistakes are reported together. Another request can
    take it between that look and the write.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) != constraint:
            raise
        raise refusal from error


def is_kept(row: models.Model) -> bool:
    """Within a transaction: keep a row from being deleted until its end. Return False if it is deleted already."""
    rows = type(row)._default_manager.select_for_update(of=("self",), no_key=True).filter(pk=row.pk)
    return bool(rows.values_list("pk", flat=True))
