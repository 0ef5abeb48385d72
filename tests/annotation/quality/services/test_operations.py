"""Changes to a running campaign, and what they leave unchanged."""

import hashlib
import json
from collections import Counter
from itertools import pairwise

import pytest
from django.db import connection

from annotation.campaigns.services.lifecycle import campaign_close, campaign_launch, campaign_pause
from annotation.core.errors import AnnotationError
from annotation.models import (
    Amendment,
    AuditEntry,
    Campaign,
    Item,
    Presentation,
    Project,
    Slot,
    SlotState,
    System,
    Unit,
    User,
)
from annotation.quality.selectors.amendments import slot_counts, stopped_systems
from annotation.quality.services.amendments import chain_check
from annotation.quality.services.operations import addition_plan, campaign_extend, items_add, system_resume, system_stop
from annotation.rating.services.handout import unit_request
from tests.annotation.worlds.campaigns import add_response, answer, join, make_campaign, make_dataset, rate_next

pytestmark = pytest.mark.django_db


def system(campaign: Campaign, name: str) -> System:
    return campaign.dataset.systems.get(name=name)


def shown_by(campaign: Campaign) -> Counter[str]:
    """Let a rater answer every available unit; count them by label."""
    rater = join(campaign)
    counts: Counter[str] = Counter()
    while (presentation := rate_next(campaign, rater)) is not None:
        counts[presentation.unit.label] += 1
    return counts


def add_item(campaign: Campaign, position: int, systems: list[str]) -> Item:
    item = Item.objects.create(
        dataset=campaign.dataset, external_id=f"item-{position}", position=position, message="And now?"
    )
    for name in systems:
        system, _ = System.objects.get_or_create(dataset=campaign.dataset, name=name)
        add_response(item, f"{name} on item {position}.", system)
    return item


# --- Extending --------------------------------------------------------------------------------------------------------


def test_extending_adds_slots_to_each_unit_and_keeps_the_filled_ones(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project, items=2), ratings_per_unit=2)
    assert [sum(shown_by(campaign).values()) for _ in range(3)] == [6, 6, 0]
    amendment = campaign_extend(campaign=campaign, ratings_per_unit=5, by=manager)
    assert amendment.data == {"ratings_per_unit": [2, 5], "places": 18}
    assert Counter(Slot.objects.values_list("unit", flat=True)) == dict.fromkeys(
        Unit.objects.values_list("pk", flat=True), 5
    )
    assert Slot.objects.filter(state=SlotState.DONE).count() == 12
    # The instance fetched before still has 2: the value read under the lock counts.
    assert campaign.ratings_per_unit == 2
    assert [sum(shown_by(campaign).values()) for _ in range(4)] == [6, 6, 6, 0]
    campaign.refresh_from_db()
    assert campaign.ratings_per_unit == 5
    assert campaign.design is not None
    assert campaign.design["ratings_per_unit"] == 2


def test_orders_stay_balanced_over_old_and_added_slots(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=2), presentation="pair", ratings_per_unit=3)
    for k in (None, 6):
        if k:
            campaign_extend(campaign=campaign, ratings_per_unit=k)
        for _ in range(3):
            shown_by(campaign)
    orders: dict[int, Counter[tuple[int, ...]]] = {}
    for unit, order in Presentation.objects.values_list("unit", "order"):
        orders.setdefault(unit, Counter())[tuple(order)] += 1
    assert all(counts == {(0, 1): 3, (1, 0): 3} for counts in orders.values())


@pytest.mark.parametrize("k", [0, 1, 2, 101, True])
def test_slots_can_only_be_added_and_only_up_to_a_hundred(project: Project, k: int) -> None:
    campaign = make_campaign(make_dataset(project, items=1), ratings_per_unit=2)
    with pytest.raises(AnnotationError, match="accepted: 3 to 100") as refused:
        campaign_extend(campaign=campaign, ratings_per_unit=k)
    assert list(refused.value.fields) == ["ratings_per_unit"]
    assert not Amendment.objects.exists()


