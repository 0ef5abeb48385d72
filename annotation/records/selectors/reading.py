"""Read the tables of a record: one consistent moment, a few thousand rows at a time."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection

from annotation.models import Campaign, RaterIdentity, Submission
from annotation.records.selectors.tables import AUDIT, Table

CHUNK = 2_000
BLANKED = "[id]"
SHORTEST_ID = 6  # a shorter id would match ordinary words and numbers


def table_rows(table: Table, campaign: Campaign, *, json_as_text: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield rows from a server-side cursor, in memory that does not grow with them. Call it inside ``snapshot``."""
    json_at = [index for index, column in enumerate(table.columns) if column.kind == "json"]
    hidden = _provider_ids(campaign) if table is AUDIT else None
    with connection.chunked_cursor() as cursor:
        cursor.execute(table.query, {"campaign": campaign.pk})
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                values = list(row)
                if hidden:
                    values = [hidden.sub(BLANKED, value) if isinstance(value, str) else value for value in values]
                if not json_as_text:
                    for index in json_at:
                        values[index] = None if values[index] is None else json.loads(values[index])
                yield tuple(values)


def _provider_ids(campaign: Campaign) -> re.Pattern[str] | None:
    """Return a pattern of the providers' ids of the campaign's raters and submissions, which no record may show."""
    raters = RaterIdentity.objects.filter(rater__participations__campaign=campaign).values_list(
        "external_id", flat=True
    )
    stays = Submission.objects.filter(recruitment__campaign=campaign).values_list("external_id", flat=True)
    return words_pattern(long_ids({*raters, *stays}))


def long_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids that are no ordinary words, longest first, so that no part of a longer id is replaced."""
    return sorted((each for each in ids if len(each) >= SHORTEST_ID), key=len, reverse=True)


def words_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern of these words as whole words; None without words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)") if words else None
