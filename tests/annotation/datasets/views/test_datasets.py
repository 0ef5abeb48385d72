import csv
import io
import json

import pytest
from django.urls import reverse

from annotation.datasets.selectors.datasets import dataset_facts, item_page, systems_hint
from annotation.models import Dataset, Item, JobState, Project, ReferenceSet, Release, ReleaseWeight, User
from tests.annotation.worlds.datasets import example_dataset, example_ratings
from tests.annotation.worlds.rated import make_dataset, make_item, make_response


def url(name: str, *args: object) -> str:
    return reverse(f"annotation:{name}", args=args)


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


@pytest.fixture
def item(dataset: Dataset) -> Item:
    return dataset.items.get(external_id="1")


def test_a_data_set_of_another_project_is_404(as_user, dataset: Dataset, item: Item, outsider: User) -> None:
    client = as_user(outsider)
    assert client.get(url("dataset-detail", "elsewhere", "small")).status_code == 404
    mine = example_dataset(outsider.projects.get(), name="Mine")
    assert client.get(url("item-detail", "elsewhere", mine.slug, item.pk)).status_code == 404


def test_its_page_shows_facts_systems_and_items(
    as_user, project: Project, dataset: Dataset, viewer: User, django_assert_max_num_queries
) -> None:
    client = as_user(viewer)
    with django_assert_max_num_queries(20):
        page = client.get(url("dataset-detail", project.slug, dataset.slug)).content.decode()
    for text in ("SystemA", "SystemB", "Then you saw the goal!", "Written by a person"):
        assert text in page


def test_items_are_found_by_id_context_and_message(as_user, project: Project, dataset: Dataset, viewer: User) -> None:
    client, address = as_user(viewer), url("dataset-detail", project.slug, dataset.slug)
    for search, expected in [
        ("sourdough", "What am I doing wrong?"),
        ("WEEKEND", "Any plans"),
        ("nowhere", "No item has"),
    ]:
        rows = client.get(address, {"q": search}, headers={"HX-Request": "true"}).content.decode()
        assert expected in rows
        assert "Then you saw the goal!" not in rows
        assert "<html" not in rows


@pytest.mark.parametrize("side", ["after", "before"])
def test_a_position_beyond_the_last_item_is_no_error(
    as_user, project: Project, dataset: Dataset, viewer: User, side: str
) -> None:
    address = url("dataset-detail", project.slug, "small")
    assert as_user(viewer).get(address, {side: "9" * 18}).status_code == 200


