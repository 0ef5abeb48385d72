"""Hashes of what raters wrote, and of what they answered about themselves.

A rater is named by the place among the project's raters, as in the hash of ratings: pseudonyms can be erased.
"""

import hashlib
from collections.abc import Iterable, Iterator

from annotation.core.canonical import canonical_json
from annotation.models import Campaign, RaterAnswer, WrittenText
from annotation.rating.selectors.ratings import rater_places
from annotation.transfer.registry import Hashed

WRITTEN = (
    "presentation__unit__item__external_id",
    "rater_id",
    "given__text_key",
    "text",
    "revision",
    "pasted",
    "remarks",
)


def hashes_of_raters(campaign: Campaign) -> Iterator[Hashed]:
    """Yield a hash of each that there is."""
    places = rater_places(campaign.project_id)
    texts = WrittenText.objects.filter(campaign=campaign).order_by("pk").values_list(*WRITTEN)
    answers = RaterAnswer.objects.filter(participation__campaign=campaign).order_by("pk")
    answered = answers.values_list("participation__rater_id", "question", "values")
    written = [(item, places[rater], *rest) for item, rater, *rest in texts]
    about = [(places[rater], *rest) for rater, *rest in answered]
    for kind, rows in (("texts by raters", written), ("answers of raters", about)):
        if rows:
            yield Hashed(kind, campaign.name, _digest(rows))


def _digest(rows: Iterable[tuple[object, ...]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(canonical_json(list(row)) + b"\n")
    return digest.hexdigest()
