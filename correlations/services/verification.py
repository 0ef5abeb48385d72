"""Compute the study of a report again, here or on another installation, and say what differs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.core.progress import Progress, noop
from annotation.models import Campaign, Project, Release
from annotation.rating.selectors.ratings import rating_log
from annotation.references.releases.selectors.releases import finished_releases, release_name, release_named
from annotation.references.releases.services.releases import stored_content_hash
from correlations.models import ParameterStudy, Study
from correlations.results.codec import Result
from correlations.results.differences import Difference, differences
from correlations.results.report import ParameterDocument, Report, StudyDocument
from correlations.services.execution import study_result
from correlations.services.inputs import versions
from correlations.services.parameter_execution import parameter_result
from correlations.services.parameter_studies import settled_parameter_study
from correlations.services.studies import NamedInputs, settled_study, texts_named
from correlations.specification import LAST_RATING, NAMED, WITHOUT_RATERS, StudySpecification
from metrics.scoring.metric import Metric

MOST_LISTED = 1000  # differences; more say nothing more
SHOWN = 12  # characters of a hash
TEXTS = {
    "outputs": "The outputs of the systems are others",
    "sources": "The messages that the systems answer are others",
    "prompts": "What was given to the systems is other",
    "references": "The data set's own references are others",
}


@dataclass(frozen=True)
class Verification:
    """``changed`` says in words what the study reads otherwise here, ``notes`` what makes no difference by itself."""

    project: Project
    changed: Sequence[str]
    notes: Sequence[str]
    differences: Sequence[Difference]
    computed: bool  # False if the study cannot be computed here

    @property
    def equal(self) -> bool:
        return self.computed and not self.changed and not self.differences

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "equal": self.equal,
            "computed": self.computed,
            "changed": list(self.changed),
            "notes": list(self.notes),
            "differences": [vars(each) for each in self.differences],
        }


def verification_lines(found: Verification, *, most: int) -> list[str]:
    """Return an outcome as lines of text: what is read otherwise, then up to ``most`` values that differ."""
    lines = [*found.notes, *found.changed]
    if found.equal:
        return [*lines, "equal"]
    if found.computed:
        n = len(found.differences)
        same = "The result is the same all the same." if not n else ""
        lines.append(same or f"{counted(n, 'value')} of the result {'differs' if n == 1 else 'differ'}:")
        lines += map(str, found.differences[:most])
        if n > most:
            lines.append(f"... and {n - most:,} more")
    return lines


@dataclass
class _Findings:
    changed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Settled:
    """What a specification names in a project, with every value as it is stored, and the metrics it computes."""

    inputs: NamedInputs
    specification: StudySpecification
    metrics: Sequence[Metric]


def _settled_study(project: Project, specification: Mapping[str, Any]) -> _Settled:
    inputs, settled = settled_study(project, specification)
    return _Settled(inputs, settled, settled.built_metrics())


def _settled_parameter_study(project: Project, specification: Mapping[str, Any]) -> _Settled:
    inputs, settled = settled_parameter_study(project, specification)
    return _Settled(inputs, settled, [settled.built_metric()])


def _study_result(study: Any, progress: Progress, campaigns: Sequence[Campaign]) -> Result:
    result, _ = study_result(study, progress, campaigns=campaigns)
    return result


def _parameter_result(study: Any, progress: Progress, campaigns: Sequence[Campaign]) -> Result:
    return parameter_result(study, progress, campaigns=campaigns)


@dataclass(frozen=True)
class _Kind:
    """How the study of a kind of report is settled and computed, from texts alone, without being stored."""

    model: type[Study] | type[ParameterStudy]
    settle: Callable[[Project, Mapping[str, Any]], _Settled]
    compute: Callable[[Any, Progress, Sequence[Campaign]], Result]


_KINDS: Mapping[type[Report], _Kind] = {
    StudyDocument: _Kind(Study, _settled_study, _study_result),
    ParameterDocument: _Kind(ParameterStudy, _settled_parameter_study, _parameter_result),
}


@dataclass(frozen=True)
class Recomputed:
    """A report compared with its study as it is computed here; the study is None if it cannot be."""

    verification: Verification
    study: Study | ParameterStudy | None


def study_verify(document: Report, project: Project, *, progress: Progress = noop) -> Verification:
    """Compute the report's study from the texts and ratings of a project, and compare; nothing is stored.

    Ratings that were sent after those that the report counts are not counted.
    """
    return study_recompute(document, project, progress=progress).verification


def study_recompute(document: Report, project: Project, *, progress: Progress = noop) -> Recomputed:
    """Return what `study_verify` finds, and the study with its result; it is not stored."""
    found = _Findings()
    _compare_versions(document, found)
    specification = _with_release(document, project, found)
    try:
        settled = _KINDS[type(document)].settle(project, specification)
        _compare_texts(document, settled, found)
        last = _last_rating(document, settled.inputs.campaigns, found)
        study = _computed(document, settled, last, progress)
    except AnnotationError as error:
        reason = f"The study cannot be computed here. {error.message}"
        # A missing release was named already.
        changed = found.changed if found.changed and "release" in error.fields else [*found.changed, reason]
        return Recomputed(Verification(project, changed, found.notes, [], computed=False), None)
    different = list(islice(differences(document.result, study.result), MOST_LISTED))
    return Recomputed(Verification(project, found.changed, found.notes, different, computed=True), study)


def _compare_versions(document: Report, found: _Findings) -> None:
    here = vars(versions()) | {"format": _KINDS[type(document)].model.RESULT.VERSION}
    then = {**document.versions, "format": document.result.get("version")}
    labels = {"assay": "Assay", "numpy": "NumPy", "format": "the form of results"}
    for name, label in labels.items():
        if then.get(name) != here[name]:
            found.notes.append(f"Other code: {label} {then.get(name)} in the report, {here[name]} here.")


def _with_release(document: Report, project: Project, found: _Findings) -> dict[str, Any]:
    """Return the specification with the name that the release has here: it is found by its content."""
    specification = dict(document.specification)
    name, published = specification.get("release", ""), document.named.get("release")
    if not name:
        return specification
    here = release_named(project, name)
    if here is None or here.content_hash != published:
        same = finished_releases(project).filter(content_hash=published).first()
        if same is not None:
            found.notes.append(f"The release {name} of the report is called {release_name(same)} here.")
            here = same
            specification["release"] = release_name(same)
    if here is None:
        found.changed.append(f"The release {name} is missing here: no release has its name or its content.")
    else:
        _compare_release(here, name, str(published), found)
    return specification


def _compare_release(release: Release, name: str, published: str, found: _Findings) -> None:
    stored = stored_content_hash(release)
    if release.content_hash != published:
        hashes = f"their hash is {published[:SHOWN]} in the report, {release.content_hash[:SHOWN]} here"
        found.changed.append(f"The reference weights of {name} are others: {hashes}.")
    elif stored != published:
        hashes = f"their hash is {stored[:SHOWN]}, the published one {published[:SHOWN]}"
        found.changed.append(f"The reference weights of {name} were changed after they were published: {hashes}.")


def _compare_texts(document: Report, settled: _Settled, found: _Findings) -> None:
    here = texts_named(settled.inputs, settled.metrics)
    for name, message in TEXTS.items():
        then, now = document.named.get(name), here.get(name)
        if then != now:
            hashes = f"their hash is {str(then)[:SHOWN]} in the report, {str(now)[:SHOWN]} here"
            found.changed.append(f"{message}: {hashes}.")


def _last_rating(document: Report, campaigns: Sequence[Campaign], found: _Findings) -> int:
    """Return the newest rating that the report counts, by its number here; of changed ratings, the newest of all."""
    marks: Mapping[str, Any] = document.named.get("ratings", {})
    last = 0
    for campaign in campaigns:
        mark = marks.get(campaign.name, {"count": 0, "sha256": None})
        everything = rating_log(campaign)
        counted_then = rating_log(campaign, first=mark["count"])
        if counted_then.n == mark["count"] and (counted_then.digest == mark["sha256"] or not mark["count"]):
            last = max(last, counted_then.last or 0)
            if later := everything.n - counted_then.n:
                text = f"{counted(later, 'rating')} of “{campaign}” sent after the report"
                found.notes.append(f"{text} {'is' if later == 1 else 'are'} not counted.")
        else:
            last = max(last, everything.last or 0)
            then, now = f"{mark['count']:,} in the report", f"{everything.n:,} here"
            hashes = f"hash {str(mark['sha256'])[:SHOWN]} and {everything.digest[:SHOWN]}"
            found.changed.append(f"The ratings of “{campaign}” are others: {then}, {now}; {hashes}.")
    return last


def _computed(document: Report, settled: _Settled, last: int, progress: Progress) -> Study | ParameterStudy:
    """Return the study with its result as of the report's ratings, from texts alone, without storing anything."""
    kind, inputs = _KINDS[type(document)], settled.inputs
    without = {WITHOUT_RATERS: document.named[WITHOUT_RATERS]} if WITHOUT_RATERS in document.named else {}
    study = kind.model(
        project=inputs.project,
        dataset=inputs.dataset,
        release=inputs.release,
        name=document.name,
        signature=document.signature,
        specification=settled.specification.as_dict() | {NAMED: without, LAST_RATING: last},
    )
    campaigns = Campaign.objects.filter(pk__in=[campaign.pk for campaign in inputs.campaigns]).order_by("name")
    study.result = kind.compute(study, progress, list(campaigns)).to_json()
    return study
