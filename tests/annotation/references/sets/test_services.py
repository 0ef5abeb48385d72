import pytest

from annotation.core.errors import AnnotationError
from annotation.models import AuditEntry
from annotation.references.sets.services import reference_set_add_campaign, reference_set_create, reference_set_edit
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response


@pytest.fixture
def dataset(project):
    dataset = make_dataset(project)
    make_response(make_item(dataset, "i1"), "Fine.", "Human", "seed")
    return dataset


def test_sets_of_the_same_name_get_different_slugs(project, dataset):
    campaign = make_campaign(dataset)
    first, second = (
        reference_set_create(dataset=dataset, name="Rated humans", campaigns=[campaign], source_systems=["Human"])
        for _ in range(2)
    )
    assert (first.slug, second.slug) == ("rated-humans", "rated-humans-2")
    assert list(first.campaigns.all()) == [campaign]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"source_systems": ["Robot"]}, "source_systems", "has no system 'Robot'; it has: Human"),
        ({"source_kinds": ["mined", "found"]}, "source_kinds", "'found'; accepted: seed, mined"),
        ({"source_systems": []}, "source_systems", "at least one kind or system"),
        ({"original_kinds": ["seed"]}, "original_kinds", "'seed' is not a source of this set"),
        ({"campaigns": []}, "campaigns", "one or more"),
        ({"name": " "}, "name", "Found 0 characters; accepted: 1 to 120"),
        ({"name": "R" * 121}, "name", "Found 121 characters; accepted: 1 to 120"),
    ],
)
def test_a_set_that_cannot_be_weighed_is_refused(project, dataset, changes, field, message):
    arguments = {"name": "R", "campaigns": [make_campaign(dataset)], "source_systems": ["Human"], **changes}
    with pytest.raises(AnnotationError, match=message) as refusal:
        reference_set_create(dataset=dataset, **arguments)
    assert list(refusal.value.fields) == [field]
    assert not project.reference_sets.exists()


def test_campaigns_of_another_data_set_and_drafts_are_refused(project, dataset):
    draft = make_campaign(dataset, "Draft", state="draft", launched_at=None, design_hash="")
    foreign_campaign = make_campaign(make_dataset(project, "other"), "Elsewhere")
    for campaign, message in ((draft, "is a draft"), (foreign_campaign, "rates another data set")):
        with pytest.raises(AnnotationError, match=message):
            reference_set_create(dataset=dataset, name="R", campaigns=[campaign], source_systems=["Human"])


@pytest.fixture
def reference_set(project, dataset):
    return reference_set_create(dataset=dataset, name="R", campaigns=[make_campaign(dataset)], source_systems=["Human"])


def test_adding_a_campaign_of_the_same_data_set_and_scale_is_in_the_audit_log(dataset, reference_set, manager):
    later = make_campaign(dataset, "Later")
    reference_set_add_campaign(reference_set=reference_set, campaign=later, by=manager)
    assert {campaign.name for campaign in reference_set.campaigns.all()} == {"Quality", "Later"}
    entry = AuditEntry.objects.get(verb="reference_set.add_campaign")
    assert (entry.actor, entry.data) == (manager, {"reference_set": "r", "campaign": "Later"})
    with pytest.raises(AnnotationError, match="is already in “R”"):
        reference_set_add_campaign(reference_set=reference_set, campaign=later, by=manager)


def test_a_campaign_that_cannot_be_weighed_with_the_others_is_refused(project, dataset, reference_set, manager):
    relative = make_campaign(dataset, "Relative")
    relative.criteria.update(kind="magnitude")
    draft = make_campaign(dataset, "Draft", state="draft", launched_at=None, design_hash="")
    foreign_campaign = make_campaign(make_dataset(project, "other"), "Elsewhere")
    for campaign, message in ((relative, "scale"), (draft, "is a draft"), (foreign_campaign, "rates another data set")):
        with pytest.raises(AnnotationError, match=message) as refusal:
            reference_set_add_campaign(reference_set=reference_set, campaign=campaign, by=manager)
        assert list(refusal.value.fields) == ["campaigns"]
    assert reference_set.campaigns.count() == 1


def test_editing_changes_the_name_and_description_but_not_the_slug(reference_set, manager):
    reference_set_edit(reference_set=reference_set, name=" Rated people ", description="Chosen by hand.", by=manager)
    assert (reference_set.name, reference_set.slug) == ("Rated people", "r")
    entry = AuditEntry.objects.get(verb="reference_set.edit")
    assert entry.data["changed"] == {"name": ["R", "Rated people"], "description": ["", "Chosen by hand."]}
    reference_set_edit(reference_set=reference_set, name="Rated people", by=manager)
    assert AuditEntry.objects.count() == 1  # nothing changed, nothing logged
    with pytest.raises(AnnotationError, match="Found 0 characters; accepted: 1 to 120"):
        reference_set_edit(reference_set=reference_set, name="  ", by=manager)
