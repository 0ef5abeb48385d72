"""Statistics of large releases, computed once by a worker. Those of small releases are computed on request."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.db.models import Max

from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.core.packing import unpacked
from annotation.models import FiguresPart, JobState, Release, ResponseSource
from annotation.references.releases.selectors.releases import release_campaigns
from annotation.weighting.schemes import SCHEMES

IN_REQUEST = 20_000  # with more references or judgements, a worker computes the statistics
FORMAT = 1  # of the stored content; part of the key
KEPT_SECONDS = 6 * 3600
Found = TypeVar("Found")


class FiguresAwaited(AnnotationError):
    """The statistics of a page are not computed yet."""

    def __init__(self, release: Release, part: FiguresPart) -> None:
        super().__init__(f"“{part.label}” of {release} is being computed; try again in a moment.")
        self.release, self.part = release, part


@dataclass(frozen=True)
class Figures(Generic[Found]):
    """One page's statistics: how to compute them, and how to convert them to plain data and arrays."""

    part: FiguresPart
    compute: Callable[[Release], Found]
    as_tree: Callable[[Found], Any]
    from_tree: Callable[[Any], Found]

    def of(self, release: Release, *, here: bool = False) -> Found:
        """Return stored statistics, or compute them; for a large release only if the caller can wait (``here``)."""
        key = figures_key(release, self.part)
        place = f"release-figures-{release.pk}-{self.part}-{key}"
        found: Found | None = cache.get(place)
        if found is None:
            found = self._find(release, key, here=here)
            cache.set(place, found, KEPT_SECONDS)
        return found

    def _find(self, release: Release, key: str, *, here: bool) -> Found:
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
        campaigns = sorted(release_campaigns(release), key=lambda one: one.pk)
        follows_from["asked"] = [[one.pk, one.ratings_per_unit, _newest(one.units, "position")] for one in campaigns]
        follows_from["newest"] = _newest(ResponseSource.objects.filter(item__dataset=dataset), "id")
    return hashlib.sha256(canonical_json(follows_from)).hexdigest()


def _newest(rows: Any, field: str) -> int | None:
    newest: int | None = rows.order_by().aggregate(newest=Max(field))["newest"]
    return newest