def test_items_can_be_paged_forwards_and_backwards(dataset: Dataset) -> None:
    Item.objects.bulk_create(Item(dataset=dataset, external_id=f"n{i}", position=3 + i) for i in range(4))
    first = item_page(dataset, size=3)
    second = item_page(dataset, size=3, after=first.following)
    third = item_page(dataset, size=3, after=second.following)
    assert [[i.position for i in page.items] for page in (first, second, third)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert (first.previous, third.following) == (None, None)
    second_again = item_page(dataset, size=3, before=third.previous)
    assert [i.position for i in second_again.items] == [3, 4, 5]
    assert item_page(dataset, size=3, before=second_again.previous).previous is None


def test_an_item_shows_outputs_before_references_and_mean_ratings(
    as_user, project: Project, dataset: Dataset, item: Item, viewer: User, django_assert_max_num_queries
) -> None:
    example_ratings(dataset)
    client = as_user(viewer)
    with django_assert_max_num_queries(20):
        page = client.get(url("item-detail", project.slug, dataset.slug, item.pk)).content.decode()
    assert page.index("Yes, it was brilliant.") < page.index("Yes, from thirty metres!")
    # ratings.csv: SystemA on item 1 has 5, 4, 5 on relevance and 4, 4, 3 on informativeness.
    assert page.count("4.67") == 1
    assert page.count("3.67") == 1


def test_references_are_sorted_by_the_weight_of_the_latest_release(
    as_user, project: Project, dataset: Dataset, item: Item, viewer: User
) -> None:
    chosen = ReferenceSet.objects.create(project=project, dataset=dataset, name="All", slug="all")
    release = Release.objects.create(reference_set=chosen, number=1)
    for text, weight in [("Yes, from thirty metres!", -0.5), ("Then you saw the goal!", 0.75)]:
        response = item.responses.get(text=text)
        ReleaseWeight.objects.create(
            release=release, item=item, response=response, weight=weight, rating_mean=3, n_ratings=5
        )
    Release.objects.filter(pk=release.pk).update(state=JobState.DONE, content_hash="x", finished_at="2026-01-01T00:00Z")
    page = as_user(viewer).get(url("item-detail", project.slug, dataset.slug, item.pk)).content.decode()
    references = page[page.index("references-heading") :]
    weighed = [references.index(text) for text in ("+0.75", "−0.50", "I did. What a strike.")]
    assert weighed == sorted(weighed)


def test_an_identical_output_names_both_systems(as_user, project: Project, dataset: Dataset, viewer: User) -> None:
    item = dataset.items.get(external_id="2")
    table = as_user(viewer).get(url("item-detail", project.slug, dataset.slug, item.pk), {"format": "json"})
    outputs = [row["systems"] for row in json.loads(table.getvalue()) if row["systems"]]
    assert outputs == ["SystemA, SystemB"]


def test_only_managers_can_edit_the_description(
    as_user, project: Project, dataset: Dataset, viewer: User, manager: User
) -> None:
    address = url("dataset-edit", project.slug, dataset.slug)
    fields = {"name": "Talk", "language": "en-GB", "description": "", "licence": "CC0", "attribution": ""}
    assert as_user(viewer).post(address, fields).status_code == 403
    assert as_user(manager).post(address, fields).status_code == 302
    dataset.refresh_from_db()
    assert (dataset.name, dataset.slug, dataset.licence) == ("Talk", "small", "CC0")


def test_reading_pages_refuse_post(as_user, project: Project, dataset: Dataset, item: Item, manager: User) -> None:
    client = as_user(manager)
    assert client.post(url("dataset-list", project.slug)).status_code == 405
    assert client.post(url("item-detail", project.slug, dataset.slug, item.pk)).status_code == 405


@pytest.mark.parametrize(("table", "rows"), [("items", 3), ("systems", 2), ("responses", 13)])
def test_every_table_is_downloadable(as_user, project, dataset, viewer, table: str, rows: int) -> None:
    client = as_user(viewer)
    content = client.get(url("dataset-download", project.slug, dataset.slug, table, "csv")).getvalue().decode()
    assert len(list(csv.DictReader(io.StringIO(content)))) == rows
    document = client.get(url("dataset-download", project.slug, dataset.slug, table, "json")).getvalue()
    assert len(json.loads(document)) == rows


def test_an_unknown_table_or_format_is_404(as_user, project: Project, dataset: Dataset, viewer: User) -> None:
    for table, kind in [("secrets", "csv"), ("items", "xlsx")]:
        address = url("dataset-download", project.slug, dataset.slug, table, kind)
        assert as_user(viewer).get(address).status_code == 404


def test_a_reference_of_two_sources_is_counted_once_as_in_reference_sets(project):
    dataset = make_dataset(project, "twice")
    item = make_item(dataset, "i0")
    make_response(item, "Yes.", "human", "mined")
    make_response(item, "No.", "human", "A system")

    facts = dataset_facts(dataset)

    assert (facts.references, facts.outputs) == (2, 1)
    make_response(make_item(dataset, "i1"), "No.", "A system")
    again = dataset_facts(dataset)
    assert (again.outputs, again.distinct_outputs, again.responses) == (2, 1, 3), "one text of two items"
    assert dict(facts.kinds)["Mined"] == 1
    assert systems_hint(dataset, again.systems) == ""
    for text in ("No.", "Yes."):
        make_response(make_item(dataset, f"of both {text}"), text, "Another", "Same again")
    assert (
        systems_hint(dataset, dataset_facts(dataset).systems) == "2 different: Same again gave the outputs of Another"
    )
