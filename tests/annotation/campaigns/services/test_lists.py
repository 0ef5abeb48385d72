"""Lists of responses and the campaigns that rate them."""

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
def response_ids(dataset: Dataset) -> list[int]:
    """Two responses of the second item and one of the fourth."""
    second, fourth = dataset.items.get(position=1), dataset.items.get(position=3)
    return [*second.responses.values_list("pk", flat=True)[:2], fourth.responses.first().pk]


@pytest.fixture
def response_list(dataset: Dataset, response_ids: list[int], manager: User) -> ResponseList:
    return response_list_create(
        dataset=dataset, name="Unsure", responses=response_ids, origin={"reason": "interval"}, by=manager
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


def draft(dataset: Dataset, response_list: ResponseList | None, **options: Any) -> CampaignDraft:
    options = {"name": "Again", "criteria": [RELEVANCE], "target": Target.LISTED, **options}
    return CampaignDraft(dataset=dataset, response_list=response_list, **options)


def test_a_list_holds_each_response_once_and_its_creator(
    dataset: Dataset, response_ids: list[int], manager: User
) -> None:
    created = response_list_create(
        dataset=dataset, name=" Unsure ", responses=[*response_ids, response_ids[0]], origin={"release": 3}, by=manager
    )
    assert set(created.responses.values_list("pk", flat=True)) == set(response_ids)
    assert (created.name, created.origin, created.created_by, created.project) == (
        "Unsure",
        {"release": 3},
        manager,
        dataset.project,
    )
    (row,) = response_lists_of(dataset.project)
    assert (row.size, row.n_items) == (3, 2)
    entry = dataset.project.audit_entries.get(verb="response_list.create")
    assert entry.summary == "Listed 3 responses of “chat” as “Unsure”."


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"name": " "}, "name", "accepted: 1 to 120"),
        ({"name": "x" * 121}, "name", "Found 121 characters"),
        ({"responses": []}, "responses", "Found none"),
        ({"responses": [10**9]}, "responses", "Found 1 that are no responses of the data set 'chat': 1000000000."),
    ],
)
def test_an_invalid_list_is_refused_and_nothing_is_stored(
    dataset: Dataset, response_ids: list[int], change: dict[str, Any], field: str, message: str
) -> None:
    arguments = {"dataset": dataset, "name": "Unsure", "responses": response_ids, "origin": {}, **change}
    with pytest.raises(AnnotationError, match=message) as refused:
        response_list_create(**arguments)
    assert list(refused.value.fields) == [field]
    assert not ResponseList.objects.exists()


def test_a_response_of_another_data_set_is_refused(dataset: Dataset, response_ids: list[int]) -> None:
    other_dataset = make_dataset(dataset.project, name="other")
    foreign = Response.objects.filter(item__dataset=other_dataset).first()
    with pytest.raises(AnnotationError, match=str(foreign.pk)):
        response_list_create(dataset=dataset, name="x", responses=[*response_ids, foreign.pk], origin={})


def test_pages_of_a_list_hold_every_response_once(response_list: ResponseList, response_ids: list[int]) -> None:
    ids, after = [], None
    for _ in range(3):
        page, after = responses_page(response_list, after=after, size=1)
        ids += [response.pk for response in page]
    assert (ids, after) == (sorted(response_ids), None)


def test_a_campaign_rates_only_the_listed_responses(
    dataset: Dataset, response_list: ResponseList, response_ids: list[int]
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == set(response_ids)
    report = launch_report(campaign)
    assert (report.ready, report.units, report.slots) == (True, 3, 15)
    assert preview_screen(campaign).item == dataset.items.get(position=1)
    launched = campaign_launch(campaign=campaign)
    assert set(launched.units.values_list("responses", flat=True)) == set(response_ids)
    assert launched.design["response_list"] == {"name": "Unsure", "size": 3}
    assert rate_next(launched, join(launched)) is not None


def test_an_output_of_several_sources_is_rated_once(dataset: Dataset) -> None:
    shared = dataset.items.get(position=0).responses.first()
    shared.sources.create(item=shared.item, kind="mined")
    response_list = response_list_create(dataset=dataset, name="One", responses=[shared.pk], origin={})
    campaign = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, response_list)))
    assert (campaign.units.count(), campaign.design["shared_outputs"]) == (1, 1)


def test_a_limit_counts_the_items_of_the_list(
    dataset: Dataset, response_list: ResponseList, response_ids: list[int]
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list, item_limit=1))
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == set(response_ids[:2])
    dataset.items.filter(position=3).update(split="test")
    campaign_update(campaign=campaign, draft=draft(dataset, response_list, item_limit=1, split="test"))
    campaign.refresh_from_db()
    assert set(rated_sources(campaign).values_list("response_id", flat=True)) == {response_ids[2]}


