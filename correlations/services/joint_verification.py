"""Verify the report of any kind of study; of one over several data sets, each of its studies and what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from annotation.core.numbers import counted
from annotation.core.progress import Progress, noop
from annotation.models import Project
from correlations.errors import StudyError
from correlations.models import Study
from correlations.results.differences import NOTHING, Difference, differences
from correlations.results.report import JointDocument, ParameterDocument, Report, joint_signature
from correlations.selectors.compared import compared_studies
from correlations.selectors.compared_words import plain
from correlations.services.joint_studies import DATASETS
from correlations.services.verification import MOST_LISTED, Recomputed, Verification, study_recompute, study_verify

TOGETHER = "Together"  # names what the studies say together, as a data set's name does what its study says
# What the studies say together. The rest of it is names, numbers in one database, and what their own results hold.
FIELDS = ("coefficient", "sentence", "assumption", "independent", "rows", "ranks")


def report_verify(document: Report | JointDocument, project: Project, *, progress: Progress = noop) -> Verification:
    """Compute all that a report holds from the texts and ratings of a project, and compare; nothing is stored."""
    if isinstance(document, JointDocument):
        return joint_verify(document, project, progress=progress)
    return study_verify(document, project, progress=progress)


def report_project(document: Report | JointDocument, slug: str = "") -> Project:
    """Return the project to verify in: the named one, else one with the report's study, else one of its slug."""
    projects = Project.objects.filter(is_sandbox=False)
    if slug:
        named = projects.filter(slug=slug).first()
        if named is None:
            raise StudyError(f"No project has the slug {slug!r}.")
        return named
    field = "parameter_studies" if isinstance(document, ParameterDocument) else "studies"
    studies = document.reports if isinstance(document, JointDocument) else [document]
    signatures = [study.signature for study in studies]
    known = projects.filter(**{f"{field}__signature__in": signatures}).order_by("pk").distinct()
    of_slug = projects.filter(slug=document.project.get("slug"))
    project = known.filter(slug=document.project.get("slug")).first() or known.first() or of_slug.first()
    if project is None:
        name = document.project.get("name")
        raise StudyError(f"No project here holds the study or is called {name!r}; name one with --project.")
    return project


def joint_verify(document: JointDocument, project: Project, *, progress: Progress = noop) -> Verification:
    """Verify the study of each data set, and what they say together; each finding names its data set."""
    parts = len(document.reports)
    recomputed = [
        study_recompute(report, project, progress=_part_of(progress, index, parts))
        for index, report in enumerate(document.reports)
    ]
    names = [str(report.dataset.get("name")) for report in document.reports]
    changed = _named(names, [each.verification.changed for each in recomputed])
    notes = [*_of_whole(document), *_named(names, [each.verification.notes for each in recomputed])]
    if not all(each.verification.computed for each in recomputed):
        return Verification(project, changed, notes, [], computed=False)
    different = [
        replace(each, path=f"{name}: {each.path}")
        for name, part in zip(names, recomputed, strict=True)
        for each in part.verification.differences
    ]
    different += islice(_differences_together(document, recomputed), MOST_LISTED)
    return Verification(project, changed, notes, different[:MOST_LISTED], computed=True)


def _of_whole(document: JointDocument) -> list[str]:
    """Return a note if the report's signature is not that of the studies in it."""
    if document.signature == joint_signature(report.signature for report in document.reports):
        return []
    listed = document.specification.get(DATASETS)
    n = len(listed) if isinstance(listed, Sequence) else 0
    if n > len(document.reports):
        return [f"The report holds {len(document.reports)} of its {counted(n, 'study', 'studies')}."]
    return ["The signature of the report is not that of the studies that it holds."]


def _named(names: Sequence[str], texts: Sequence[Sequence[str]]) -> list[str]:
    """Return texts with the names of their data sets; a text that all have once, without."""
    everywhere = [text for text in texts[0] if all(text in of_study for of_study in texts)]
    by_dataset = (
        f"{name}: {text}"
        for name, of_study in zip(names, texts, strict=True)
        for text in of_study
        if text not in everywhere
    )
    return [*everywhere, *by_dataset]


def _differences_together(document: JointDocument, recomputed: Sequence[Recomputed]) -> Sequence[Difference]:
    studies = [study for each in recomputed if isinstance(study := each.study, Study)]
    coefficient = document.result.get("coefficient")
    # By another coefficient if the studies lack the report's: it is a difference, and so is all that follows.
    compared = compared_studies(studies, coefficient) or compared_studies(studies)
    if compared is None:
        return [Difference(f"{TOGETHER}: coefficient", coefficient, NOTHING)]
    now = plain(replace(compared, by_dataset=True))
    sides: list[Mapping[str, Any]] = [{name: side.get(name) for name in FIELDS} for side in (document.result, now)]
    return [replace(each, path=f"{TOGETHER}: {each.path}") for each in differences(*sides)]


def _part_of(progress: Progress, index: int, parts: int) -> Progress:
    """Return the callback of one of several studies, each of which reports its own progress as a whole."""
    return lambda done, total, note: progress(index * total + done, parts * total, note)
