"""A study of two metrics in the world of cats, for tests that ask for ``study``."""

import pytest

from annotation.models import JobState, Project
from correlations.models import Study
from correlations.results.study import StudyResult
from correlations.selectors.printed import lead_and_notes
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from tests.metrics.world import World, make_world
from tests.snapshots import recalled

SMALL = {
    "sweeps": True,
    "assignments": 2,
    "bootstrap": 4,
    "metrics": ["bleu", "delta_bleu"],
    "subsets": ["original", "all"],
}


def lead_sentences(study: Study, result: StudyResult) -> str:
    """Return what the printed report leads with."""
    lead, notes = lead_and_notes(study, result)
    return " ".join([*lead, *notes])


@pytest.fixture
def studied(project: Project) -> tuple[World, Study]:
    return recalled("studied cats", project, lambda: _studied(make_world(project)))


@pytest.fixture
def world(request: pytest.FixtureRequest, project: Project) -> World:
    """The world of the study, in a test that has one."""
    return request.getfixturevalue("studied")[0] if "studied" in request.fixturenames else make_world(project)


@pytest.fixture
def study(studied: tuple[World, Study]) -> Study:
    return studied[1]


def _studied(world: World) -> tuple[World, Study]:
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**SMALL), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return world, study
