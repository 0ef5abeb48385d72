"""Numbers of related rows, for lists of many."""

from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def count_of(rows: QuerySet[Any, Any], owner: str, counted: str = "pk", *, distinct: bool = False) -> Coalesce:
    """Return the number of ``rows`` whose column ``owner`` names the row of the outer query, for ``annotate``."""
    counts = rows.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
    number = counts.annotate(row_count=Count(counted, distinct=distinct)).values("row_count")
    return Coalesce(Subquery(number), 0, output_field=IntegerField())
