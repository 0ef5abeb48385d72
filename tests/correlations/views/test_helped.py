"""A campaign's means and differences with the help of a metric, against the judgements."""

import csv
import io

import numpy as np
import pytest
from django.urls import reverse

from correlations.models import Study
from correlations.selectors.helped import helped_results
from correlations.stats.worth import regression_estimate
from metrics.models import ScoreRun
from metrics.selectors.arrays import segment_items
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.services.test_worth import keep_ratings_of
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db
RATED = 20  # of 40 items


@pytest.fixture
def run(world: World) -> ScoreRun:
    run = make_imported_run(world)
    keep_ratings_of(world, RATED)
    return run


def url(world: World, name: str = "correlations:campaign-helped", *rest: str) -> str:
    return reverse(name, args=[world.project.slug, world.output_campaign.pk, *rest])


def test_the_results_lead_on_to_scores_and_to_the_test_of_a_judge(run, world, manager, viewer, as_user) -> None:
    """Whether the judge's scores are not here, imported, or tested in a study."""

    def steps(user: object) -> list[str]:
        found = as_user(user).get(url(world, "annotation:campaign-results")).context["companions"]
        return [each.url for each in found if each.action != "See whether a metric helps"]

    slug, campaign = world.project.slug, world.output_campaign
    scores, importing, studying = (
        reverse(name, args=[slug]) for name in ("metrics:run-list", "metrics:run-import", "correlations:study-create")
    )
    of_dataset = f"?dataset={world.dataset.slug}"
    assert steps(manager) == [scores + of_dataset, importing + of_dataset]
    assert steps(viewer) == [scores + of_dataset]
    run.parameters |= {"scorer": "gpt4_judge"}
    run.save()
    test = f"{studying}?dataset={world.dataset.pk}&campaign={campaign.pk}&run={run.number}"
    assert steps(manager)[1] == test
    done = {"state": run.state, "finished_at": run.finished_at}
    study = Study.objects.create(project=world.project, dataset=world.dataset, specification={}, **done)
    study.campaigns.add(campaign)
    study.score_runs.add(run)
    assert steps(viewer)[1] == reverse("correlations:study-stand-in", args=[slug, study.pk])


def test_the_results_lead_to_the_means_with_a_metric_and_their_download(run, world, viewer, as_user) -> None:
    client = as_user(viewer)
    results = client.get(url(world, "annotation:campaign-results")).content.decode()
    assert "1 score run of these systems may narrow the intervals" in results
    assert url(world) in results

    page = client.get(url(world)).content.decode()

    assert "With Oracle" in page
    assert "the means are as sure as with" in page
    assert "19 of 39" in page  # item-0 has no imported score
    assert "Echo – Quill" in page
    assert client.get(url(world) + "?run=7").status_code == 404
    table = client.get(url(world, "correlations:campaign-helped-download", "csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode("utf-8-sig"))))
    assert [row["name"] for row in rows[:3]] == ["Echo", "Parrot", "Quill"]
    assert {row["of"] for row in rows} == {"system", "difference"}
    api = f"/api/v1/projects/{world.project.slug}/campaigns/{world.output_campaign.pk}/with-metric/"
    answer = client.get(api).json()
    assert answer["run"] == run.number
    assert answer["sentence"] in page.replace("&#x27;", "'")
    assert [row["name"] for row in answer["rows"]] == [row["name"] for row in rows]
    assert [row["with_scores"] for row in answer["rows"][:3]] == [float(row["with_scores"]) for row in rows[:3]]
    assert client.get(api + "?run=7").status_code == 404


def test_means_are_of_the_criterion_and_scores_of_all_outputs(run, world: World) -> None:
    results = helped_results(world.output_campaign, run)

    assert [each.criterion for each in results.criteria] == ["informativeness", "relevance"]
    judged = {
        name: np.array([np.mean(world.judgements[name, index]) for index in range(len(world.items))])
        for name in HYPOTHESES
    }
    for name in HYPOTHESES:  # scores are mean judgements over both criteria, so are means of both criteria's estimates
        both = [next(each for each in criterion.systems if each.name == name) for criterion in results.criteria]
        expected = regression_estimate(judged[name][1:RATED], judged[name][1:RATED], judged[name][1:])
        assert np.mean([each.estimate.mean for each in both]) == pytest.approx(expected.mean)
        assert np.mean([each.estimate.estimate for each in both]) == pytest.approx(expected.estimate)
        assert {(each.rated, each.scored) for each in both} == {(RATED - 1, len(world.items) - 1)}
    pair = results.criteria[0].pairs[0]
    assert pair.name == "Echo – Parrot"
    assert (pair.rated, pair.scored) == (RATED - 1, len(world.items) - 1)


def test_it_says_when_a_metric_cannot_help(world: World, viewer, as_user) -> None:
    client = as_user(viewer)
    assert "With the help of a metric" not in client.get(url(world, "annotation:campaign-results")).content.decode()
    assert "No finished score run" in client.get(url(world)).content.decode()
    assert client.get(url(world, "correlations:campaign-helped-download", "csv")).status_code == 404
    run = make_imported_run(world)
    results = client.get(url(world, "annotation:campaign-results")).content.decode()
    assert "Every output of these systems is rated" in results
    assert f"{url(world)}?every=5" in results
    assert "every output that it scored is rated" in helped_results(world.output_campaign, run).sentence
    table = client.get(url(world, "correlations:campaign-helped-download", "csv") + "?every=2")
    rows = list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode("utf-8-sig"))))
    place = {item.pk: index for index, item in enumerate(world.items)}
    assert place[segment_items(run)[0]] == 1  # item-0 has no imported score
    for name in HYPOTHESES:
        judged = np.array([np.mean(world.judgements[name, index]) for index in range(1, len(world.items))])
        expected = regression_estimate(judged[::2], judged[::2], judged)
        both = [row for row in rows if row["name"] == name]
        assert np.mean([float(row["mean"]) for row in both]) == pytest.approx(expected.mean)
        assert {row["rated"] for row in both} == {str(judged[::2].size)}
    page = client.get(url(world) + "?every=2").content.decode()
    assert "This is as if raters had seen every second item alone." in page
    assert "With Oracle (run 1) the means are as sure as" in page
    assert client.get(url(world) + "?every=3").status_code == 404
    api = f"/api/v1/projects/{world.project.slug}/campaigns/{world.output_campaign.pk}/with-metric/"
    assert client.get(f"{api}?every=2").json()["rows"][0]["rated"] == int(rows[0]["rated"])
    assert "every" in client.get(f"{api}?every=3").json()["fields"]
    keep_ratings_of(world, 5)
    assert client.get(url(world) + "?every=2").status_code == 404  # not all are rated
    sentence = helped_results(world.output_campaign, run).sentence
    assert sentence == "Whether Oracle (run 1) helps is not known: fewer than 10 outputs with a score and a rating."