def test_lists_show_the_listed_texts_of_an_item_together(dataset: Dataset, response_list: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list, presentation="list"))
    launched = campaign_launch(campaign=campaign)
    assert sorted(unit.responses.count() for unit in launched.units.all()) == [1, 2]


@pytest.mark.parametrize(
    ("options", "field", "message"),
    [
        ({"presentation": "pair"}, "presentation", "Pairs compare systems"),
        ({"target": "outputs"}, "response_list", "accepted: none, since the target"),
        ({"response_list": None}, "response_list", "Found none; accepted: the list"),
    ],
)
def test_a_design_that_does_not_fit_a_list_is_refused_at_its_field(
    dataset: Dataset, response_list: ResponseList, options: dict[str, Any], field: str, message: str
) -> None:
    invalid_draft = draft(dataset, options.pop("response_list", response_list), **options)
    with pytest.raises(AnnotationError, match=message) as refused:
        campaign_create(project=dataset.project, draft=invalid_draft)
    assert list(refused.value.fields) == [field]


def test_a_list_of_another_data_set_is_refused(dataset: Dataset, response_list: ResponseList) -> None:
    other_dataset = make_dataset(dataset.project, name="other")
    with pytest.raises(AnnotationError, match="The list 'Unsure' is not one of the data set 'other'"):
        campaign_create(project=dataset.project, draft=draft(other_dataset, response_list))


def test_the_database_refuses_a_listed_campaign_without_a_list(dataset: Dataset, response_list: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    with pytest.raises(IntegrityError, match="campaign_names_a_list_iff_listed"), transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(response_list=None)


# --- Campaigns for a list ---------------------------------------------------------------------------------------------


def test_a_campaign_for_a_list_has_the_design_of_its_model(
    response_list: ResponseList, like: Campaign, response_ids: list[int], manager: User
) -> None:
    rule = GoldAccuracyBelow(action="exclude", accuracy=0.6, after=5).to_dict()
    QualityRules.objects.create(campaign=like, version=1, rules=[rule], before_launch=True)
    campaign = campaign_for_list(response_list=response_list, like=like, ratings_per_unit=2, by=manager)
    expected = replace(
        draft_of(like),
        name="Unsure",
        target=Target.LISTED,
        response_list=response_list,
        systems=[],
        item_limit=None,
        completion_code="",
    )
    assert draft_of(campaign) == expected
    assert (campaign.state, campaign.ratings_per_unit) == ("draft", 2)
    assert campaign.rule_versions.get().rules == [rule]
    assert campaign.audit_entries.first().summary == "Drafted “Unsure” after “First”, to rate the list “Unsure”."
    assert campaign_for_list(response_list=response_list, like=like, ratings_per_unit=3).name == "Unsure (2)"
    assert set(campaign_launch(campaign=campaign).units.values_list("responses", flat=True)) == set(response_ids)


def test_a_campaign_of_pairs_cannot_be_the_model(dataset: Dataset, response_list: ResponseList) -> None:
    pairs = make_campaign(dataset, name="Pairs", presentation="pair")
    with pytest.raises(AnnotationError, match="compares pairs of systems") as refused:
        campaign_for_list(response_list=response_list, like=pairs, ratings_per_unit=2)
    assert list(refused.value.fields) == ["like"]


def test_a_campaign_of_another_project_cannot_be_the_model(response_list: ResponseList) -> None:
    foreign_campaign = make_campaign(make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere")))
    with pytest.raises(AnnotationError, match="not one of this project"):
        campaign_for_list(response_list=response_list, like=foreign_campaign, ratings_per_unit=2)


def test_a_list_is_deleted_only_while_no_campaign_rates_it(
    response_list: ResponseList, like: Campaign, manager: User
) -> None:
    unused = response_list_create(
        dataset=response_list.dataset,
        name="Free",
        responses=response_list.responses.values_list("pk", flat=True),
        origin={},
    )
    campaign_for_list(response_list=response_list, like=like, ratings_per_unit=2)
    with pytest.raises(AnnotationError, match="“Unsure” is rated in Unsure"):
        response_list_delete(response_list=response_list, by=manager)
    response_list_delete(response_list=unused, by=manager)
    assert ResponseList.objects.get() == response_list
    assert response_list.project.audit_entries.filter(verb="response_list.delete", actor=manager).exists()


# --- Copies -----------------------------------------------------------------------------------------------------------


def test_a_clone_rates_the_same_list(dataset: Dataset, response_list: ResponseList) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    clone = campaign_clone(campaign=campaign)
    assert clone.response_list == response_list
    assert campaign_document(clone) == campaign_document(campaign)


def test_a_file_contains_the_list(dataset: Dataset, response_list: ResponseList, manager: User) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    file = json.loads(json.dumps(campaign_export(campaign)))
    assert [item for item, _ in file["response_list"]["responses"]] == ["item-1", "item-1", "item-3"]
    other_dataset = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    imported = campaign_import(project=other_dataset.project, document=file, dataset=other_dataset, by=manager)
    assert campaign_document(imported) == campaign_document(campaign)
    assert (imported.response_list.dataset, imported.response_list.origin) == (other_dataset, {"reason": "interval"})
    imported_again = campaign_import(project=other_dataset.project, document=file, dataset=other_dataset, by=manager)
    assert imported_again.response_list == imported.response_list
    assert campaign_launch(campaign=imported).design_hash == campaign_launch(campaign=campaign).design_hash


def test_a_file_names_the_listed_responses_that_the_data_set_lacks(
    dataset: Dataset, response_list: ResponseList
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    file = campaign_export(campaign)
    other_dataset = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"), items=2)
    Response.objects.filter(item__dataset=other_dataset, text_key=file["response_list"]["responses"][0][1]).delete()
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=other_dataset.project, document=file, dataset=other_dataset)
    key = file["response_list"]["responses"][0][1][:12]
    lacks = "The data set 'chat' lacks 2 of the 3 responses of the list 'Unsure'"
    assert refused.value.fields == {"response_list": [f"{lacks}: item-1, text {key}…; item-3 (no such item)."]}
    assert not ResponseList.objects.filter(dataset=other_dataset).exists()


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
    dataset: Dataset, response_list: ResponseList, change: dict[str, Any], field: str
) -> None:
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    with pytest.raises(AnnotationError) as refused:
        campaign_import(project=dataset.project, document={**campaign_export(campaign), **change}, dataset=dataset)
    assert list(refused.value.fields) == [field]


# --- Running campaigns and their records ------------------------------------------------------------------------------


def test_items_cannot_be_added_to_a_list_but_a_limit_can_be_raised(
    dataset: Dataset, response_list: ResponseList
) -> None:
    unlimited = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, response_list)))
    with pytest.raises(AnnotationError, match="every response of the list “Unsure”, and a list never changes"):
        items_add(campaign=unlimited)
    limited_draft = campaign_create(
        project=dataset.project, draft=draft(dataset, response_list, item_limit=1, name="First item")
    )
    limited = campaign_launch(campaign=limited_draft)
    items_add(campaign=limited, item_limit=2)
    assert limited.units.count() == 3
    with pytest.raises(AnnotationError, match="already has every item of 'Unsure'"):
        items_add(campaign=limited, item_limit=5)
    campaign_extend(campaign=limited, ratings_per_unit=7)
    assert limited.slots.count() == 21


