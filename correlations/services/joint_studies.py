"""One study over several data sets: a study of each is made or found, and compared with the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from annotation.models import Project, User
from correlations.errors import StudyRefused
from correlations.models import JointStudy, Study
from correlations.results.report import joint_signature
from correlations.selectors.compared import MOST_STUDIES
from correlations.services.studies import settled_study, study_store
from correlations.specification import Specification
from metrics.scoring.external import External

DATASETS = "datasets"
ALWAYS_OF_DATASET = ("release", "campaigns", "systems")


@transaction.atomic
def joint_study_create(
    *, project: Project, name: str, specification: Mapping[str, Any], by: User | None
) -> tuple[JointStudy, list[Study]]:
    """Return the study over the data sets of a specification, and those of its studies that are new.

    The caller enqueues their tasks.
    """
    if not name.strip():
        raise StudyRefused.of("name", "found nothing; accepted: up to 120 characters")
    studies, new = [], []
    shared = {key: value for key, value in specification.items() if key != DATASETS}
    for place, entry in enumerate(_entries(specification)):
        try:
            named, settled = settled_study(project, {**shared, **entry})
            metrics, own_name = settled.built_metrics(), f"{name.strip()}: {named.dataset}"
            if problem := named_twice([metric.label for metric in metrics if metric.name == External.name]):
                raise StudyRefused.of("metrics", problem)
            study, created = study_store(Study, named, settled, metrics, name=own_name, by=by)
        except StudyRefused as refusal:
            fields = {f"{DATASETS}.{place}.{field}": messages for field, messages in refusal.fields.items()}
            raise StudyRefused(f"{DATASETS}.{place}: {refusal.message}", fields=fields) from refusal
        studies.append(study)
        new += [study] if created else []
    return joint_study_of(project=project, name=name, studies=studies, by=by), new


@transaction.atomic
def joint_study_of(*, project: Project, name: str, studies: Sequence[Study], by: User | None) -> JointStudy:
    """Return the study over the data sets of these studies: pooled values need each data set once."""
    if not 2 <= len(studies) <= MOST_STUDIES:
        raise StudyRefused.of(DATASETS, f"found {len(studies)}; accepted: two to {MOST_STUDIES}")
    names = [study.dataset.name for study in studies]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None:
        raise StudyRefused.of(DATASETS, f"found {twice} twice; accepted: each data set once, or its items count twice")
    digest = joint_signature(study.signature for study in studies)
    joint, created = JointStudy.objects.get_or_create(
        project=project,
        signature=digest,
        defaults={"name": name.strip()[:120], "specification": _joined(studies), "requested_by": by},
    )
    if created:
        joint.studies.set(studies)
    return joint


def named_twice(scores: Sequence[str]) -> str:
    """Return why imported scores of these names are not one metric each over data sets; empty if they are."""
    twice = next((name for name in scores if scores.count(name) > 1), None)
    if twice is None:
        return ""
    return f"found two imports called {twice}; accepted: one of each name, as they are one metric over data sets"


def _entries(specification: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return what each data set has by itself, which wins over what is shared."""
    entries = specification[DATASETS]
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, Mapping) for entry in entries):
        raise StudyRefused.of(DATASETS, "found another form; accepted: a list of objects, one for each data set")
    if not 2 <= len(entries) <= MOST_STUDIES:
        raise StudyRefused.of(DATASETS, f"found {len(entries)}; accepted: two to {MOST_STUDIES}")
    return entries


def _joined(studies: Sequence[Study]) -> dict[str, Any]:
    """Return the specification that gives these studies again: what all share is written once."""
    each = [Specification.requested(study.specification) for study in studies]
    keys = list(dict.fromkeys(key for specification in each for key in specification))
    first = each[0]
    own = [key for key in keys if key in ALWAYS_OF_DATASET or any(other.get(key) != first.get(key) for other in each)]
    entries = [{key: specification[key] for key in own if key in specification} for specification in each]
    return {DATASETS: entries, **{key: first[key] for key in keys if key not in own}}