def test_paused_campaigns_can_be_changed_but_drafts_and_closed_ones_cannot(project: Project) -> None:
    dataset = make_dataset(project, items=1)
    campaign = make_campaign(dataset)
    campaign_pause(campaign=campaign)
    campaign_extend(campaign=campaign, ratings_per_unit=3)
    campaign_close(campaign=campaign)
    draft = make_campaign(dataset, launch=False, name="Draft")
    ada = system(campaign, "Ada")
    for changed, state in ((campaign, "closed"), (draft, "draft")):
        for change in (
            lambda campaign=changed: campaign_extend(campaign=campaign, ratings_per_unit=50),
            lambda campaign=changed: system_stop(campaign=campaign, system=ada),
            lambda campaign=changed: system_resume(campaign=campaign, system=ada),
            lambda campaign=changed: items_add(campaign=campaign),
        ):
            with pytest.raises(AnnotationError, match=f"The campaign is {state}"):
                change()
    assert Slot.objects.filter(campaign=campaign).count() == 9
    assert Amendment.objects.count() == 1


# --- Stopping and resuming --------------------------------------------------------------------------------------------


def test_a_stopped_system_is_no_longer_handed_out_but_open_answers_count(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=3), ratings_per_unit=2)
    early = join(campaign)
    held = unit_request(campaign=campaign, rater=early)
    assert held is not None
    name = held.unit.label
    amendment = system_stop(campaign=campaign, system=system(campaign, name))
    assert amendment.data == {"system": name, "units": 3, "places": 6}
    assert unit_request(campaign=campaign, rater=early) == held  # still on screen
    assert not answer(held).extra
    assert shown_by(campaign) == {label: 3 for label in ("Ada", "Bo", "Cy") if label != name}
    counted = slot_counts(campaign)
    assert (counted.units, counted.stopped_units, counted.planned, counted.done) == (9, 3, 13, 7)

    amendment = system_resume(campaign=campaign, system=system(campaign, name))
    assert amendment.data == {"system": name, "units": 3, "places": 5}
    assert shown_by(campaign)[name] == 3
    assert stopped_systems(campaign) == []


def test_a_text_shared_with_a_running_system_goes_on(project: Project) -> None:
    dataset = make_dataset(project, items=2)
    item = dataset.items.get(position=0)
    shared = item.responses.get(sources__system__name="Ada")
    add_response(item, shared.text, System.objects.create(dataset=dataset, name="Di"))
    campaign = make_campaign(dataset)
    assert system_stop(campaign=campaign, system=system(campaign, "Ada")).data["units"] == 1
    assert shown_by(campaign) == {"Ada, Di": 1, "Bo": 2, "Cy": 2}
    assert system_stop(campaign=campaign, system=system(campaign, "Di")).data["units"] == 1
    assert shown_by(campaign) == {"Bo": 2, "Cy": 2}


def test_pairs_of_a_stopped_system_stop_unless_a_running_system_shares_the_text(project: Project) -> None:
    dataset = make_dataset(project, items=1)
    item = dataset.items.get()
    shared = item.responses.get(sources__system__name="Ada")
    add_response(item, shared.text, System.objects.create(dataset=dataset, name="Di"))
    campaign = make_campaign(dataset, presentation="pair")
    assert set(shown_by(campaign)) == {"Ada, Di, Bo", "Ada, Di, Cy", "Bo, Cy"}
    system_stop(campaign=campaign, system=system(campaign, "Ada"))
    assert Unit.objects.filter(stopped=True).count() == 0
    system_stop(campaign=campaign, system=system(campaign, "Di"))
    assert set(shown_by(campaign)) == {"Bo, Cy"}
    # With both stopped, a pair comes back once one of its text's systems runs again.
    assert system_resume(campaign=campaign, system=system(campaign, "Ada")).data["units"] == 2
    system_stop(campaign=campaign, system=system(campaign, "Bo"))
    assert set(Unit.objects.filter(stopped=False).values_list("label", flat=True)) == {"Ada, Di, Cy"}


