"""Pages of seeds: drawing candidates, previewing, selecting, and two more ratings."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.datasets.services.imports import dataset_import_execute
from annotation.models import Campaign, DatasetImport, Item, JobState, Project, SeedSelecting, SeedSelection, User
from annotation.seeds.services.rating_again import seeds_rate_again
from annotation.seeds.services.selecting import seeds_select_execute
from annotation.seeds.services.selections import SelectionRules, seeds_select
from tests.annotation.seeds.services.test_sampling import make_corpus, triples
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate

AsUser = Callable[[User], Client]
RATINGS = {"a": [5, 5, 5], "b": [3, 4, 5], "c": [3, 4, 4], "d": [4, 5], "f": [1, 1, 1]}  # b has a mean of 4


@pytest.fixture
def campaign(project: Project) -> Campaign:
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    for name, values in RATINGS.items():
        seed = make_response(make_item(dataset, name), f"Seed of {name}.", "seed")
        for number, value in enumerate(values):
            rate(campaign, f"rater {number}", seed, value)
    make_response(make_item(dataset, "e"), "Seed of e.", "seed")
    return campaign


@pytest.fixture
def selection(campaign: Campaign) -> SeedSelection:
    shares = {"dev": 0.5, "test": 0.5}
    rules = SelectionRules.of(dataset=campaign.dataset, campaigns=[campaign], threshold=4.0, shares=shares, seed=1)
    return seeds_select(rules=rules)


def page(name: str, *more: Any) -> str:
    return reverse(f"annotation:{name}", args=["chit-chat", *more])


SELECT = {"threshold": "4", "min_ratings": "1", "shares": "dev 0.5, test 0.5", "seed": "1"}


def select_waiting() -> None:
    """Run queued selections as the worker does."""
    for job in SeedSelecting.objects.filter(state=JobState.QUEUED):
        seeds_select_execute(selecting_id=job.pk)


# --- Permissions ------------------------------------------------------------------------------------------------------


def test_outsiders_get_404(selection: SeedSelection, outsider: User, as_user: AsUser) -> None:
    client = as_user(outsider)
    for name in ("seed-list", "seed-sample"):
        assert client.get(page(name)).status_code == 404
    for name, *more in (("seed-detail",), ("seed-select",), ("seed-chart", "json")):
        assert client.get(page(name, "replies", *more)).status_code == 404
    for address in (page("seed-rate", "replies"), page("seed-unselect", "replies")):
        assert client.post(address).status_code == 404
    assert SeedSelection.objects.get() == selection


def test_a_viewer_can_read_but_not_change(selection: SeedSelection, viewer: User, as_user: AsUser) -> None:
    client = as_user(viewer)
    assert client.get(page("seed-list")).status_code == 200
    text = client.get(page("seed-detail", "replies")).content.decode()
    assert "Seed of b." in text
    assert "Two more ratings" not in text
    for address in (page("seed-sample"), page("seed-select", "replies")):
        assert client.get(address).status_code == 403
    for address in (page("seed-select", "replies"), page("seed-rate", "replies"), page("seed-unselect", "replies")):
        assert client.post(address, SELECT).status_code == 403
    assert SeedSelection.objects.get() == selection


def test_changes_are_post_only(selection: SeedSelection, manager: User, as_user: AsUser) -> None:
    for name in ("seed-rate", "seed-unselect"):
        assert as_user(manager).get(page(name, "replies")).status_code == 405


# --- Drawing ----------------------------------------------------------------------------------------------------------


def test_candidates_are_drawn_by_a_worker(
    project: Project, manager: User, as_user: AsUser, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR = tmp_path
    corpus = make_corpus(project, triples(30))
    client = as_user(manager)
    assert "Talk (30 triples)" in client.get(f"{page('seed-sample')}?corpus=talk").content.decode()
    data = {
        "corpus": corpus.pk,
        "name": "Candidates",
        "n": 12,
        "seed": 3,
        "normalisation": "nfc-space",
        "mask_handles": "on",
        "max_tokens": 40,
    }
    answer = client.post(page("seed-sample"), data)
    job = DatasetImport.objects.get()
    assert answer["Location"] == page("dataset-import-detail", job.pk)
    assert [step["step"] for step in job.options["sample"]["hygiene"]] == ["mask_handles", "length"]
    dataset_import_execute(import_id=job.pk)
    assert Item.objects.filter(dataset__name="Candidates").count() == 12
    text = client.get(page("dataset-import-detail", job.pk)).content.decode()
    assert "Triples drawn from the corpus" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 31}, "Found 31; accepted: 1 to 30"),
        ({"name": ""}, "Give the data set a name."),
        ({"language": "tlh"}, "accepted: a tag such as en or pt-BR"),
        ({"min_tokens": 9, "max_tokens": 3}, "a whole number from 9 to 10,000"),
    ],
)
def test_invalid_samples_are_reported_at_their_field(
    project: Project, manager: User, as_user: AsUser, settings: Any, tmp_path: Any, change: dict[str, Any], message: str
) -> None:
    settings.DATA_DIR = tmp_path
    corpus = make_corpus(project, triples(30))
    data = {"corpus": corpus.pk, "name": "C", "n": 12, "seed": 3, "normalisation": "nfc-space", **change}
    answer = as_user(manager).post(page("seed-sample"), data)
    assert message in answer.content.decode()
    assert answer.context["form"].errors.keys() <= {"n", "name", "language", "max_tokens"}
    assert not DatasetImport.objects.exists()


# --- Preview and selection --------------------------------------------------------------------------------------------


def test_the_form_starts_with_a_preview_of_its_defaults(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    answer = as_user(manager).get(page("seed-select", "replies"))
    assert answer.context["form"].data["threshold"] == "4"  # three quarters up a scale of 1 to 5
    preview = answer.context["preview"]
    assert (preview.candidates, preview.qualified, preview.unrated, preview.kept) == (6, 5, 1, 3)
    levels = {row["level"]: row["kept"] for row in answer.context["levels"]}
    assert levels == {1.5: 4, 2: 4, 2.5: 4, 3: 4, 3.5: 4, 4: 3, 4.5: 2, 5: 1}
    assert "Select these 3 seeds" in answer.content.decode()
    assert not SeedSelection.objects.exists()


def test_the_previewed_seeds_are_selected(campaign: Campaign, manager: User, as_user: AsUser) -> None:
    client = as_user(manager)
    query = {
        **SELECT,
        "campaigns": [campaign.pk],
        "threshold": "3.6",
        "min_ratings": "3",
        "shares": "dev 0.75\nheld out: 0.25",
    }
    preview = client.get(page("seed-select", "replies"), query)
    assert (preview.context["preview"].kept, preview.context["preview"].sizes) == (3, {"dev": 2, "held out": 1})
    data = {}
    for name, value in preview.context["sent"]:
        data.setdefault(name, []).append(value)
    there = client.post(page("seed-select", "replies"), data)["Location"]
    assert there == page("seed-selecting", "replies", SeedSelecting.objects.get().pk)
    waiting = client.get(there).content.decode()
    assert f'hx-get="{there}"' in waiting
    assert "<dd>3.6</dd>" in waiting
    assert "<dd>dev 0.75, held out 0.25</dd>" in waiting
    select_waiting()
    assert client.get(there, headers={"HX-Request": "true"})["HX-Redirect"] == page("seed-detail", "replies")
    assert client.get(there)["Location"] == page("seed-detail", "replies")
    selection = SeedSelection.objects.get()
    assert (selection.threshold, selection.report["min_ratings"], selection.created_by) == (3.6, 3, manager)
    assert set(selection.members.values_list("item__external_id", flat=True)) == {"a", "b", "c"}
    assert selection.shares == {"dev": 0.75, "held out": 0.25}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"threshold": "6"}, "threshold", "Found 6; accepted: 1 to 5"),
        ({"shares": "dev"}, "shares", "Found “dev”; accepted: a name and its share"),
        ({"shares": "dev 0.2, dev 0.8"}, "shares", "Found the split dev twice"),
        ({"shares": "dev 0.2"}, "shares", "The shares add up to 0.2"),
        ({"campaigns": []}, "campaigns", "Choose at least one under “Rated in”."),
    ],
)
def test_invalid_selections_are_reported_at_their_field(
    campaign: Campaign, manager: User, as_user: AsUser, change: dict[str, Any], field: str, message: str
) -> None:
    data = {**SELECT, "campaigns": [campaign.pk], **change}
    for answer in (
        as_user(manager).get(page("seed-select", "replies"), data),
        as_user(manager).post(page("seed-select", "replies"), data),
    ):
        assert message in str(answer.context["form"].errors[field])
    assert not SeedSelection.objects.exists()


def test_without_ratings_the_page_links_to_rating_the_seeds(project: Project, manager: User, as_user: AsUser) -> None:
    dataset = make_dataset(project)
    make_response(make_item(dataset, "a"), "A seed.", "seed")
    text = as_user(manager).get(page("seed-select", "replies")).content.decode()
    assert "The seeds have no ratings yet" in text
    assert "Have them rated" in as_user(manager).get(page("seed-list")).content.decode()


def test_a_selection_can_be_repeated_until_it_is_used(
    selection: SeedSelection, campaign: Campaign, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    assert "3 seeds were selected on" in client.get(page("seed-select", "replies")).content.decode()
    client.post(page("seed-select", "replies"), {**SELECT, "campaigns": [campaign.pk], "threshold": "5"})
    select_waiting()
    new_selection = SeedSelection.objects.get()
    assert (new_selection.pk != selection.pk, new_selection.members.count()) == (True, 1)
    campaign_launch(campaign=seeds_rate_again(selection=new_selection))
    text = client.get(page("seed-select", "replies")).content.decode()
    assert "can no longer change. It is used by the campaign “Seeds of Replies”." in text
    assert "Select these" not in text
    refused = client.post(page("seed-select", "replies"), {**SELECT, "campaigns": [campaign.pk]})
    assert "can no longer change" in refused.content.decode()
    assert client.post(page("seed-unselect", "replies"), follow=True).status_code == 200
    assert SeedSelection.objects.get() == new_selection


def test_a_refusal_by_the_worker_links_back_to_the_form(
    campaign: Campaign, manager: User, viewer: User, outsider: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    data = {**SELECT, "campaigns": [campaign.pk], "threshold": "5", "min_ratings": "50"}
    there = client.post(page("seed-select", "replies"), data)["Location"]
    select_waiting()
    text = client.get(there).content.decode()
    assert "No seed has a mean of 5 or more: none has 50 ratings that count." in text
    (form_link,) = [link for link in re.findall(r'href="([^"]+)"', text) if "min_ratings=50" in link]
    preview = client.get(html.unescape(form_link))
    assert preview.context["form"].is_valid()
    assert as_user(outsider).get(there).status_code == 404
    assert "min_ratings" not in as_user(viewer).get(there).content.decode()
    assert not SeedSelection.objects.exists()


def test_only_managers_cancel_a_queued_selection(
    campaign: Campaign, manager: User, viewer: User, outsider: User, as_user: AsUser
) -> None:
    as_user(manager).post(page("seed-select", "replies"), {**SELECT, "campaigns": [campaign.pk]})
    job = SeedSelecting.objects.get()
    cancel = page("seed-selecting-cancel", "replies", job.pk)
    assert as_user(outsider).post(cancel).status_code == 404
    assert as_user(viewer).post(cancel).status_code == 403
    assert as_user(manager).get(cancel).status_code == 405
    assert as_user(manager).post(cancel)["Location"] == page("seed-selecting", "replies", job.pk)
    select_waiting()
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    assert not SeedSelection.objects.exists()


def test_a_selection_can_be_removed(selection: SeedSelection, manager: User, as_user: AsUser) -> None:
    assert as_user(manager).post(page("seed-unselect", "replies"))["Location"] == page("seed-list")
    assert not SeedSelection.objects.exists()


# --- The selection's page ---------------------------------------------------------------------------------------------


def test_members_show_past_and_current_means_and_fallen_ones_are_marked(
    selection: SeedSelection, viewer: User, manager: User, as_user: AsUser
) -> None:
    more = campaign_launch(campaign=seeds_rate_again(selection=selection))
    b = selection.members.get(item__external_id="b").response
    for rater, value in (("x", 4), ("y", 3)):
        rate(more, rater, b, value)
    answer = as_user(viewer).get(page("seed-detail", "replies"))
    rows = {row.member.item.external_id: row for row in answer.context["members"]}
    b_row = rows["b"]
    assert (b_row.member.rating_mean, b_row.mean_now, b_row.n_now, b_row.has_fallen) == (4, 3.8, 5, True)
    assert not any(rows[name].has_fallen for name in "ad")
    assert answer.content.decode().count("fell below</span>") == 1
    fallen = as_user(viewer).get(page("seed-detail", "replies"), {"fallen": "1"})
    assert [row.member.item.external_id for row in fallen.context["members"]] == ["b"]
    split = selection.members.get(item__external_id="a").split
    in_split = as_user(viewer).get(page("seed-detail", "replies"), {"split": split})
    assert {row.member.split for row in in_split.context["members"]} == {split}


def test_tables_and_chart_are_downloaded(selection: SeedSelection, viewer: User, as_user: AsUser) -> None:
    client = as_user(viewer)

    def lines(address: str) -> list[dict[str, Any]]:
        return json.loads(b"".join(client.get(address).streaming_content))

    members = lines(f"{page('seed-detail', 'replies')}?format=json")
    assert {row["item_id"]: (row["mean_when_selected"], row["mean_now"], row["fell_below"]) for row in members} == {
        "a": (5, 5, False),
        "b": (4, 4, False),
        "d": (4.5, 4.5, False),
    }
    (row,) = lines(f"{page('seed-list')}?format=json")
    assert (row["dataset"], row["candidates"], row["kept"], row["splits"]) == ("replies", 6, 3, {"dev": 2, "test": 1})
    chart = client.get(page("seed-chart", "replies", "json")).json()
    (rows,) = (
        [data for data in chart["datasets"].values() if len(data) > 1] if "datasets" in chart else [chart_rows(chart)]
    )
    assert {(row["mean"], row["seeds"], row["fate"]) for row in rows} == {
        ("1", 1, "left out"),
        ("3.667", 1, "left out"),
        ("4", 1, "kept"),
        ("4.5", 1, "kept"),
        ("5", 1, "kept"),
    }
    assert client.get(page("seed-chart", "replies", "svg"))["Content-Type"] == "image/svg+xml"
    assert client.get(page("seed-chart", "replies", "gif")).status_code == 404
    refused = client.get(page("seed-chart", "replies", "json"), {"threshold": "many"})
    assert refused.status_code == 404
    assert "Enter a number." in refused.context["exception"]
    table = b"".join(client.get(page("seed-chart", "replies", "csv")).streaming_content).decode()
    assert table.splitlines()[0] == "mean_from,mean_to,seeds,kept"


def chart_rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return chart["layer"][0]["data"]["values"]


def test_one_click_drafts_a_campaign_for_two_more_ratings(
    selection: SeedSelection, manager: User, as_user: AsUser
) -> None:
    client = as_user(manager)
    answer = client.post(page("seed-rate", "replies"))
    draft = Campaign.objects.get(name="Seeds of Replies")
    assert answer["Location"] == page("campaign-step", draft.pk, "review")
    assert (draft.ratings_per_unit, draft.response_list.responses.count()) == (2, 3)
    text = client.get(page("seed-detail", "replies")).content.decode()
    assert "Two more ratings" not in text
    assert page("campaign-detail", draft.pk) in text


def test_a_data_set_without_a_selection_redirects_managers_to_the_form(
    campaign: Campaign, viewer: User, manager: User, as_user: AsUser
) -> None:
    assert as_user(manager).get(page("seed-detail", "replies"))["Location"] == page("seed-select", "replies")
    assert as_user(viewer).get(page("seed-detail", "replies")).status_code == 404
    shown = as_user(manager).get(page("dataset-detail", "replies")).content.decode()
    assert page("seed-detail", "replies") in shown
