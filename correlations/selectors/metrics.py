"""The metrics that a project's studies can use, and why the others cannot be used."""

from typing import NamedTuple

from annotation.models import Dataset, JobState, Project, SourceKind
from correlations.models import ParameterStudy, Study
from correlations.results.study import StudyRow
from metrics.models import ScoreRun
from metrics.scoring.external import SEGMENT, External
from metrics.scoring.metric import GROUPS, Metric
from metrics.scoring.models.kinds import KINDS
from metrics.scoring.registry import METRICS, get_metric
from metrics.selectors.corpus import plain_sources
from metrics.selectors.models import lacking_kind, trained_kinds
from metrics.selectors.scripts import tokenizer_warning

RUN = "run:"  # before the number of a run of imported scores, where metrics are chosen by name


class Offered(NamedTuple):
    """A metric as a form offers it; ``missing`` says why it cannot be chosen."""

    value: str
    label: str
    summary: str
    missing: str


def imported_runs(project: Project, dataset: Dataset | None = None) -> list[ScoreRun]:
    """Return finished runs of imported scores of segments, newest first."""
    runs = ScoreRun.objects.filter(
        project=project, metric=External.name, state=JobState.DONE, parameters__level=SEGMENT
    )
    return list((runs if dataset is None else runs.filter(dataset=dataset)).order_by("-pk"))


def usual_texts(project: Project) -> Dataset | None:
    """Return the data set that was scored last, if it has references and nothing scored here reads weights.

    Else None: then a release is usual.
    """
    runs = ScoreRun.objects.filter(project=project, state=JobState.DONE).order_by("-pk")
    computed = set(runs.order_by().values_list("metric", flat=True).distinct())
    newest = runs.select_related("dataset").first()
    if newest is None or any(METRICS[name]().needs_weights for name in computed - {External.name}):
        return None
    return newest.dataset if plain_sources(newest.dataset_id, SourceKind.of_references()).exists() else None


def offered_metrics(
    project: Project, dataset: Dataset, *, pools: bool = False, weighted: bool = True
) -> dict[str, list[Offered]]:
    """Return metrics by group, each with why it cannot be chosen.

    Metrics over one pool of outputs need ``pools``; metrics that read weights need ``weighted`` references. Without
    these a metric that reads references needs those of the data set.
    """
    kinds = trained_kinds(project)
    referenced = weighted or plain_sources(dataset.pk, SourceKind.of_references()).exists()
    offered: dict[str, list[Offered]] = {}
    for run in imported_runs(project, dataset):
        built = get_metric(run.metric, **run.parameters)
        predicted = "cross_validated" in run.report
        what = "Predicted ratings of outputs that the model had not seen" if predicted else "Imported scores of items"
        summary = f"{what}, {run.created_at:%Y-%m-%d}."
        offered.setdefault(GROUPS[External.group], []).append(Offered(f"{RUN}{run.number}", built.label, summary, ""))
    for name, metric in METRICS.items():
        if name != External.name:
            missing = _missing(metric, kinds, pools=pools) or ("" if weighted else _without_weights(metric))
            missing = missing or ("" if referenced else _without_references(metric))
            offered.setdefault(GROUPS[metric.group], []).append(Offered(name, metric.label, metric.summary, missing))
    return offered


def _missing(metric: type[Metric], kinds: set[str], *, pools: bool) -> str:
    if reason := metric.unavailable():
        return reason
    if kind := lacking_kind(metric.name, kinds):
        return f"This project has no {KINDS[kind].label} yet."
    if metric.pools and not pools:
        return "It scores all outputs of a system together, so the few outputs of a unit have no score of their own."
    return ""


def _without_weights(metric: type[Metric]) -> str:
    return "It reads weights of references: choose a release." if metric().needs_weights else ""


def _without_references(metric: type[Metric]) -> str:
    return (
        "It reads references, and this data set has none: import some, or choose a release." * metric.needs_references
    )


def study_warning(study: Study | ParameterStudy) -> str:
    """Return why the study's tokeniser does not split its texts; empty if it does."""
    spec = study.specification
    tokenize = spec.get("tokenize") or spec.get("metric", {}).get("parameters", {}).get("tokenize")
    return tokenizer_warning(study.dataset, tokenize)


def tokens_sentence(study: Study | ParameterStudy) -> str:
    """Return the warning with what follows from it, for places without a box of its own."""
    warning = study_warning(study)
    return f"{warning} Scores of such tokens say little." if warning else ""


def tokens_of_row(study: Study, row: StudyRow) -> str:
    """Return the warning for a sentence that rests on a row; empty if the row's metric reads no tokens."""
    return tokens_sentence(study) if "|tok:" in row.signature else ""
