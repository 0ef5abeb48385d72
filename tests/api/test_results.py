"""Reference sets, releases, score runs and studies: requested, computed, read."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.models import Project
from correlations.models import Study
from metrics.models import ScoreRun, TrainedModel
from metrics.selectors.arrays import segment_scores
from tests.api.conftest import World
from tests.api.world import STUDY

Api = Callable[..., APIClient]
HERE = "/api/v1/projects/lab"
RUN = {"release": "gold/v1", "systems": ["Gamma", "Alpha", "Beta"], "metric": "bleu", "parameters": {"max_order": 2}}
NO_TEXTS = {name: value for name, value in RUN.items() if name != "release"}


def test_a_reference_set_and_its_first_release_are_requested(
    world: World, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client = api(world.people["manager"])
    body = {"dataset": "chats", "name": "Bronze", "campaigns": ["References"], "source_kinds": ["human"]}
    created = client.post(f"{HERE}/reference-sets/", body, format="json")
    assert (created.status_code, created.json()["slug"], created.json()["latest_release"]) == (201, "bronze", None)
    with django_capture_on_commit_callbacks() as enqueued:
        release = client.post(f"{created['Location']}releases/", {"method": "zscore"}, format="json")
    assert (release.status_code, release.json()["name"], release.json()["state"]) == (201, "bronze/v1", "queued")
    assert release.json()["parameters"]["clip"] == 2.0
    assert len(enqueued) == 1


def test_weights_can_be_filtered(world: World, api: Api) -> None:
    client, where = api(world.people["viewer"]), f"{HERE}/reference-sets/gold/releases/1/weights/"
    everything = client.get(where).json()["results"]
    # Linear weights on a scale of 1 to 5: (mean - 3) / 2.
    assert [row["weight"] for row in everything] == pytest.approx([(row["rating_mean"] - 3) / 2 for row in everything])
    assert client.get(where, {"low": 0.1}).json()["results"] == [row for row in everything if row["weight"] >= 0.1]
    assert client.get(where, {"low": "much"}).json()["fields"] == {"low": ["Found 'much'; accepted: a number."]}


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({"sign": "negative"}, lambda row: row["weight"] < 0),
        ({"max_width": 0.5}, lambda row: row["low"] is not None and row["high"] - row["low"] <= 0.5),
        ({"min_width": 0.5}, lambda row: row["low"] is not None and row["high"] - row["low"] >= 0.5),
        ({"spans_zero": True}, lambda row: row["low"] is not None and row["low"] <= 0 <= row["high"]),
        ({"max_ratings": 2}, lambda row: row["n_ratings"] <= 2),
        ({"original": "yes"}, lambda row: row["is_original"]),
        ({"original": "no"}, lambda row: not row["is_original"]),
        ({"split": "nowhere"}, lambda row: False),
        ({"fallen": True}, lambda row: False),
        ({"min_spread": 0, "max_spread": 10}, lambda row: row["n_ratings"] > 1),
    ],
)
def test_weights_have_the_filters_of_the_browse_page(world: World, api: Api, query, fits) -> None:
    client, where = api(world.people["viewer"]), f"{HERE}/reference-sets/gold/releases/1/weights/"
    everything = client.get(where, {"page_size": 500}).json()["results"]
    filtered = client.get(where, {"page_size": 500, **query}).json()["results"]
    assert filtered == [row for row in everything if fits(row)]


@pytest.mark.parametrize(
    ("query", "field"), [({"sign": "odd"}, "sign"), ({"min_spread": 2, "max_spread": 1}, "min_spread")]
)
def test_invalid_filters_are_refused_by_name(world: World, api: Api, query, field) -> None:
    answer = api(world.people["viewer"]).get(f"{HERE}/reference-sets/gold/releases/1/weights/", query)
    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])


def test_an_equal_run_is_returned_without_enqueueing_it_again(
    world: World, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client, before = api(world.people["manager"]), ScoreRun.objects.count()
    with django_capture_on_commit_callbacks() as enqueued:
        known = client.post(f"{HERE}/score-runs/", RUN, format="json")
        new = client.post(f"{HERE}/score-runs/", {**RUN, "subset": "w >= 0.5"}, format="json")
        repeated = client.post(f"{HERE}/score-runs/", {**RUN, "subset": "w>=0.5"}, format="json")
    assert [answer.status_code for answer in (known, new, repeated)] == [200, 201, 200]
    assert known.json()["state"] == "done"
    assert repeated.json()["id"] == new.json()["id"]
    assert new.json()["subset"] == "w>=0.5"
    assert (ScoreRun.objects.count(), len(enqueued)) == (before + 1, 1)


def test_a_metric_without_references_runs_on_a_data_set(world: World, api: Api) -> None:
    client = api(world.people["manager"])
    body = {"dataset": world.names["dataset_slug"], "systems": RUN["systems"], "metric": "length"}
    created = client.post(f"{HERE}/score-runs/", body, format="json")
    assert (created.status_code, created.json()["release"], created.json()["dataset"]) == (201, None, body["dataset"])
    refused = client.post(f"{HERE}/score-runs/", {**body, "metric": "delta_bleu"}, format="json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["release"])


@pytest.mark.parametrize(
    ("metric", "parameter", "value"),
    [
        ("am", "model", 5),
        ("am_fm", "fm_model", ["bigrams"]),
        ("am", "model", True),
        ("am", "model", 0),
        ("am", "model", []),
    ],
)
def test_a_model_that_is_not_a_string_is_refused_by_name(
    world: World, api: Api, metric: str, parameter: str, value
) -> None:
    TrainedModel.objects.create(
        project=Project.objects.get(slug="lab"),
        kind="lsa",
        name="Space",
        slug="space",
        version=1,
        state="done",
        digest="a" * 64,
        finished_at=timezone.now(),
    )
    body = {**RUN, "metric": metric, "parameters": {parameter: value}}
    answer = api(world.people["manager"]).post(f"{HERE}/score-runs/", body, format="json")
    assert (answer.status_code, list(answer.json()["fields"])) == (400, [parameter])


def test_segments_are_those_of_the_system_scores(world: World, api: Api) -> None:
    client, run = api(world.people["viewer"]), ScoreRun.objects.get(pk=world.names["score_run_pk"])
    segments = client.get(f"{HERE}/score-runs/{run.pk}/segments/", {"page_size": 3}).json()
    assert [row["item"] for row in segments["results"]] == ["i0", "i1", "i2"]
    last = client.get(segments["next"]).json()["results"]
    stored = segment_scores(run, run.scores.get(system__name="Beta").position).tolist()
    stored = [None if score != score else score for score in stored]
    previous_page = client.get(client.get(segments["next"]).json()["previous"]).json()
    assert (segments["previous"], previous_page["results"]) == (None, segments["results"])
    assert [row["scores"]["Beta"] for row in segments["results"] + last] == stored


def test_an_equal_study_is_returned_without_enqueueing_it_again(
    world: World, api: Api, django_capture_on_commit_callbacks: Callable
) -> None:
    client, before = api(world.people["manager"]), Study.objects.count()
    with django_capture_on_commit_callbacks() as enqueued:
        new = client.post(f"{HERE}/studies/", {"name": "Third", "specification": {**STUDY, "seed": 3}}, format="json")
        spelled_out = {"name": "Same", "specification": new.json()["specification"]}
        repeated = client.post(f"{HERE}/studies/", spelled_out, format="json")
    assert (new.status_code, repeated.status_code) == (201, 200)
    assert repeated.json()["id"] == new.json()["id"]
    assert (Study.objects.count(), len(enqueued)) == (before + 1, 1)
    assert client.get(f"{new['Location']}table/").status_code == 409


def test_the_table_of_a_study_names_its_score_runs(world: World, api: Api) -> None:
    client, where = api(world.people["viewer"]), f"{HERE}/studies/{world.names['study_pk']}/"
    table = client.get(f"{where}table/").json()
    runs = [client.get(f"{HERE}/score-runs/{pk}/").json() for pk in client.get(where).json()["score_runs"]]
    assert {(row["run"], row["signature"]) for row in table} == {(run["number"], run["signature"]) for run in runs}
    assert [row["rho"]["value"] for row in client.get(f"{where}result/").json()["rows"]] == [
        row["rho"]["value"] for row in table
    ]


@pytest.mark.parametrize(
    ("where", "body", "field"),
    [
        ("reference-sets/gold/releases/", {"method": "magic"}, "method"),
        ("reference-sets/gold/releases/", {"parameters": {"clip": 1}}, "parameters"),
        ("reference-sets/gold/releases/", {"exclusion_rules": [{"rule": "who?"}]}, "exclusion_rules"),
        ("reference-sets/gold/releases/", {"exclusion_rule": []}, "exclusion_rule"),
        ("score-runs/", {**RUN, "release": "gold/v9"}, "release"),
        ("score-runs/", {**RUN, "release": "gold/v²"}, "release"),
        ("score-runs/", {**RUN, "release": "gold/v" + 4500 * "1"}, "release"),
        ("score-runs/", {**RUN, "release": "gold/v9999999999"}, "release"),
        ("score-runs/", {**RUN, "dataset": "gold"}, "release"),
        ("score-runs/", {name: value for name, value in RUN.items() if name != "release"}, "release"),
        (
            "score-runs/",
            {**{name: value for name, value in RUN.items() if name != "release"}, "dataset": "x"},
            "dataset",
        ),
        ("score-runs/", {**RUN, "systems": ["Delta"]}, "systems"),
        ("score-runs/", {**RUN, "systems": []}, "systems"),
        ("score-runs/", {**RUN, "parameters": {"name": "bleu"}}, "parameters"),
        ("score-runs/", {**RUN, "parameters": {"max_order": 9}}, "max_order"),
        ("score-runs/", {**RUN, "subset": "some"}, "subset"),
        ("studies/", {"name": "S", "specification": {**STUDY, "release": 5.5}}, "release"),
        ("studies/", {"name": "S", "specification": {**STUDY, "release": "gold/v" + 4500 * "1"}}, "release"),
        ("studies/", {"name": "S", "specification": {**STUDY, "release": "a\x00b"}}, "specification.release"),
        ("studies/", {"name": "S", "specification": {**STUDY, "pairs": 5}}, "specification.pairs"),
        ("studies/", {"name": "S", "specification": {**STUDY, "metrics": [5]}}, "specification.metrics.0"),
        ("studies/", {"name": "S", "specification": {**STUDY, "subsets": []}}, "specification.subsets"),
        ("studies/", {"name": "S", "specification": {**STUDY, "sweep_subset": [5]}}, "specification.sweep_subset"),
        ("studies/", {"name": "S", "specification": {**STUDY, "unit_sizes": 5}}, "specification.unit_sizes"),
        ("studies/", {"name": "S", "specification": {**STUDY, "unit_size": 0}}, "unit_size"),
        ("studies/", {"name": "S", "specification": {**STUDY, "systems": ["Alpha"]}}, "systems"),
    ],
)
def test_invalid_bodies_are_refused_by_field(world: World, api: Api, where: str, body: dict, field: str) -> None:
    answer = api(world.people["manager"]).post(f"{HERE}/{where}", body, format="json")
    assert answer.status_code == 400, answer.content
    assert list(answer.json()["fields"]) == [field]
    assert answer.json()["detail"]


def test_a_release_of_another_project_cannot_be_named(world: World, api: Api) -> None:
    other_project = Project.objects.get(slug="other-lab")
    answer = api(world.people["outsider"]).post(
        f"/api/v1/projects/{other_project.slug}/score-runs/", RUN, format="json"
    )
    assert answer.json()["fields"]["release"] == ["Found 'gold/v1'; accepted: none yet: release weights first."]
