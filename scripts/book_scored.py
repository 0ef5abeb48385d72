"""What the picture book shows of metrics: the demo's runs and models, and states that pass too fast to see."""

import csv
import io
import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.db.models.functions import Now
from django.urls import reverse

from annotation.core.jobs import MAX_ATTEMPTS
from annotation.models import (
    Dataset,
    FiguresPart,
    Job,
    JobState,
    Project,
    Release,
    ResponseSource,
    SeedSelecting,
    SeedSelection,
    SourceKind,
    User,
    WeightsImport,
)
from annotation.references.releases.services.imports import ImportOptions, weights_import_create, weights_import_execute
from annotation.references.weighing.selectors.stored import IN_REQUEST
from annotation.references.weighing.services.figures import figures_request
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from metrics.models import ScoreRun, SystemScore, TrainedModel
from metrics.selectors.disagreements import disagreements_of
from metrics.services.model_rows import ModelRequest
from metrics.services.training import model_train_on_dataset
from scripts.book_scores import SCORES

SYSTEMS = ("Baseline", "Constant", "TeamA", "TeamCE", "TeamD", "TeamG")
TURNED = {
    "release": "dstc7-references",
    "campaigns": ["Output ratings"],
    "systems": list(SYSTEMS),
    "metric": {"name": "am_fm", "parameters": {"balance": 0.8, "k": 10}},
    "sweeps": [
        {"parameter": "k", "values": [1, 2, 5, 10, 20, 50]},
        {"parameter": "order", "values": [1, 2]},
        {"parameter": "balance", "values": [tenths / 10 for tenths in range(11)]},
    ],
}


def scored(user: User) -> dict[str, str]:
    """Addresses of pages about metrics, by name; what is missing is made."""
    project = Project.objects.get(slug="demo")
    dataset = Dataset.objects.get(project=project, slug="dstc7")
    SCORES.parent.mkdir(exist_ok=True)
    SCORES.write_text(_scores(dataset))
    return (
        _runs(project) | _models(project, dataset, user) | _turned(project, user) | _weights(dataset, user) | _seeds()
    )


def _at_work(job: Job, done: int, total: int, note: str) -> None:
    """As if a worker had it for a day to come, so that no other takes it."""
    type(job)._default_manager.filter(pk=job.pk).update(
        state=JobState.RUNNING,
        lease_token=uuid.uuid4(),
        lease_expires_at=Now() + timedelta(days=1),
        started_at=Now(),
        finished_at=None,
        error="",
        progress_done=done,
        progress_total=total,
        progress_note=note,
    )


def _given_up(job: Job) -> None:
    type(job)._default_manager.filter(pk=job.pk).update(
        state=JobState.FAILED,
        finished_at=Now(),
        lease_token=None,
        lease_expires_at=None,
        error=f"Given up after {MAX_ATTEMPTS} attempts: each worker that took it died.",
    )


# --- Runs, models, parameters -----------------------------------------------------------------------------------------


def _runs(project: Project) -> dict[str, str]:
    """Return URLs of the newest run of each metric, and of the segment on which ΔBLEU and raters differ most."""
    runs = ScoreRun.objects.filter(project=project, state=JobState.DONE, subset__kind="all").order_by("pk")
    newest = {run.metric: run for run in runs}
    run = newest["delta_bleu"]
    apart = disagreements_of(run).liked_by_metric[0]
    system, name = apart.systems[0]
    am_fm_score = SystemScore.objects.get(run=newest["am_fm"], system__name=name)
    of_this = f"?release={run.release_id}"
    return {
        "run-new": reverse("metrics:run-create", args=[project.slug]) + of_this,
        "parameter-study-new": reverse("correlations:parameter-study-create", args=[project.slug]) + of_this,
        "run": reverse("metrics:run-detail", args=[project.slug, run.number]),
        "system-scores": reverse("metrics:run-system-detail", args=[project.slug, run.number, system]),
        "segment": reverse("metrics:run-segment", args=[project.slug, run.number, system, apart.item_id]),
        "segment-am-fm": reverse(
            "metrics:run-segment", args=[project.slug, am_fm_score.run.number, am_fm_score.system_id, apart.item_id]
        ),
    }


