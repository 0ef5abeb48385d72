"""The references of a release as they are written to files: item by item, a few thousand rows at a time."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection

from annotation.models import Release

CHUNK = 2_000

# Ties of weight are ordered by the keys of their texts, which are the same on any machine.
QUERY = """
    SELECT i.external_id, i.context, i.message, i.meaning_representation, i.split,
           r.text, w.weight, w.rating_mean, w.n_ratings, w.standard_error, w.low, w.high, w.rating_spread, w.histogram,
           w.is_original,
           ARRAY(SELECT json_build_array(s.kind, system.name, s.rank, s.score, s.source_message, s.source_context)::text
                 FROM annotation_responsesource s LEFT JOIN annotation_system system ON system.id = s.system_id
                 WHERE s.response_id = w.response_id ORDER BY s.id)
    FROM annotation_releaseweight w
    JOIN annotation_item i ON i.id = w.item_id
    JOIN annotation_response r ON r.id = w.response_id
    WHERE w.release_id = %(release)s AND (%(split)s::text IS NULL OR i.split = %(split)s)
    ORDER BY i.position, w.weight DESC, r.text_key
"""


class Source(NamedTuple):
    kind: str
    system: str | None
    rank: int | None
    score: float | None
    message: str  # of the conversation that a mined text came from
    context: list[str]

    @property
    def name(self) -> str:
        return self.system or self.kind


class Reference(NamedTuple):
    text: str
    weight: float
    mean: float | None
    n: int
    standard_error: float | None
    low: float | None
    high: float | None
    spread: float | None
    histogram: list[int] | None
    original: bool
    sources: list[Source]

    @property
    def mined_from(self) -> Source | None:
        """Return the first source whose conversation is known, if any."""
        return next((source for source in self.sources if source.message or source.context), None)


class ReleasedItem(NamedTuple):
    external_id: str
    context: list[str]
    message: str
    meaning_representation: str
    split: str
    references: list[Reference]  # highest weight first


def released_items(release: Release, *, split: str | None = None) -> Iterator[ReleasedItem]:
    """Yield items in their order, of one split if given, in constant memory. Call it inside ``snapshot``."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(QUERY, {"release": release.pk, "split": split})
        for (external_id, context, message, meaning, split_of), rows in groupby(_rows(cursor), key=lambda row: row[:5]):
            yield ReleasedItem(external_id, context, message, meaning, split_of, [_reference(row[5:]) for row in rows])


def _rows(cursor: Any) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(CHUNK):
        yield from rows


def _reference(values: tuple[Any, ...]) -> Reference:
    sources = [Source(*json.loads(source)) for source in values[-1]]
    return Reference._make([*values[:-1], sources])