def test_with_named_pairs_only_named_pairs_of_running_systems_go_on(project: Project) -> None:
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo", "Cy"])
    item = dataset.items.get()
    shared = item.responses.get(sources__system__name="Ada")
    add_response(item, shared.text, System.objects.create(dataset=dataset, name="Di"))
    campaign = make_campaign(dataset, presentation="pair", launch=False)
    Campaign.objects.filter(pk=campaign.pk).update(pairs=[["Ada", "Bo"], ["Di", "Cy"]])
    campaign = campaign_launch(campaign=campaign)
    system_stop(campaign=campaign, system=system(campaign, "Ada"))  # Di and Bo are no pair of the design
    assert list(Unit.objects.filter(stopped=False).values_list("label", flat=True)) == ["Ada, Di, Cy"]


def test_lists_go_on_showing_every_system(project: Project) -> None:
    dataset = make_dataset(project, items=2)
    add_response(
        Item.objects.create(dataset=dataset, external_id="lonely", position=9, message="?"),
        "Only Ada answered.",
        dataset.systems.get(name="Ada"),
    )
    campaign = make_campaign(dataset, presentation="list")
    with pytest.raises(AnnotationError, match="stay comparable"):
        system_stop(campaign=campaign, system=system(campaign, "Bo"))
    assert system_stop(campaign=campaign, system=system(campaign, "Ada")).data["units"] == 1
    assert sum(shown_by(campaign).values()) == 2


def test_impossible_stops_and_resumptions_are_refused(project: Project) -> None:
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo"])
    stranger = System.objects.create(dataset=dataset, name="Zed")
    campaign = make_campaign(dataset)
    ada, bo = system(campaign, "Ada"), system(campaign, "Bo")
    with pytest.raises(AnnotationError, match="Zed is not rated in this campaign; accepted: Ada, Bo"):
        system_stop(campaign=campaign, system=stranger)
    with pytest.raises(AnnotationError, match="not stopped; accepted: none"):
        system_resume(campaign=campaign, system=ada)
    system_stop(campaign=campaign, system=ada)
    with pytest.raises(AnnotationError, match="already stopped"):
        system_stop(campaign=campaign, system=ada)
    with pytest.raises(AnnotationError, match="nothing left to hand out"):
        system_stop(campaign=campaign, system=bo)
    with pytest.raises(AnnotationError, match="Bo is not stopped; accepted: Ada"):
        system_resume(campaign=campaign, system=bo)


def test_slots_added_to_stopped_units_are_not_handed_out(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1), ratings_per_unit=1)
    system_stop(campaign=campaign, system=system(campaign, "Ada"))
    campaign_extend(campaign=campaign, ratings_per_unit=2)
    assert Slot.objects.count() == 6
    assert sum((shown_by(campaign) for _ in range(3)), Counter()) == {"Bo": 2, "Cy": 2}


# --- Adding items -----------------------------------------------------------------------------------------------------


def test_added_items_are_appended_without_changing_existing_units(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=2), ratings_per_unit=3)
    before = list(Unit.objects.order_by("position").values_list("pk", "position", "label"))
    with pytest.raises(AnnotationError, match="nothing to add"):
        items_add(campaign=campaign)
    add_item(campaign, 7, ["Ada", "Bo", "Cy"])
    add_item(campaign, 8, ["Ada", "Bo", "Cy"])
    amendment = items_add(campaign=campaign)
    assert amendment.data | {"units_hash": ""} == {
        "units": 6,
        "places": 18,
        "items": 2,
        "first_position": 6,
        "item_limit": [None, None],
        "units_hash": "",
    }
    after = list(Unit.objects.order_by("position").values_list("pk", "position", "label"))
    assert after[:6] == before
    assert [position for _, position, _ in after] == list(range(12))
    labels = [label for _, _, label in after[6:]]
    assert all(label != next_label for label, next_label in pairwise(labels))  # interleaved
    assert Slot.objects.count() == 36
    with pytest.raises(AnnotationError, match="nothing to add"):
        items_add(campaign=campaign)


def test_a_raised_limit_takes_in_further_items_and_is_never_lowered(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=5), item_limit=2)
    assert len(addition_plan(campaign, 4).units) == 6
    with pytest.raises(AnnotationError, match="accepted: 2 or more"):
        items_add(campaign=campaign, item_limit=1)
    with pytest.raises(AnnotationError, match="set a higher limit"):
        items_add(campaign=campaign)
    assert items_add(campaign=campaign, item_limit=4).data["item_limit"] == [2, 4]
    campaign.refresh_from_db()
    assert campaign.item_limit == 4
    assert set(Unit.objects.values_list("item__position", flat=True)) == {0, 1, 2, 3}
    unlimited = make_campaign(campaign.dataset, name="All")
    with pytest.raises(AnnotationError, match="rates all items"):
        items_add(campaign=unlimited, item_limit=9)


