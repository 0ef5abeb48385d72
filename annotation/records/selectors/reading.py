"""Read the tables of a record: one consistent moment, a few thousand rows at a time."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from annotation.models import Campaign, Rater, RaterIdentity, Submission
from annotation.models.identities import IdentityUnreadable, of_unknown_key
from annotation.rating.pseudonyms import MADE_HERE
from annotation.records.selectors.tables import AUDIT, DECISIONS, NAMED, RULES, Table

CHUNK = 2_000
BLANKED = "[id]"
SHORTEST_ID = 6  # a shorter id would match ordinary words and numbers


def table_rows(table: Table, campaign: Campaign, *, json_as_text: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield rows from a server-side cursor, in memory that does not grow with them. Call it inside ``snapshot``."""
    json_at = [index for index, column in enumerate(table.columns) if column.kind == "json"]
    names = _names(campaign) if table in (AUDIT, RULES, DECISIONS) else {}
    hidden = _provider_ids(campaign) if table is AUDIT else None
    typed = words_pattern(sorted(names, key=len, reverse=True)) if table is AUDIT else None
    with connection.chunked_cursor() as cursor:
        cursor.execute(table.query, {"campaign": campaign.pk})
        while rows := cursor.fetchmany(CHUNK):
            for row in rows:
                values = list(row)
                if hidden:
                    values = [hidden.sub(BLANKED, value) if isinstance(value, str) else value for value in values]
                for index in json_at:
                    if values[index] is not None and (names or not json_as_text):
                        data = renamed(json.loads(values[index]), names)
                        values[index] = json.dumps(data, ensure_ascii=False) if json_as_text else data
                if typed:
                    values = [
                        typed.sub(lambda found: names[found[0]], value) if column.name == "summary" else value
                        for column, value in zip(table.columns, values, strict=True)
                    ]
                yield tuple(values)


def _names(campaign: Campaign) -> dict[str, str]:
    """Return what the project's raters typed as their names, each with what a record says instead."""
    raters = Rater.objects.filter(project=campaign.project_id).exclude(pseudonym__regex=f"^({MADE_HERE})$")
    return {name: f"{NAMED}{pk}" for pk, name in raters.values_list("pk", "pseudonym").iterator()}


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """Replace names that are whole values or keys; a name inside a text may be an ordinary word."""
    if isinstance(data, str):
        return names.get(data, data)
    if isinstance(data, list):
        return [renamed(entry, names) for entry in data]
    if isinstance(data, dict):
        return {names.get(key, key): renamed(value, names) for key, value in data.items()}
    return data


def redaction_check(campaign: Campaign) -> None:
    """Refuse if no key opens an id that is to be replaced in a record; call it before a file is begun."""
    if any(rows.filter(of_unknown_key()).exists() for rows in _identified(campaign)):
        raise IdentityUnreadable


def _identified(campaign: Campaign) -> tuple[QuerySet[RaterIdentity], QuerySet[Submission]]:
    raters = RaterIdentity.objects.filter(rater__participations__campaign=campaign)
    return raters, Submission.objects.filter(recruitment__campaign=campaign)


def _provider_ids(campaign: Campaign) -> re.Pattern[str] | None:
    """Return a pattern of the providers' ids of the campaign's raters and submissions, which no record may show."""
    raters, stays = _identified(campaign)
    rows: Iterable[RaterIdentity | Submission] = chain(raters.iterator(), stays.iterator())
    return words_pattern(long_ids({row.external_id for row in rows}))


def long_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids that are no ordinary words, longest first, so that no part of a longer id is replaced."""
    return sorted((each for each in ids if len(each) >= SHORTEST_ID), key=len, reverse=True)


def words_pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern of these words as whole words; None without words."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)") if words else None
