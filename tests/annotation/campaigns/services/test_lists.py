"""Lists of responses, and campaigns that ask about them: everywhere that a target is looked at."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.campaigns.fields.table import CampaignDraft
from annotation.campaigns.selectors import rated_sources
from annotation.campaigns.services.copies import campaign_clone, campaign_import
from annotation.campaigns.services.documents import campaign_document, campaign_export
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.lists import campaign_for_list
from annotation.campaigns.services.readiness import launch_report
from annotation.campaigns.services.writing import campaign_create, campaign_update
from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.lists import response_lists_of, responses_page
from annotation.datasets.services.lists import response_list_create, response_list_delete
from annotation.dry_runs.services.sandbox import sandbox_purge
from annotation.models import Campaign, Dataset, Project, QualityRules, Response, ResponseList, Target, User
from annotation.quality.services.operations import campaign_extend, items_add
from annotation.rating.selectors.screens import preview_screen
from annotation.records.selectors.facts import campaign_facts
from annotation.records.services.heds_record import recorded_answers
from annotation.records.services.methods import methods_text
from annotation.weighting.exclusion.measured import GoldAccuracyBelow
from tests.annotation.worlds.campaigns import RELEVANCE, join, make_campaign, make_dataset, rate_next


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return make_dataset(project)


@pytest.fixture
def chosen(dataset: Dataset) -> list[int]:
    """Two responses of the second item, one of the fourth: none of the first."""
    second, fourth = dataset.items.get(position=1), dataset.items.get(position=3)
    return [*second.responses.values_list("pk", flat=True)[:2], fourth.responses.first().pk]


@pytest.fixture
def listed(dataset: Dataset, chosen: list[int], manager: User) -> ResponseList:
    return response_list_create(
        dataset=dataset, name="Unsure", responses=chosen, origin={"reason": "interval"}, by=manager
    )


@pytest.fixture
def like(dataset: Dataset) -> Campaign:
    return make_campaign(
        dataset,
        name="First",
        systems=list(dataset.systems.all()),
        instructions="Read twice.",
        completion_code="SECRET",
        item_limit=1,
    )


def draft(dataset: Dataset, listed: ResponseList | None, **options: Any) -> CampaignDraft:
    options = {"name": "Again", "criteria": [RELEVANCE], "target": Target.LISTED, **options}
    return CampaignDraft(dataset=dataset, response_list=listed, **options)


def test_a_list_holds_each_response_once_and_says_who_chose_it(
    dataset: Dataset, chosen: list[int], manager: User
) -> None:
    made = response_list_create(
        dataset=dataset, name=" Unsure ", responses=[*chosen, chosen[0]], origin={"release": 3}, by=manager
    )
    assert set(made.responses.values_list("pk", flat=True)) == set(chosen)
    assert (made.name, made.origin, made.created_by, made.project) == (
        "Unsure",
        {"release": 3},
        manager,
        dataset.project,
    )
    (shown,) = response_lists_of(dataset.project)
    assert (shown.size, shown.n_items) == (3, 2)
    entry = dataset.project.audit_entries.get(verb="response_list.create")
    assert entry.summary == "Listed 3 responses of “chat” as “Unsure”."


@pytest.mark.parametrize(
    ("change", "field", "says"),
    [
        ({"name": " "}, "name", "accepted: 1 to 120"),
        ({"name": "x" * 121}, "name", "Found 121 characters"),
        ({"responses": []}, "responses", "Found none"),
        ({"responses": [10**9]}, "responses", "Found 1 that are no responses of the data set 'chat': 1000000000."),
    ],
)
def test_what_makes_no_list_is_refused_and_nothing_is_stored(
    dataset: Dataset, chosen: list[int], change: dict[str, Any], field: str, says: str
) -> None:
    asked = {"dataset": dataset, "name": "Unsure", "responses": chosen, "origin": {}, **change}
    with pytest.raises(AnnotationError, match=says) as refused:
        response_list_create(**asked)
    assert list(refused.value.fields) == [field]
    assert not ResponseList.objects.exists()


def test_a_response_of_another_data_set_is_refused(dataset: Dataset, chosen: list[int]) -> None:
    other = make_dataset(dataset.project, name="other")
    foreign = Response.objects.filter(item__dataset=other).first()
    with pytest.raises(AnnotationError, match=str(foreign.pk)):
        response_list_create(dataset=dataset, name="x", responses=[*chosen, foreign.pk], origin={})


def test_pages_of_a_list_follow_each_other_without_loss(listed: ResponseList, chosen: list[int]) -> None:
    seen, after = [], None
    for _ in range(3):
        page, after = responses_page(listed, after=after, size=1)
        seen += [response.pk for response in page]
    assert (seen, after) == (sorted(chosen), None)


def test_a_campaign_asks_about_the_listed_responses_alone(
    dataset: Dataset, listed: ResponseList, chosen: list[int]
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == set(chosen)
    report = launch_report(campaign)
    assert (report.ready, report.units, report.slots) == (True, 3, 15)
    assert preview_screen(campaign).item == dataset.items.get(position=1)
    launched = campaign_launch(campaign=campaign)
    assert set(launched.units.values_list("responses", flat=True)) == set(chosen)
    assert launched.design["response_list"] == {"name": "Unsure", "size": 3}
    assert rate_next(launched, join(launched)) is not None


def test_an_output_of_several_systems_is_asked_about_once(dataset: Dataset) -> None:
    shared = dataset.items.get(position=0).responses.first()
    shared.sources.create(item=shared.item, kind="mined")
    listed = response_list_create(dataset=dataset, name="One", responses=[shared.pk], origin={})
    campaign = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, listed)))
    assert (campaign.units.count(), campaign.design["shared_outputs"]) == (1, 1)


def test_a_limit_counts_the_items_of_the_list(dataset: Dataset, listed: ResponseList, chosen: list[int]) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed, item_limit=1))
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == set(chosen[:2])
    dataset.items.filter(position=3).update(split="test")
    campaign_update(campaign=campaign, draft=draft(dataset, listed, item_limit=1, split="test"))
    campaign.refresh_from_db()
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == {chosen[2]}


def test_lists_show_the_listed_texts_of_an_item_together(dataset: Dataset, listed: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed, presentation="list"))
    launched = campaign_launch(campaign=campaign)
    assert sorted(unit.responses.count() for unit in launched.units.all()) == [1, 2]


@pytest.mark.parametrize(
    ("options", "field", "says"),
    [
        ({"presentation": "pair"}, "presentation", "Pairs compare systems"),
        ({"target": "outputs"}, "response_list", "accepted: none, since the target"),
        ({"listed": None}, "response_list", "Found none; accepted: the list"),
    ],
)
def test_what_a_list_cannot_be_asked_for_is_refused_at_its_field(
    dataset: Dataset, listed: ResponseList, options: dict[str, Any], field: str, says: str
) -> None:
    asked = draft(dataset, options.pop("listed", listed), **options)
    with pytest.raises(AnnotationError, match=says) as refused:
        campaign_create(project=dataset.project, draft=asked)
    assert list(refused.value.fields) == [field]


def test_a_list_of_another_data_set_is_refused(dataset: Dataset, listed: ResponseList) -> None:
    other = make_dataset(dataset.project, name="other")
    with pytest.raises(AnnotationError, match="The list 'Unsure' is not one of the data set 'other'"):
        campaign_create(project=dataset.project, draft=draft(other, listed))


def test_the_database_knows_no_listed_campaign_without_a_list(dataset: Dataset, listed: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    with pytest.raises(IntegrityError, match="campaign_names_a_list_iff_listed"), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(response_list=None)


# --- Campaigns for a list ---------------------------------------------------------------------------------------------


def test_a_campaign_for_a_list_asks_what_the_other_one_asks(
    listed: ResponseList, like: Campaign, chosen: list[int], manager: User
) -> None:
    rule = GoldAccuracyBelow(action="exclude", accuracy=0.6, after=5).to_dict()
    QualityRules.objects.create(campaign=like, version=1, rules=[rule], before_launch=True)
    made = campaign_for_list(response_list=listed, like=like, ratings_per_unit=2, by=manager)
    expected = replace(
        draft_of(like),
        name="Unsure",
        target=Target.LISTED,
        response_list=listed,
        systems=[],
        item_limit=None,
        completion_code="",
    )
    assert draft_of(made) == expected
    assert (made.state, made.ratings_per_unit) == ("draft", 2)
    assert made.rule_versions.get().rules == [rule]
    assert made.audit_entries.first().summary == "Drafted “Unsure” after “First”, to rate the list “Unsure”."
    assert campaign_for_list(response_list=listed, like=like, ratings_per_unit=3).name == "Unsure (2)"
    assert set(campaign_launch(campaign=made).units.values_list("responses", flat=True)) == set(chosen)


def test_a_campaign_of_pairs_is_no_model_for_a_list(dataset: Dataset, listed: ResponseList) -> None:
    pairs = make_campaign(dataset, name="Pairs", presentation="pair")
    with pytest.raises(AnnotationError, match="compares pairs of systems") as refused:
        campaign_for_list(response_list=listed, like=pairs, ratings_per_unit=2)
    assert list(refused.value.fields) == ["like"]


def test_a_campaign_of_another_project_is_no_model(listed: ResponseList) -> None:
    elsewhere = make_campaign(make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere")))
    with pytest.raises(AnnotationError, match="not one of this project"):
        campaign_for_list(response_list=listed, like=elsewhere, ratings_per_unit=2)


def test_a_list_is_deleted_only_while_no_campaign_asks_about_it(
    listed: ResponseList, like: Campaign, manager: User
) -> None:
    free = response_list_create(
        dataset=listed.dataset, name="Free", responses=listed.responses.values_list("pk", flat=True), origin={}
    )
    campaign_for_list(response_list=listed, like=like, ratings_per_unit=2)
    with pytest.raises(AnnotationError, match="“Unsure” is rated in Unsure"):
        response_list_delete(response_list=listed, by=manager)
    response_list_delete(response_list=free, by=manager)
    assert ResponseList.objects.get() == listed
    assert listed.project.audit_entries.filter(verb="response_list.delete", actor=manager).exists()


# --- Copies -----------------------------------------------------------------------------------------------------------


def test_a_clone_asks_about_the_same_list(dataset: Dataset, listed: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    clone = campaign_clone(campaign=campaign)
    assert clone.response_list == listed
    assert campaign_document(clone) == campaign_document(campaign)


def test_a_file_brings_the_list_along(dataset: Dataset, listed: ResponseList, manager: User) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    file = json.loads(json.dumps(campaign_export(campaign)))
    assert [item for item, _ in file["response_list"]["responses"]] == ["item-1", "item-1", "item-3"]
    other = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    made = campaign_import(project=other.project, document=file, dataset=other, by=manager)
    assert campaign_document(made) == campaign_document(campaign)
    assert (made.response_list.dataset, made.response_list.origin) == (other, {"reason": "interval"})
    again = campaign_import(project=other.project, document=file, dataset=other, by=manager)
    assert again.response_list == made.response_list
    assert campaign_launch(campaign=made).design_hash == campaign_launch(campaign=campaign).design_hash


def test_a_file_whose_list_the_data_set_lacks_says_which(dataset: Dataset, listed: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    file = campaign_export(campaign)
    other = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"), items=2)
    Response.objects.filter(item__dataset=other, text_key=file["response_list"]["responses"][0][1]).delete()
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=other.project, document=file, dataset=other)
    key = file["response_list"]["responses"][0][1][:12]
    lacks = "The data set 'chat' lacks 2 of the 3 responses of the list 'Unsure'"
    assert refused.value.fields == {"response_list": [f"{lacks}: item-1, text {key}…; item-3 (no such item)."]}
    assert not ResponseList.objects.filter(dataset=other).exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"response_list": None}, "response_list"),
        ({"response_list": 5}, "response_list"),
        ({"response_list": {"name": "x"}}, "response_list.responses"),
        ({"response_list": {"name": "x", "responses": [["a"]]}}, "response_list.responses"),
        ({"target": "outputs"}, "response_list"),
    ],
)
def test_a_wrong_list_in_a_file_is_named(
    dataset: Dataset, listed: ResponseList, change: dict[str, Any], field: str
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=dataset.project, document={**campaign_export(campaign), **change}, dataset=dataset)
    assert list(refused.value.fields) == [field]


# --- While it runs, and its records -----------------------------------------------------------------------------------


def test_items_cannot_be_added_to_a_list_but_a_limit_can_be_raised(dataset: Dataset, listed: ResponseList) -> None:
    whole = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, listed)))
    with pytest.raises(AnnotationError, match="every response of the list “Unsure”, and a list never changes"):
        items_add(campaign=whole)
    first = campaign_create(project=dataset.project, draft=draft(dataset, listed, item_limit=1, name="First item"))
    part = campaign_launch(campaign=first)
    items_add(campaign=part, item_limit=2)
    assert part.units.count() == 3
    with pytest.raises(AnnotationError, match="already has every unit of 'Unsure'"):
        items_add(campaign=part, item_limit=5)
    campaign_extend(campaign=part, ratings_per_unit=7)
    assert part.slots.count() == 21


def test_the_record_says_that_a_list_was_rated(dataset: Dataset, listed: ResponseList) -> None:
    campaign = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, listed)))
    facts = campaign_facts(campaign)
    answer = recorded_answers(facts)["3.1.2"].text
    assert answer == "Of the data set chat: the responses of the list “Unsure” (3 responses)."
    assert "The responses were chosen one by one, in a list of 3 responses." in methods_text(facts)


def test_a_copy_for_a_dry_run_reads_the_same_list(dataset: Dataset, listed: ResponseList) -> None:
    sandbox = Project.objects.create(name="Dry", slug="dry-run-1", is_sandbox=True)
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, listed))
    copy = campaign_launch(
        campaign=campaign_create(project=sandbox, draft=replace(draft_of(campaign), item_limit=1, name="Copy"))
    )
    assert copy.units.count() == 2
    rate_next(copy, join(copy))
    sandbox_purge(sandbox.pk)
    assert ResponseList.objects.get() == listed


def test_a_raised_limit_finds_listed_responses_of_whatever_source(dataset: Dataset, manager: User) -> None:
    """The first item's is a person's, the fourth's a system's: the list names both."""
    human = dataset.items.get(position=1).responses.get(sources__kind="human")
    output = dataset.items.get(position=3).responses.get(sources__system__name="Bo")
    mixed = response_list_create(dataset=dataset, name="Mixed", responses=[human.pk, output.pk], origin={}, by=manager)
    campaign = campaign_launch(
        campaign=campaign_create(project=dataset.project, draft=draft(dataset, mixed, item_limit=1))
    )
    items_add(campaign=campaign, item_limit=2)
    rated = campaign.units.order_by("position").values_list("unit_responses__response", flat=True)
    assert list(rated) == [human.pk, output.pk]


def test_what_the_database_cannot_hold_of_an_origin_is_kept_as_escapes(dataset: Dataset, chosen: list[int]) -> None:
    made = response_list_create(dataset=dataset, name="Odd\0", responses=chosen, origin={"why": "a\0b"})
    made.refresh_from_db()
    assert (made.name, made.origin) == ("Odd\\x00", {"why": "a\\x00b"})
