"""A system's page and a segment's page, whatever the metric."""

import json

import pytest
from django.urls import reverse
from sacrebleu import sentence_chrf, sentence_ter

from metrics.models import ScoreRun
from metrics.scoring.chrf import Chrf
from metrics.scoring.registry import METRICS
from tests.metrics.runs import PLAIN_METRICS, TEXT_METRICS, finished_run
from tests.metrics.trained import models_dir, trained_model  # noqa: F401 # a fixture
from tests.metrics.world import World

pytestmark = pytest.mark.django_db
INDEX = 3


def address(world: World, run: ScoreRun, name: str, *arguments: object) -> str:
    parts = [world.project.slug, run.number, world.systems["Echo"].pk, *arguments]
    return reverse(f"metrics:{name}", args=parts)


def segment_url(world: World, run: ScoreRun) -> str:
    return address(world, run, "run-segment", world.items[INDEX].pk)


def rows_of(client, world: World, run: ScoreRun) -> list[dict]:
    url = address(world, run, "run-segment-download", world.items[INDEX].pk, "json")
    return json.loads(b"".join(client.get(url).streaming_content))


@pytest.mark.parametrize("metric", [*PLAIN_METRICS, *TEXT_METRICS])
def test_pages_of_any_metric_are_there(world: World, viewer, as_user, metric: str) -> None:
    run, client = finished_run(world, metric), as_user(viewer)

    segment = client.get(segment_url(world, run))
    system = client.get(address(world, run, "run-system-detail"))

    assert (segment.status_code, system.status_code) == (200, 200)
    assert ("explanation" in segment.context) == METRICS[metric].is_bleu
    if metric in TEXT_METRICS:
        assert "reads none" in segment.content.decode()
        assert rows_of(client, world, run) == []


@pytest.mark.parametrize("metric", [name for name in PLAIN_METRICS if not METRICS[name].is_bleu and name != "cider"])
def test_a_segments_account_comes_to_the_score_that_was_stored(world: World, viewer, as_user, metric: str) -> None:
    run = finished_run(world, metric)

    context = as_user(viewer).get(segment_url(world, run)).context

    assert context["scores"].explanation.score == pytest.approx(context["segment"].score)


def test_the_score_against_each_reference_is_sacrebleus(world: World, viewer, as_user) -> None:
    client = as_user(viewer)
    hypothesis = world.responses["Echo", INDEX].text
    for metric, oracle in (("ter", sentence_ter), ("chrf", sentence_chrf)):
        rows = rows_of(client, world, finished_run(world, metric))
        assert {row["text"] for row in rows} == {world.responses[name, INDEX].text for name in ("Human", "Random")}
        for row in rows:
            assert row["score_alone"] == pytest.approx(oracle(hypothesis, [row["text"]]).score / 100)


def test_a_reference_outside_the_subset_is_left_out_of_the_account(world: World, viewer, as_user) -> None:
    rows = rows_of(as_user(viewer), world, finished_run(world, "chrf", subset="original"))

    flags = {row["text"]: (row["counts"], row["score_alone"] is None, row["is_score"]) for row in rows}
    assert flags[world.responses["Human", INDEX].text] == (True, False, True)
    assert flags[world.responses["Random", INDEX].text] == (False, True, False)


def test_words_shared_with_a_reference_are_marked_and_another_can_be_chosen(world: World, viewer, as_user) -> None:
    run, client = finished_run(world, "rouge_l"), as_user(viewer)

    usual = client.get(segment_url(world, run)).context["scores"]
    chosen = client.get(segment_url(world, run), {"reference": 2}).context["scores"]

    assert (usual.marked.number, chosen.marked.number) == (1, 2)
    for account in (usual, chosen):
        shared = [word.text for word in account.words if word.is_shared]
        assert shared == [word.text for word in account.marked.words if word.is_shared]
        length = len(account.words)
        precision = next(value.value for value in account.marked.values if value.label == "Precision")
        assert len(shared) / length == pytest.approx(precision)


def test_am_fm_is_explained_by_its_parts(world: World, viewer, as_user, models_dir) -> None:  # noqa: F811
    trained_model(world)
    trained_model(world, kind="language_model", name="Bigrams")
    run = finished_run(world, "am_fm", k=2)

    page = as_user(viewer).get(segment_url(world, run))

    account, score = page.context["scores"], page.context["segment"].score
    (am, _), (fm, _) = account.parts
    assert 0.8 * am.value + 0.2 * fm.value == pytest.approx(score)
    assert "Cat space v1" in page.context["parameters"]


def test_the_page_says_that_a_models_files_are_missing(world: World, viewer, as_user, models_dir) -> None:  # noqa: F811
    trained_model(world)
    run = finished_run(world, "am", k=2)
    for file in sorted(models_dir.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()

    account = as_user(viewer).get(segment_url(world, run)).context["scores"]

    assert "found no lsa model" in account.reason


def test_slow_scores_are_computed_only_on_request(world: World, viewer, as_user, monkeypatch) -> None:
    monkeypatch.setattr(Chrf, "slow", "It takes long.")
    run, client = finished_run(world, "chrf"), as_user(viewer)

    assert client.get(segment_url(world, run)).context["scores"].explanation is None
    assert client.get(segment_url(world, run), {"account": 1}).context["scores"].explanation is not None


def test_a_metric_that_is_no_longer_installed_is_reported(world: World, viewer, as_user) -> None:
    run = finished_run(world, "chrf")
    ScoreRun.objects.filter(pk=run.pk).update(metric="brought_along")

    page = as_user(viewer).get(segment_url(world, run)).content.decode()

    assert "no metric “brought_along”" in page


def test_an_outsider_sees_no_segment(world: World, outsider, as_user) -> None:
    assert as_user(outsider).get(segment_url(world, finished_run(world, "chrf"))).status_code == 404
