import hashlib
import json

import pytest

from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch, campaign_pause, campaign_resume
from annotation.campaigns.services.writing import campaign_update
from annotation.core.errors import AnnotationError
from annotation.models import CampaignState, Project, Slot, System, Unit
from tests.annotation.worlds.campaigns import RELEVANCE, add_response, make_campaign, make_dataset


def test_launch_gives_every_unit_its_slots_and_freezes_the_design(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), ratings_per_unit=3)
    assert campaign.state == CampaignState.RUNNING
    assert campaign.launched_at is not None
    assert Unit.objects.count() == 4 * 3
    assert sorted(campaign.units.values_list("position", flat=True)) == list(range(12))
    assert set(Slot.objects.values_list("number", "state")) == {(0, "open"), (1, "open"), (2, "open")}
    assert Slot.objects.count() == 36
    assert campaign.design is not None
    assert (campaign.design["units"], campaign.design["slots"], campaign.design["items"]) == (12, 36, 4)
    assert campaign.design["criteria"][0]["question"] == RELEVANCE.question
    canonical = json.dumps(campaign.design, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert campaign.design_hash == hashlib.sha256(canonical.encode()).hexdigest()
    with pytest.raises(AnnotationError, match="frozen at launch"):
        campaign_update(
            campaign=campaign, draft=CampaignDraft(dataset=campaign.dataset, name="Other", criteria=[RELEVANCE])
        )
    with pytest.raises(AnnotationError, match="only a draft can be launched"):
        campaign_launch(campaign=campaign)


def test_an_identical_output_is_rated_once_under_all_its_systems(project: Project) -> None:
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo"])
    item = dataset.items.get()
    echo = System.objects.create(dataset=dataset, name="Echo")
    same = add_response(item, item.responses.get(sources__system__name="Ada").text, echo)
    campaign = make_campaign(dataset)
    assert campaign.design is not None
    assert (campaign.design["units"], campaign.design["shared_outputs"]) == (2, 1)
    unit = campaign.units.get(responses=same)
    assert set(System.objects.filter(pk__in=unit.systems).values_list("name", flat=True)) == {"Ada", "Echo"}


@pytest.mark.parametrize(
    ("options", "units"),
    [
        ({"target": "references"}, 4),
        ({"presentation": "pair"}, 12),
        ({"presentation": "list"}, 4),
        ({"item_limit": 2}, 6),
    ],
)
def test_the_units_depend_on_target_presentation_and_limit(
    project: Project, options: dict[str, object], units: int
) -> None:
    assert make_campaign(make_dataset(project), **options).units.count() == units


def test_only_the_chosen_systems_are_rated(project: Project) -> None:
    dataset = make_dataset(project)
    systems = list(dataset.systems.filter(name__in=["Ada", "Cy"]))
    campaign = make_campaign(dataset, systems=systems, presentation="pair")
    assert campaign.units.count() == 4
    assert campaign.design is not None
    assert campaign.design["systems"] == ["Ada", "Cy"]


def test_the_same_seed_gives_the_same_design_and_another_seed_a_different_one(project: Project) -> None:
    dataset = make_dataset(project)
    first, second = make_campaign(dataset, name="one"), make_campaign(dataset, name="two")
    other_seed = make_campaign(dataset, name="three", seed=7)
    assert first.design_hash == second.design_hash != other_seed.design_hash


def test_a_launch_without_anything_to_rate_is_refused_and_changes_nothing(project: Project) -> None:
    empty = make_dataset(project, items=0)
    campaign = make_campaign(empty, launch=False)
    with pytest.raises(AnnotationError, match="nothing to rate: the data set 'chat' has no system outputs"):
        campaign_launch(campaign=campaign)
    single = make_campaign(
        make_dataset(project, systems=["Ada"], name="solo"), launch=False, name="p", presentation="pair"
    )
    with pytest.raises(AnnotationError, match="A pair needs two systems; there are outputs of Ada only"):
        campaign_launch(campaign=single)
    single.refresh_from_db()
    assert (single.state, Unit.objects.count()) == (CampaignState.DRAFT, 0)


def test_every_mistake_in_a_draft_is_named_with_its_field(project: Project) -> None:
    dataset = make_dataset(project)
    foreign_dataset = make_dataset(Project.objects.create(name="E", slug="e"))
    with pytest.raises(AnnotationError) as refused:
        make_campaign(
            dataset,
            name=" ",
            ratings_per_unit=0,
            lease_seconds=1,
            item_limit=10**10,
            seed=-1,
            completion_code="x" * 61,
            systems=list(foreign_dataset.systems.all()),
            criteria=[
                CriterionDraft("a b", "?", scale_min=5, scale_max=1),
                CriterionDraft("c", " ", labels=["low", "high"]),
            ],
        )
    assert set(refused.value.fields) == {
        "name",
        "ratings_per_unit",
        "lease_seconds",
        "item_limit",
        "seed",
        "completion_code",
        "systems",
        "criteria.0.name",
        "criteria.0.scale_max",
        "criteria.1.question",
        "criteria.1.labels",
    }
    make_campaign(dataset, launch=False)
    with pytest.raises(AnnotationError, match="has a campaign named 'Replies' already"):
        make_campaign(dataset, launch=False)


def test_a_campaign_is_paused_resumed_and_closed_for_good(project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    assert campaign_pause(campaign=campaign).state == CampaignState.PAUSED
    with pytest.raises(AnnotationError, match="is paused; to become paused it must be running"):
        campaign_pause(campaign=campaign)
    assert campaign_resume(campaign=campaign).state == CampaignState.RUNNING
    assert campaign_close(campaign=campaign).closed_at is not None
    with pytest.raises(AnnotationError, match="is closed; to become running it must be paused"):
        campaign_resume(campaign=campaign)
