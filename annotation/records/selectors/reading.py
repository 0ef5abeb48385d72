"""Reading the tables of a record: one consistent moment, a few thousand rows at a time."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.db import connection

from annotation.models import Campaign, RaterIdentity, Submission
from annotation.records.selectors.tables import AUDIT, Table

CHUNK = 2_000
BLANKED = "[id]"
SHORTEST_ID = 6  # shorter ones would blank ordinary words


def table_rows(table: Table, campaign: Campaign, *, json_as_text: bool = False) -> Iterator[tuple[Any, ...]]:
    """The rows from a server-side cursor, in memory that does not grow with them. Call it inside ``snapshot``."""
    written = [index for index, column in enumerate(table.columns) if column.kind == "json"]
    hidden = _provider_ids(campaign) if table is AUDIT else None
    with connection.chunked_cursor() as cursor:
        cursor.execute(table.query, {"campaign": campaign.pk})
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                values = list(row)
                if hidden:
                    values = [hidden.sub(BLANKED, one) if isinstance(one, str) else one for one in values]
                if not json_as_text:
                    for index in written:
                        values[index] = None if values[index] is None else json.loads(values[index])
                yield tuple(values)


def _provider_ids(campaign: Campaign) -> re.Pattern[str] | None:
    """What no record may show: the providers' ids of the campaign's raters and submissions."""
    raters = RaterIdentity.objects.filter(rater__participations__campaign=campaign).values_list(
        "external_id", flat=True
    )
    stays = Submission.objects.filter(recruitment__campaign=campaign).values_list("external_id", flat=True)
    ids = sorted({one for one in (*raters, *stays) if len(one) >= SHORTEST_ID}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ids))})(?!\w)") if ids else None