def test_systems_outside_the_design_are_not_added(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    add_item(campaign, 5, ["Ada", "Newcomer"])
    assert addition_plan(campaign).new_systems == ["Newcomer"]
    items_add(campaign=campaign)
    assert set(Unit.objects.values_list("label", flat=True)) == {"Ada", "Bo", "Cy"}


def test_an_output_missing_at_launch_is_added_but_existing_lists_do_not_change(project: Project) -> None:
    dataset = make_dataset(project, items=2)
    item, ada = dataset.items.get(position=0), dataset.systems.get(name="Ada")
    item.sources.get(system=ada).delete()
    single = make_campaign(dataset)
    lists = make_campaign(dataset, presentation="list", name="Lists")
    add_response(item, "Ada thought for long.", ada)
    assert len(addition_plan(single).units) == 1
    addition = addition_plan(lists)
    assert (addition.units, addition.n_lists_left) == ([], 1)
    with pytest.raises(AnnotationError, match="The lists of 1 items would now show other texts"):
        items_add(campaign=lists)


def test_added_units_of_a_stopped_system_are_stopped_too(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1), ratings_per_unit=1)
    system_stop(campaign=campaign, system=system(campaign, "Ada"))
    add_item(campaign, 3, ["Ada", "Bo"])
    items_add(campaign=campaign)
    assert shown_by(campaign) == {"Bo": 2, "Cy": 1}


# --- The chain --------------------------------------------------------------------------------------------------------


def test_amendments_form_a_hash_chain_that_reveals_changes(project: Project, manager: User) -> None:
    """Expected hashes come from the documented formula."""
    campaign = make_campaign(make_dataset(project, items=1))
    campaign_extend(campaign=campaign, ratings_per_unit=4, by=manager)
    system_stop(campaign=campaign, system=system(campaign, "Bo"), by=manager)
    first, second = campaign.amendments.order_by("number")
    text = '{"data":{"places":6,"ratings_per_unit":[2,4]},"kind":"extend","number":1}'
    assert first.hash == hashlib.sha256((campaign.design_hash + text).encode()).hexdigest()
    text = json.dumps({"data": second.data, "kind": "stop_system", "number": 2}, sort_keys=True, separators=(",", ":"))
    assert second.hash == hashlib.sha256((first.hash + text).encode()).hexdigest()
    assert chain_check(campaign).sentence == (
        "The record is intact: 2 amendments, each hash follows from the one before."
    )
    with connection.cursor() as cursor:  # bypass the trigger, as only the database's owner can
        cursor.execute("SET LOCAL assay.purge = 'on'")
    Amendment.objects.filter(pk=first.pk).update(data={"places": 6, "ratings_per_unit": [2, 3]})
    assert chain_check(campaign).broken == 1
    assert (first.made_by, second.made_by) == (manager, manager)


def test_every_change_is_in_the_audit_log_with_who_made_it(project: Project, manager: User) -> None:
    campaign = make_campaign(make_dataset(project, items=1))
    campaign_extend(campaign=campaign, ratings_per_unit=4, by=manager)
    system_stop(campaign=campaign, system=system(campaign, "Bo"), by=manager)
    system_resume(campaign=campaign, system=system(campaign, "Bo"), by=manager)
    add_item(campaign, 3, ["Ada"])
    items_add(campaign=campaign, by=manager)
    entries = AuditEntry.objects.filter(
        campaign=campaign,
        verb__in=[
            "campaign.extend",
            "campaign.stop_system",
            "campaign.resume_system",
            "campaign.add_items",
        ],
    ).order_by("pk")
    assert [(entry.actor, entry.data["amendment"]) for entry in entries] == [(manager, n) for n in (1, 2, 3, 4)]
    assert entries[0].summary == "Ratings of each response raised from 2 to 4: 6 more slots."
