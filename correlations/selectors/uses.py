"""The uses of a response: score runs and studies over the releases that weigh it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from annotation.models import JobState, Release, Response
from annotation.references.releases.selectors.releases import release_name
from correlations.models import ParameterStudy, Study
from metrics.models import ScoreRun
from metrics.selectors.runs import metric_label
from metrics.subsets import Subset

USE_COLUMNS = ("release", "deprecated", "kind", "id", "name", "state", "created_at")


class Use(NamedTuple):
    release: Release
    kind: str  # score run | study | parameter study
    pk: int
    name: str
    state: str
    created_at: datetime


def response_uses(response: Response) -> list[Use]:
    """Return uses, newest release first; within it parameter studies, score runs, studies, newest first."""
    releases = Release.objects.filter(weights__response=response, state=JobState.DONE).select_related("reference_set")
    ordered = list(releases.order_by("-finished_at", "-pk"))
    by_pk: dict[int | None, Release] = {release.pk: release for release in ordered}
    runs = ScoreRun.objects.filter(release__in=ordered).defer("report")
    uses = [Use(by_pk[run.release_id], "score run", run.pk, _run_name(run), run.state, run.created_at) for run in runs]
    for model in (Study, ParameterStudy):
        kind = str(model._meta.verbose_name)
        studies = model.objects.filter(release__in=ordered).defer("result", "specification")
        uses += [Use(by_pk[each.release_id], kind, each.pk, each.name, each.state, each.created_at) for each in studies]
    return sorted(uses, key=lambda use: (ordered.index(use.release), use.kind, -use.pk))


def _run_name(run: ScoreRun) -> str:
    return f"{metric_label(run)}, {Subset.from_mapping(run.subset).label}"


def use_rows(uses: list[Use]) -> Iterator[tuple[Any, ...]]:
    for use in uses:
        deprecated = use.release.deprecated_at is not None
        yield release_name(use.release), deprecated, use.kind, use.pk, use.name, use.state, use.created_at