def test_the_record_states_that_a_list_was_rated(dataset: Dataset, response_list: ResponseList) -> None:
    campaign = campaign_launch(campaign=campaign_create(project=dataset.project, draft=draft(dataset, response_list)))
    facts = campaign_facts(campaign)
    answer = recorded_answers(facts)["3.1.2"].text
    assert answer == "Of the data set chat: the responses of the list “Unsure” (3 responses)."
    assert "The responses were chosen one by one, in a list of 3 responses." in methods_text(facts)


def test_a_dry_run_rates_the_same_list(dataset: Dataset, response_list: ResponseList) -> None:
    sandbox = Project.objects.create(name="Dry", slug="dry-run-1", is_sandbox=True)
    campaign = campaign_create(project=dataset.project, draft=draft(dataset, response_list))
    copy = campaign_launch(
        campaign=campaign_create(project=sandbox, draft=replace(draft_of(campaign), item_limit=1, name="Copy"))
    )
    assert copy.units.count() == 2
    rate_next(copy, join(copy))
    sandbox_purge(sandbox.pk)
    assert ResponseList.objects.get() == response_list


def test_a_raised_limit_adds_listed_responses_of_any_source(dataset: Dataset, manager: User) -> None:
    """The list has one human response and one system output, of different items."""
    human = dataset.items.get(position=1).responses.get(sources__kind="human")
    output = dataset.items.get(position=3).responses.get(sources__system__name="Bo")
    mixed = response_list_create(dataset=dataset, name="Mixed", responses=[human.pk, output.pk], origin={}, by=manager)
    campaign = campaign_launch(
        campaign=campaign_create(project=dataset.project, draft=draft(dataset, mixed, item_limit=1))
    )
    items_add(campaign=campaign, item_limit=2)
    rated = campaign.units.order_by("position").values_list("unit_responses__response", flat=True)
    assert list(rated) == [human.pk, output.pk]


def test_characters_that_the_database_cannot_hold_are_stored_as_escapes(
    dataset: Dataset, response_ids: list[int]
) -> None:
    created = response_list_create(dataset=dataset, name="Odd\0", responses=response_ids, origin={"why": "a\0b"})
    created.refresh_from_db()
    assert (created.name, created.origin) == ("Odd\\x00", {"why": "a\\x00b"})
