"""The catalogue of metrics, with what a project lacks to compute them."""

import inspect
from dataclasses import dataclass
from typing import Any

from annotation.models import Project
from annotation.references.releases.selectors.releases import finished_releases
from metrics.scoring.external import External
from metrics.scoring.metric import GROUPS, Metric
from metrics.scoring.models.kinds import KINDS
from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, Registry, without_references
from metrics.selectors.explanations import default_tokenizer
from metrics.selectors.models import lacking_kind, model_parameters, trained_kinds
from metrics.selectors.ranges import range_words


@dataclass(frozen=True)
class Entry:
    """A metric in the list of all, and whether this project can run it."""

    metric: type[Metric]
    missing: str = ""  # what the project lacks
    missing_kind: str = ""  # the kind of trained model that it lacks
    is_release_missing: bool = False

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
    kinds = trained_kinds(project)
    has_release = finished_releases(project).exists()
    groups: dict[str, list[Entry]] = {label: [] for label in GROUPS.values()}
    for name, metric in metrics.items():
        if name != External.name:
            groups[GROUPS[metric.group]].append(_entry(metric, kinds, has_release=has_release))
    return {label: entries for label, entries in groups.items() if entries}


def entry_of(project: Project, metric: type[Metric]) -> Entry:
    return _entry(metric, trained_kinds(project), has_release=finished_releases(project).exists())


def _entry(metric: type[Metric], kinds: set[str], *, has_release: bool) -> Entry:
    if reason := metric.unavailable():
        return Entry(metric, reason)
    if kind := lacking_kind(metric.name, kinds):
        return Entry(metric, f"This project has no {KINDS[kind].label} yet.", missing_kind=kind)
    if metric.needs_references and not has_release and not without_references(metric):
        return Entry(metric, "This project has no release of references yet.", is_release_missing=True)
    return Entry(metric)


def default_parameters(metric: type[Metric], language: str) -> dict[str, Any]:
    """Return the metric's defaults, with a tokeniser for the language.

    Metrics of words read them in lowercase, unless a trained model decides.
    """
    defaults: dict[str, Any] = {parameter.name: parameter.default for parameter in metric.parameter_list()}
    if "tokenize" in defaults:
        defaults["tokenize"] = default_tokenizer(language)
        if "lowercase" in defaults and not model_parameters(metric.name):
            defaults["lowercase"] = True
    return defaults
