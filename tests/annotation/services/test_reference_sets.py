import pytest

from annotation.errors import AnnotationError
from annotation.services.reference_sets import reference_set_create
from tests.annotation.rated import make_campaign, make_dataset, make_item, make_response


@pytest.fixture
def dataset(project):
    dataset = make_dataset(project)
    make_response(make_item(dataset, "i1"), "Fine.", "Human", "seed")
    return dataset


def test_it_names_a_choice_and_gives_it_a_slug_of_its_own(project, dataset):
    campaign = make_campaign(dataset)
    first, second = (
        reference_set_create(
            project=project, dataset=dataset, name="Rated humans", campaigns=[campaign], source_systems=["Human"]
        )
        for _ in range(2)
    )
    assert (first.slug, second.slug) == ("rated-humans", "rated-humans-2")
    assert list(first.campaigns.all()) == [campaign]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"source_systems": ["Robot"]}, "source_systems", "has no system 'Robot'; it has: Human"),
        ({"source_kinds": ["mined", "found"]}, "source_kinds", "'found' found; accepted: seed, mined"),
        ({"source_systems": []}, "source_systems", "at least one kind or system"),
        ({"original_kinds": ["seed"]}, "original_kinds", "'seed' is no reference of this set"),
        ({"campaigns": []}, "campaigns", "one or more"),
        ({"name": " "}, "name", "Found 0 characters; accepted: 1 to 120"),
        ({"name": "R" * 121}, "name", "Found 121 characters; accepted: 1 to 120"),
    ],
)
def test_it_refuses_what_cannot_be_weighed(project, dataset, changes, field, message):
    asked = {"name": "R", "campaigns": [make_campaign(dataset)], "source_systems": ["Human"], **changes}
    with pytest.raises(AnnotationError, match=message) as refusal:
        reference_set_create(project=project, dataset=dataset, **asked)
    assert list(refusal.value.fields) == [field]
    assert not project.reference_sets.exists()


def test_campaigns_of_another_data_set_and_drafts_are_refused(project, dataset):
    draft = make_campaign(dataset, "Draft", state="draft", launched_at=None, design_hash="")
    elsewhere = make_campaign(make_dataset(project, "other"), "Elsewhere")
    for campaign, message in ((draft, "is a draft"), (elsewhere, "rates another data set")):
        with pytest.raises(AnnotationError, match=message):
            reference_set_create(
                project=project, dataset=dataset, name="R", campaigns=[campaign], source_systems=["Human"]
            )
