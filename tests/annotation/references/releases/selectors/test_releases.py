import pytest
from django.utils import timezone

from annotation.models import Dataset, JobState, Project, ReferenceSet
from annotation.references.releases.selectors.releases import release_name, release_named, release_names


@pytest.fixture
def reference_set(project: Project) -> ReferenceSet:
    """Two finished releases, the first of which finished last, and one that is not computed yet."""
    dataset = Dataset.objects.create(project=project, name="Chats", slug="chats")
    reference_set = ReferenceSet.objects.create(project=project, dataset=dataset, name="Gold", slug="gold")
    for number in (2, 1):
        reference_set.releases.create(
            number=number, state=JobState.DONE, finished_at=timezone.now(), content_hash="0" * 64
        )
    reference_set.releases.create(number=3)
    return reference_set


def test_a_release_is_found_by_its_name(project: Project, reference_set: ReferenceSet) -> None:
    for number in (1, 2):
        release = reference_set.releases.get(number=number)
        assert release_named(project, release_name(release)) == release


def test_a_sets_name_alone_means_its_newest_finished_release(project: Project, reference_set: ReferenceSet) -> None:
    assert release_named(project, "gold") == reference_set.releases.get(number=2)


@pytest.mark.parametrize(
    "written", ["", "gold/v", "gold/v3", "gold/v²", "gold/v1 ", "gold\x00", "gold/v9999999999", "gold/v" + "1" * 4500]
)
def test_any_other_name_finds_no_release(project: Project, reference_set: ReferenceSet, written: str) -> None:
    assert release_named(project, written) is None


def test_only_finished_releases_are_offered(project: Project, reference_set: ReferenceSet) -> None:
    assert release_names(project) == "gold/v1, gold/v2"
    empty_project = Project.objects.create(name="Elsewhere", slug="elsewhere")
    assert release_names(empty_project) == "none yet: release weights first"