def _models(project: Project, dataset: Dataset, user: User) -> dict[str, str]:
    done = TrainedModel.objects.get(project=project, name="DSTC7 space")
    request = ModelRequest(project, user, "DSTC7 trigrams", "language_model", {"order": 3})
    training = TrainedModel.objects.filter(project=project, name=request.name).first() or model_train_on_dataset(
        request=request, dataset=dataset, texts=["messages"], source_kinds=[SourceKind.HUMAN]
    )
    n = done.report["texts"]
    _at_work(training, n * 2 // 3, n, f"Training on {n:,} texts")
    return {
        "model": reverse("metrics:model-detail", args=[project.slug, done.pk]),
        "model-training": reverse("metrics:model-detail", args=[project.slug, training.pk]),
    }


def _turned(project: Project, user: User) -> dict[str, str]:
    study, created = parameter_study_create(
        project=project, name="What k, order and λ do to AM-FM", specification=TURNED, by=user
    )
    if created:
        parameter_study_execute(study_id=study.pk)
    return {"parameter-study": reverse("correlations:parameter-study-detail", args=[project.slug, study.pk])}


# --- Files of others --------------------------------------------------------------------------------------------------


def _overlap(first: str, second: str) -> float:
    """Return Jaccard's index of two texts' words, as scores of another program."""
    words, others = set(first.split()), set(second.split())
    return len(words & others) / len(words | others) if words | others else 0.0


def _table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([header, *rows])
    return written.getvalue()


def _scores(dataset: Dataset) -> str:
    outputs = ResponseSource.objects.filter(system__dataset=dataset, system__name__in=SYSTEMS).order_by("pk")
    fields = ("system__name", "item__external_id", "item__message", "response__text")
    rows = outputs.values_list(*fields).iterator()
    return _table(
        ("system", "item", "score"),
        ((system, item, round(_overlap(message, text), 6)) for system, item, message, text in rows),
    )


def _weighted(dataset: Dataset, n: int) -> Iterator[tuple[str, str, float]]:
    references = ResponseSource.objects.filter(item__dataset=dataset, system=None).order_by("response_id")
    used: set[int] = set()
    fields = ("response_id", "item__external_id", "item__message", "response__text")
    for pk, item, message, text in references.values_list(*fields).iterator():
        if pk not in used and len(used) < n:
            used.add(pk)
            yield item, text, round(2 * _overlap(message, text) - 1, 4)


def _weights(dataset: Dataset, user: User) -> dict[str, str]:
    """Create finished, running and refused imports of weights, and a release whose analyses need a worker."""
    slug = dataset.project.slug

    def imported(filename: str, content: str) -> WeightsImport:
        existing = WeightsImport.objects.filter(dataset=dataset, filename=filename).first()
        return existing or weights_import_create(
            dataset=dataset,
            filename=filename,
            content=content.encode(),
            options=ImportOptions(
                name=f"DSTC7: {filename[:-4]}",
                origin="Jaccard’s index of the words of reference and message, from −1 to 1",
                licence=dataset.licence,
            ),
            by=user,
        )

    header = ("item", "text", "weight")
    done = imported("word-overlap.csv", _table(header, _weighted(dataset, IN_REQUEST + 1)))
    weights_import_execute(import_id=done.pk)
    few = list(_weighted(dataset, 12))
    refused = imported(
        "three-mistakes.csv",
        _table(header, [*few[:9], (*few[9][:2], 1.4), ("no-such-item", "hello", 0.5), (*few[11][:2], "high")]),
    )
    weights_import_execute(import_id=refused.pk)
    working = imported("still-at-work.csv", _table(header, few))
    _at_work(working, 1, 2, f"Storing {IN_REQUEST + 1:,} weights")
    release = Release.objects.get(pk=WeightsImport.objects.values_list("release", flat=True).get(pk=done.pk))
    job, _ = figures_request(release=release, part=FiguresPart.SENSITIVITY)
    _at_work(job, 0, 2, f"Computing: {FiguresPart.SENSITIVITY.label.lower()}")
    given_up, _ = figures_request(release=release, part=FiguresPart.ATTENTION)
    _given_up(given_up)
    return {
        "weights-import": reverse("annotation:reference-set-import", args=[slug]) + f"?dataset={dataset.slug}",
        "weights-at-work": reverse("annotation:weights-import-detail", args=[slug, working.pk]),
        "weights-refused": reverse("annotation:weights-import-detail", args=[slug, refused.pk]),
        "weights-done": reverse("annotation:weights-import-detail", args=[slug, done.pk]),
        "large-release": reverse("annotation:release-detail", args=[slug, release.reference_set.slug, release.number]),
    }


def _seeds() -> dict[str, str]:
    """Create a running and a failed repetition of the tour's selection."""
    selection = SeedSelection.objects.filter(project__slug="tour").latest("pk")
    options = {
        "campaigns": [campaign.pk for campaign in selection.campaigns.all()],
        "threshold": selection.threshold,
        "shares": selection.shares,
        "seed": selection.seed,
        "min_ratings": 1,
        "again": False,
    }
    jobs = list(SeedSelecting.objects.filter(dataset=selection.dataset, selection=None).order_by("pk")[:2])
    while len(jobs) < 2:
        jobs.append(
            SeedSelecting.objects.create(
                project=selection.project, dataset=selection.dataset, asked=options, progress_total=1
            )
        )
    _at_work(jobs[0], 0, 1, "Reading ratings")
    _given_up(jobs[1])
    args = [selection.project.slug, selection.dataset.slug]
    return {
        "select": reverse("annotation:seed-select", args=args),
        "selecting": reverse("annotation:seed-selecting", args=[*args, jobs[0].pk]),
        "selecting-failed": reverse("annotation:seed-selecting", args=[*args, jobs[1].pk]),
    }
