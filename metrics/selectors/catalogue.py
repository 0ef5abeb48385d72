"""The catalogue of metrics, with what a project lacks to compute them."""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.models import Project, ResponseSource, SourceKind
from annotation.references.releases.selectors.releases import finished_releases
from metrics.scoring.external import External
from metrics.scoring.metric import GROUPS, Metric
from metrics.scoring.models.kinds import KINDS
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, Registry, without_references
from metrics.selectors.explanations import USUAL_TOKENIZER
from metrics.selectors.models import lacking_kind, model_parameters, trained_kinds
from metrics.selectors.ranges import range_words

USUAL_GROUP = "overlap"


@dataclass(frozen=True)
class Entry:
    """A metric in the list of all, and whether this project can run it."""

    metric: type[Metric]
    missing: str = ""  # what the project lacks
    missing_kind: str = ""  # the kind of trained model that it lacks
    is_release_missing: bool = False
    is_uninstalled: bool = False  # ``missing`` says how to install it

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def needs(self) -> list[str]:
        needs = []
        if self.metric.needs_references:
            unless = " or ".join(map(str, without_references(self.metric).values()))
            references = "weighted references" if self.metric.group == "weighted" else "references"
            needs.append(f"{references} (unless {unless})" if unless else references)
        if self.metric.needs_sources:
            needs.append("the messages answered")
        if self.metric.needs_prompts:
            needs.append("what was given to the systems")
        needs += [f"a trained model ({KINDS[each.choices[0]].label})" for each in model_parameters(self.name)]
        return needs or ["the outputs alone"]

    @property
    def range(self) -> str:
        return range_words(self.metric.low, self.metric.high)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.metric.parameter_list()

    @property
    def description(self) -> str:
        """Return the docstring of its module: formula, source, range, what is undefined."""
        module = inspect.getmodule(self.metric)
        docstring = (module and module.__doc__) or self.metric.__doc__ or ""
        return inspect.cleandoc(docstring).split("\n\nExamples\n")[0]


def catalogue(project: Project, metrics: Registry = METRICS) -> dict[str, list[Entry]]:
    """Return all metrics that are computed here, by the labels of their groups."""
    offered = _offered(project)
    groups: dict[str, list[Entry]] = {label: [] for label in GROUPS.values()}
    for name, metric in metrics.items():
        if name != External.name:
            groups[GROUPS[metric.group]].append(_entry(metric, offered))
    return {label: entries for label, entries in groups.items() if entries}


def catalogue_of(project: Project, *, weighted: bool, plain: bool) -> dict[str, list[Entry]]:
    """Return all metrics for texts with weighted references, with plain ones or with none."""
    offered = Offered(trained_kinds(project), weighted, weighted or plain, of_project=False)
    entries = [_entry(metric, offered) for name, metric in METRICS.items() if name != External.name]
    groups = {label: [entry for entry in entries if GROUPS[entry.metric.group] == label] for label in GROUPS.values()}
    return {label: of_group for label, of_group in groups.items() if of_group}


def entry_of(project: Project, metric: type[Metric]) -> Entry:
    return _entry(metric, _offered(project))


@dataclass(frozen=True)
class Offered:
    """What a project, or the texts that were chosen, offer to metrics."""

    kinds: set[str]  # of trained models
    has_weights: bool
    has_references: bool
    of_project: bool = True


def _offered(project: Project) -> Offered:
    has_release = finished_releases(project).exists()
    has_plain = (
        not has_release
        and ResponseSource.objects.filter(item__dataset__project=project, kind__in=SourceKind.of_references()).exists()
    )
    return Offered(trained_kinds(project), has_release, has_release or has_plain)


def _entry(metric: type[Metric], offered: Offered) -> Entry:
    if reason := metric.unavailable():
        return Entry(metric, reason, is_uninstalled=True)
    if kind := lacking_kind(metric.name, offered.kinds):
        return Entry(metric, f"This project has no {KINDS[kind].label} yet.", missing_kind=kind)
    where = "This project has" if offered.of_project else "These texts have"
    if metric().needs_weights and not offered.has_weights:
        missing = f"{where} no release of weights yet." if offered.of_project else "It needs weights: choose a release."
        return Entry(metric, missing, is_release_missing=True)
    if metric.needs_references and not offered.has_references and not without_references(metric):
        return Entry(metric, f"{where} no references yet.", is_release_missing=True)
    return Entry(metric)


def default_parameters(metric: type[Metric], tokenize: str, *, plain: bool = False) -> dict[str, Any]:
    """Return the metric's defaults, with this tokeniser.

    Metrics of words read them in lowercase, unless a trained model decides. On ``plain`` references, without weights,
    they are those with which the metric is usually published; a tokeniser for texts without spaces stays.
    """
    defaults: dict[str, Any] = {parameter.name: parameter.default for parameter in metric.parameter_list()}
    if "tokenize" in defaults:
        defaults["tokenize"] = tokenize
        if "lowercase" in defaults and not model_parameters(metric.name):
            defaults["lowercase"] = True
    if plain:
        defaults |= metric.published
        if tokenize != USUAL_TOKENIZER and "tokenize" in defaults:
            defaults["tokenize"] = tokenize
    return defaults


def usual_metrics(entries: Iterable[Entry]) -> list[str]:
    """Return the metrics to compute unless others are chosen: those that read weights, and fast ones of overlap.

    Metrics that need weights are offered for a release alone, whose weights are why it was chosen.
    """
    return [entry.name for entry in entries if not (entry.missing or entry.metric.slow) and _is_usual(entry.metric)]


def _is_usual(metric: type[Metric]) -> bool:
    return metric().needs_weights or (metric.group == USUAL_GROUP and not metric.needs_sources)
