"""Two data sets of cats in one project, which are alike but for their size, and a study over both."""

from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Concat

from annotation.models import Campaign, Dataset, Project, Rater, ReferenceSet, Release
from annotation.references.releases.services.releases import stored_content_hash
from correlations.models import JointStudy
from correlations.services.execution import study_execute
from correlations.services.joint_studies import joint_study_create
from tests.metrics.world import HYPOTHESES, World, make_world
from tests.snapshots import recalled

SHARED = {"metrics": ["bleu", "sbleu"], "subsets": ["all"], "assignments": 3, "bootstrap": 20, "sweeps": False}


def renamed_world(project: Project) -> World:
    """Return a world of twenty items whose names leave those of `make_world` free."""
    world = make_world(project, n_items=20)
    Campaign.objects.update(name=Concat(Value("old "), F("name")))
    Dataset.objects.update(name="Old cats", slug="old-cats")
    ReferenceSet.objects.update(slug="old-references")
    Rater.objects.update(pseudonym=Concat(Value("old-"), F("pseudonym")))
    world.dataset.refresh_from_db()
    return world


def joint_specification(project: Project) -> dict[str, Any]:
    """Return a specification over the two data sets, which are made."""
    return recalled("two data sets of cats", project, lambda: _two_datasets(project))


def _two_datasets(project: Project) -> dict[str, Any]:
    renamed_world(project)
    make_world(project)
    for release in Release.objects.all():
        Release.objects.filter(pk=release.pk).update(content_hash=stored_content_hash(release))
    datasets = [
        {"release": "cat-references", "campaigns": ["Output ratings"], "systems": list(HYPOTHESES)},
        {"release": "old-references", "campaigns": ["old Output ratings"], "systems": list(HYPOTHESES), "unit_size": 1},
    ]
    return {"datasets": datasets, **SHARED, "unit_size": 2}


def joint_study(project: Project) -> JointStudy:
    """Return a finished study over the two data sets."""
    return recalled("study over two data sets of cats", project, lambda: _joint_study(project))


def _joint_study(project: Project) -> JointStudy:
    specification = joint_specification(project)
    joint, new = joint_study_create(project=project, name="Both", specification=specification, by=None)
    for study in new:
        study_execute(study_id=study.pk)
    return joint
