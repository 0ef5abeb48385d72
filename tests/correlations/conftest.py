import pytest

from annotation.models import Project
from tests.metrics.world import World, make_world


@pytest.fixture
def world(project: Project) -> World:
    return make_world(project)
