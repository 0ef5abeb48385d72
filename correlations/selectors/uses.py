"""The uses of a response: score runs and studies over the releases that weigh it."""

from datetime import datetime
from typing import NamedTuple

from annotation.models import JobState, Release, Response
from correlations.models import ParameterStudy, Study
from metrics.models import ScoreRun
from metrics.scoring.settings import with_settings
from metrics.selectors.runs import metric_label
from metrics.subsets import Subset


class Use(NamedTuple):
    release: Release
    kind: str  # score run | study | parameter study
    number: int  # by which its address names it: a score run's in the project, a study's primary key
    name: str
    state: str
    created_at: datetime


def response_uses(response: Response) -> list[Use]:
    """Return uses, newest release first; within it parameter studies, score runs, studies, newest first."""
    releases = Release.objects.filter(weights__response=response, state=JobState.DONE).select_related("reference_set")
    ordered = list(releases.order_by("-finished_at", "-pk"))
    by_pk: dict[int | None, Release] = {release.pk: release for release in ordered}
    runs = ScoreRun.objects.filter(release__in=ordered).defer("report")
    uses = [
        Use(by_pk[run.release_id], "score run", run.number, _run_name(run), run.state, run.created_at) for run in runs
    ]
    for model in (Study, ParameterStudy):
        kind = str(model._meta.verbose_name)
        studies = model.objects.filter(release__in=ordered).defer("result", "specification")
        uses += [Use(by_pk[each.release_id], kind, each.pk, each.name, each.state, each.created_at) for each in studies]
    return sorted(uses, key=lambda use: (ordered.index(use.release), use.kind, -use.number))


def _run_name(run: ScoreRun) -> str:
    return f"{with_settings(metric_label(run), run.signature)}, {Subset.from_mapping(run.subset).label}"
