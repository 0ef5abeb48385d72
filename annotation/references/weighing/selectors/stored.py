"""Statistics of large releases, computed once by a worker. Those of small releases are computed on request."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Manager, Max, QuerySet

from annotation.core.caching import cached
from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.core.packing import unpacked
from annotation.models import FiguresPart, JobState, Release, ResponseSource
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.weighting.schemes import SCHEMES

IN_REQUEST = 20_000  # with more references or judgements, a worker computes the statistics
FORMAT = 1  # of the stored content; part of the key
CACHE_SECONDS = 6 * 3600
Statistics = TypeVar("Statistics")


class FiguresAwaited(AnnotationError):
    """The statistics of a page are not computed yet."""

    def __init__(self, release: Release, part: FiguresPart) -> None:
        super().__init__(f"“{part.label}” of {release} is being computed; try again in a moment.")
        self.release, self.part = release, part


@dataclass(frozen=True)
class StoredStatistics(Generic[Statistics]):
    """One page's statistics: how to compute them, and how to convert them to plain data and arrays."""

    part: FiguresPart
    compute: Callable[[Release], Statistics]
    as_tree: Callable[[Statistics], Any]
    from_tree: Callable[[Any], Statistics]

    def of(self, release: Release, *, here: bool = False) -> Statistics:
        """Return stored statistics, or compute them; for a large release only if the caller can wait (``here``)."""
        key = figures_key(release, self.part)
        cache_key = f"release-figures-{release.pk}-{self.part}-{key}"
        return cached(cache_key, lambda: self._load_or_compute(release, key, here=here), CACHE_SECONDS)

    def _load_or_compute(self, release: Release, key: str, *, here: bool) -> Statistics:
        if not is_large(release):
            return self.compute(release)
        stored = release.figures.filter(part=self.part, key=key, state=JobState.DONE)
        content = stored.values_list("content", flat=True).first()
        if content is not None:
            return self.from_tree(unpacked(bytes(content)))
        if not here:
            raise FiguresAwaited(release, self.part)
        return self.compute(release)


def is_large(release: Release) -> bool:
    """Return whether a worker has to compute the statistics."""
    judgements: int = 0 if release.is_imported else release.report["ratings"]["judgements"]
    references: int = release.report["references"]["weighted"]
    return max(judgements, references) > IN_REQUEST


def figures_key(release: Release, part: FiguresPart) -> str:
    """Return a hash of everything the statistics depend on; for most pages that is the release alone."""
    follows_from: dict[str, Any] = {"format": FORMAT, "part": part, "content": release.content_hash}
    dataset = release.reference_set.dataset_id
    if part == FiguresPart.TEXTS:
        follows_from["newest"] = _newest(ResponseSource.objects.filter(system__dataset=dataset), "id")
    elif part == FiguresPart.SENSITIVITY:
        follows_from["schemes"] = list(SCHEMES)  # a new scheme is missing from what was stored before it
    elif part == FiguresPart.ATTENTION and not release.is_imported:
        # A running campaign may get more ratings per unit, and a text that it shows may become a reference.
        campaigns = sorted(release_campaigns(release), key=lambda campaign: campaign.pk)
        follows_from["asked"] = [
            [campaign.pk, _newest(campaign.amendments, "number"), _newest(campaign.units, "position")]
            for campaign in campaigns
        ]
        follows_from["newest"] = _newest(ResponseSource.objects.filter(item__dataset=dataset), "id")
    return hashlib.sha256(canonical_json(follows_from)).hexdigest()


def _newest(rows: QuerySet[Any] | Manager[Any], field: str) -> int | None:
    newest: int | None = rows.order_by().aggregate(newest=Max(field))["newest"]
    return newest
