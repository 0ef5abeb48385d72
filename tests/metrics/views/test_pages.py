"""Pages of score runs: for members, by their roles, and for no one else."""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils.timezone import now
from scipy.stats import kendalltau

from annotation.models import JobState
from correlations.models import Study
from metrics.models import ScoreRun
from metrics.overview import uncompared_metrics
from metrics.scoring.delta_bleu import sentence_delta_bleu
from metrics.selectors import runs
from metrics.selectors.arrays import segment_items, segment_scores
from metrics.selectors.explanations import Explanation, explain_segment_of_run
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset
from tests.metrics.runs import finished_run
from tests.metrics.world import REFERENCES, World

pytestmark = pytest.mark.django_db

READING = [
    ("run-list", []),
    ("run-list-download", ["csv"]),
    ("run-detail", ["run"]),
    ("run-figure", ["run"]),
    ("run-figure-download", ["run", "svg"]),
    ("run-download", ["run", "systems", "csv"]),
    ("run-system-detail", ["run", "system"]),
    ("run-system-download", ["run", "system", "csv"]),
    ("run-segment", ["run", "system", "item"]),
    ("run-segment-download", ["run", "system", "item", "csv"]),
]


@pytest.fixture
def run(world: World) -> ScoreRun:
    score_run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="delta_bleu",
        parameters={"tokenize": "whitespace", "lowercase": True},
        subset=Subset.parse("all"),
        by=None,
    )
    score_run_execute(run_id=score_run.pk)
    score_run.refresh_from_db()
    assert score_run.state == JobState.DONE, score_run.error
    return score_run


def address(world: World, run: ScoreRun, name: str, parts: list[str]) -> str:
    ids = {"run": run.number, "system": world.systems["Echo"].pk, "item": world.items[3].pk}
    return reverse(f"metrics:{name}", args=[world.project.slug, *(ids.get(part, part) for part in parts)])


def scores_of(world: World, run: ScoreRun, name: str) -> list[float]:
    position = run.scores.get(system=world.systems[name]).position
    return [None if score != score else score for score in segment_scores(run, position).tolist()]


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_a_viewer_may_read(world: World, run: ScoreRun, viewer, as_user) -> None:
    for name, parts in READING:
        assert as_user(viewer).get(address(world, run, name, parts)).status_code == 200, name


def test_another_projects_run_is_not_found_under_ones_own(run: ScoreRun, outsider, as_user) -> None:
    assert as_user(outsider).get(reverse("metrics:run-detail", args=["elsewhere", run.pk])).status_code == 404


def test_the_page_shows_each_score_and_what_was_left_out(world: World, run: ScoreRun, viewer, as_user) -> None:
    page = as_user(viewer).get(address(world, run, "run-detail", ["run"])).content.decode()

    for score in run.scores.all():
        assert f"{score.score:.4f}" in page
    assert page.index("Over <strong>39 of 40 items</strong>") < page.index("Scores of systems")
    assert page.count("no reference of positive weight") == 2  # beside the result, and in the list of what was left out
    assert run.signature.replace(">", "&gt;") in page


@pytest.mark.parametrize(("subset", "names"), [("all", ("Human", "Random")), ("original", ("Human",))])
def test_the_page_warns_where_a_reference_is_the_systems_own_output(
    world: World, viewer, as_user, subset: str, names: tuple[str, ...]
) -> None:
    """Quill's output on the sixth item is the random reference, which is no original."""
    response = world.responses["Random", 5]
    world.items[5].sources.filter(system__name="Quill").update(response=response)
    world.responses["Quill", 5] = response
    score_run, _ = score_run_create(
        project=world.project,
        release=world.release,
        systems=world.hypotheses,
        metric="bleu",
        parameters={},
        subset=Subset.parse(subset),
        by=None,
    )
    score_run_execute(run_id=score_run.pk)
    score_run.refresh_from_db()
    indices = [index for index, item in enumerate(world.items) if item.pk in segment_items(score_run)]
    expected = [
        (
            system.name,
            sum(
                world.responses[system.name, index] in [world.responses[reference, index] for reference in names]
                for index in indices
            ),
        )
        for system in world.hypotheses
    ]

    page = " ".join(as_user(viewer).get(address(world, score_run, "run-detail", ["run"])).content.decode().split())

    assert dict(expected)["Quill"] >= (subset == "all")
    for name, n in expected:
        assert (f"{name} on {n} item" in page) == (n > 0)
    assert ("Scored against itself." in page) == any(n for _, n in expected)


def test_a_finished_run_makes_its_page_reload(world: World, run: ScoreRun, viewer, as_user) -> None:
    url = address(world, run, "run-detail", ["run"])

    assert as_user(viewer).get(url, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


@pytest.mark.parametrize("table", ["systems", "segments", "distribution", "dropped"])
def test_every_table_comes_as_csv_and_json(world: World, run: ScoreRun, viewer, as_user, table: str) -> None:
    client = as_user(viewer)

    text = body(client.get(address(world, run, "run-download", ["run", table, "csv"]))).decode("utf-8-sig")
    data = json.loads(body(client.get(address(world, run, "run-download", ["run", table, "json"]))))

    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(data) > 0
    assert list(rows[0]) == list(data[0])


def test_the_table_of_segments_has_a_row_per_item_and_system(
    world: World, run: ScoreRun, viewer, as_user, monkeypatch
) -> None:
    monkeypatch.setattr("metrics.selectors.runs.ITEMS_AT_ONCE", 2)
    rows = json.loads(body(as_user(viewer).get(address(world, run, "run-download", ["run", "segments", "json"]))))

    names = dict(world.dataset.items.values_list("pk", "external_id"))
    assert {(row["item"], row["system"]): row["score"] for row in rows} == {
        (names[item], system.name): score
        for system in world.hypotheses
        for item, score in zip(segment_items(run).tolist(), scores_of(world, run, system.name), strict=True)
    }
    assert len(rows) == segment_items(run).size * len(world.hypotheses)


def test_bounds_of_the_distribution_are_written_as_people_write_them(
    world: World, run: ScoreRun, viewer, as_user
) -> None:
    rows = json.loads(body(as_user(viewer).get(address(world, run, "run-download", ["run", "distribution", "json"]))))

    assert all(bound == round(bound, 2) for row in rows for bound in (row["low"], row["high"]))


@pytest.mark.parametrize("table", ["segments", "distribution"])
def test_a_run_without_scores_has_no_table_of_segments(
    world: World, run: ScoreRun, viewer, as_user, table: str
) -> None:
    ScoreRun.objects.filter(pk=run.pk).update(state=JobState.FAILED, error="no")

    assert as_user(viewer).get(address(world, run, "run-download", ["run", table, "csv"])).status_code == 404


def test_the_time_is_shown_only_where_it_is_that_of_the_whole_job(world: World, run: ScoreRun, viewer, as_user) -> None:
    """Reports of a study's runs and of imported scores have none."""
    url, client = address(world, run, "run-detail", ["run"]), as_user(viewer)
    assert run.report["job_seconds"] > 0
    assert "Computed in" in client.get(url).content.decode()

    report = {key: value for key, value in run.report.items() if key != "job_seconds"}
    ScoreRun.objects.filter(pk=run.pk).update(report=report | {"seconds": 0.001})

    assert "Computed in" not in client.get(url).content.decode()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("run-download", ["run", "secrets", "csv"]),
        ("run-download", ["run", "systems", "exe"]),
        ("run-figure-download", ["run", "gif"]),
    ],
)
def test_an_unknown_download_is_404(world: World, run: ScoreRun, viewer, as_user, name: str, parts: list[str]) -> None:
    assert as_user(viewer).get(address(world, run, name, parts)).status_code == 404


def test_segments_come_in_the_requested_order(world: World, run: ScoreRun, viewer, as_user) -> None:
    url = address(world, run, "run-system-detail", ["run", "system"])
    scores = scores_of(world, run, "Echo")

    for sort, best_first in (("highest", True), ("lowest", False)):
        page_scores = [segment.score for segment in as_user(viewer).get(url, {"sort": sort}).context["segments"]]
        defined = sorted((score for score in scores if score is not None), reverse=best_first)
        assert page_scores[: len(defined)] == defined
    assert as_user(viewer).get(url, {"sort": "random"}).status_code == 404


def test_a_segment_shows_the_mean_of_its_ratings(world: World, run: ScoreRun, viewer, as_user) -> None:
    """No other system gave Echo's output on item 3; each judgement has two criteria."""
    segment = as_user(viewer).get(address(world, run, "run-segment", ["run", "system", "item"])).context["segment"]

    judged = world.judgements["Echo", 3]
    assert segment.rating == pytest.approx(sum(judged) / len(judged))
    assert segment.n_ratings == 2 * len(judged)


def explained(world: World, run: ScoreRun, index: int) -> Explanation:
    return explain_segment_of_run(run, world.items[index], "Echo", world.responses["Echo", index])


def test_a_segment_adds_up_to_its_score(world: World, run: ScoreRun) -> None:
    index = 3
    (hypothesis,) = explained(world, run, index).hypotheses

    texts = [world.responses[name, index].text for name in REFERENCES]
    weights = [world.weights[name, index] for name in REFERENCES]
    (above1, below1), (above2, below2) = [(line.total.numerator, line.total.denominator) for line in hypothesis.orders]
    top = max(weights)
    smoothed = (max(above1, 0) / below1 * (max(above2, 0) + top) / (below2 + top)) ** 0.5
    expected = sentence_delta_bleu(world.responses["Echo", index].text, texts, weights)
    assert smoothed == pytest.approx(expected)  # all texts have nine words: no brevity penalty
    assert hypothesis.score == pytest.approx(expected)
    assert hypothesis.score == pytest.approx(scores_of(world, run, "Echo")[index])
    won = {ngram.reference.response for ngram in hypothesis.matched}
    assert won <= {world.responses[name, index] for name in REFERENCES}


def test_a_manager_starts_a_run_and_the_same_one_only_once(
    world: World, manager, as_user, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    handed_out: list[int] = []
    monkeypatch.setattr("metrics.tasks.execute.delay", handed_out.append)
    url = reverse("metrics:run-create", args=[world.project.slug])
    data = {
        "release": world.release.pk,
        "metric": "bleu",
        "subset": "w>=0.5",
        "max_order": 2,
        "tokenize": "13a",
        "systems": [system.pk for system in world.hypotheses],
        "smoothing": "none",
        "items": "positive",
    }

    with django_capture_on_commit_callbacks(execute=True):
        first = as_user(manager).post(url, data)
        second = as_user(manager).post(url, data)

    run = ScoreRun.objects.get()
    assert first.url == second.url == reverse("metrics:run-detail", args=[world.project.slug, run.number])
    assert handed_out == [run.pk]
    assert run.subset == {"kind": "threshold", "op": ">=", "value": 0.5, "items": "positive"}
    assert run.parameters["tokenize"] == "13a"
    assert not run.parameters["lowercase"]


def test_a_wrong_subset_is_named_beside_its_field(world: World, manager, as_user) -> None:
    url = reverse("metrics:run-create", args=[world.project.slug])

    data = {"metric": "bleu", "release": world.release.pk, "subset": "the best ones"}
    response = as_user(manager).post(url, data)

    assert "accepted: “all”, “original”" in response.context["form"].errors["subset"][0]
    assert not ScoreRun.objects.exists()


def test_the_list_makes_a_bounded_number_of_queries(
    world: World, run: ScoreRun, viewer, as_user, django_assert_max_num_queries
) -> None:
    for hundredth in range(60):
        score_run_create(
            project=world.project,
            release=world.release,
            systems=world.hypotheses,
            metric="bleu",
            parameters={},
            subset=Subset("threshold", ">=", hundredth / 100),
            by=None,
        )
    client = as_user(viewer)
    client.get(address(world, run, "run-list", []))  # has the mean ratings computed

    with django_assert_max_num_queries(25):
        page = client.get(address(world, run, "run-list", [])).content.decode()

    assert len(re.findall(r">Run \d+</a></th>", page)) == 25
    assert "?before=" in page


def test_the_list_is_narrowed_to_a_metric_and_a_state(world: World, run: ScoreRun, viewer, as_user) -> None:
    client, url = as_user(viewer), address(world, run, "run-list", [])
    queued, _ = score_run_create(
        project=world.project, release=world.release, systems=world.hypotheses, metric="chrf", parameters={}, by=None
    )

    def shown(query: str) -> list[int]:
        page = client.get(url + query).content.decode()
        return [score_run.pk for score_run in (run, queued) if f">Run {score_run.number}</a></th>" in page]

    assert shown("") == [run.pk, queued.pk]
    assert shown("?metric=chrf") == shown("?state=queued") == [queued.pk]
    assert shown(f"?metric={run.metric}&state=done") == [run.pk]
    assert shown("?metric=chrf&state=done") == []
    for query in ("?metric=nothing", "?state=nothing"):
        assert "No such run." in client.get(url + query).content.decode(), query


def test_the_download_of_a_narrowed_list_is_of_the_same_runs(world: World, run: ScoreRun, viewer, as_user) -> None:
    client = as_user(viewer)
    page = client.get(address(world, run, "run-list", []) + f"?metric={run.metric}&state=done").content.decode()
    urls = [unescape(link) for link in re.findall(r'href="([^"]*runs\.[a-z]+\?[^"]*)"', page)]

    assert {url.partition("?")[0].rpartition(".")[2] for url in urls} == {"csv", "json", "jsonl", "parquet"}
    (csv,) = [url for url in urls if ".csv?" in url]
    finished, queued = (body(client.get(csv.replace("done", state))) for state in ("done", "queued"))
    assert (finished.count(b"\n"), queued.count(b"\n")) == (1 + len(world.hypotheses), 1)


def test_older_runs_of_one_metric_are_of_that_metric(world: World, run: ScoreRun, viewer, as_user, monkeypatch) -> None:
    monkeypatch.setattr(runs, "RUNS_PAGE", 1)
    for order in (3, 4):
        score_run_create(
            project=world.project,
            release=world.release,
            systems=world.hypotheses,
            metric="bleu",
            parameters={"max_order": order},
            by=None,
        )
    page = as_user(viewer).get(address(world, run, "run-list", []) + "?metric=bleu").content.decode()
    assert f'href="?metric=bleu&amp;before={ScoreRun.objects.latest("pk").group_id}#runs"' in page
    systems, release = world.hypotheses, world.release
    score_run_create(project=world.project, release=release, systems=systems, metric="length", parameters={}, by=None)
    page = as_user(viewer).get(address(world, run, "run-list", []) + "?metric=length").content.decode()
    assert f'none<span class="run-release">; items of {release}</span>' in " ".join(page.split())


def test_the_matches_of_a_segment_can_be_downloaded(world: World, run: ScoreRun, viewer, as_user) -> None:
    parts = ["run", "system", "item", "json"]
    rows = json.loads(body(as_user(viewer).get(address(world, run, "run-segment-download", parts))))
    explanation = explained(world, run, 3)
    for line in explanation.hypotheses[0].orders:
        order_rows = [row for row in rows if row["order"] == line.total.order]
        assert sum(row["adds"] for row in order_rows) == pytest.approx(line.total.numerator)
        assert sum(row["of_at_most"] for row in order_rows) == pytest.approx(line.total.denominator)
    assert {row["won_by_response_id"] for row in rows} - {None} <= {
        reference.response.pk for reference in explanation.references
    }


def test_a_segment_without_ratings_says_why_its_mean_is_undefined(world: World, run: ScoreRun, viewer, as_user) -> None:
    output = world.items[3].sources.get(system=world.systems["Echo"]).response
    page = as_user(viewer).get(address(world, run, "run-segment", ["run", "system", "item"])).content.decode()
    assert ("it is not rated" in page) == (not output.ratings.exists())


# --- The leaderboard, groups of runs, runs side by side ---------------------------------------------------------------


def test_the_leaderboard_stands_above_the_runs_and_is_sorted_without_script(
    world: World, run: ScoreRun, viewer, as_user
) -> None:
    finished_run(world, "ter")
    client, url = as_user(viewer), address(world, run, "run-list", [])

    page = client.get(url).content.decode()
    worst_first = client.get(url, {"sort": f"r{run.number}", "order": "worst"})

    assert page.index("Leaderboard: systems by metrics") < page.index(">All runs<")
    assert f"sort=r{run.number}" in page
    assert "puts Echo first" in page
    assert "39 of 40 items" in page
    assert "all 40 items" in page
    board = worst_first.context["board"]
    scores = [row.cells[board.columns.index(next(c for c in board.columns if c.is_sorted))].score for row in board.rows]
    assert scores == sorted(scores)
    assert 'aria-sort="ascending"' in worst_first.content.decode()
    table = body(client.get(reverse("metrics:run-leaderboard-download", args=[world.project.slug, "csv"])))
    assert (
        table.decode()
        .splitlines()[0]
        .startswith("system,column,run,references,items_scored,items,score,low,high,standing,p_best_corrected")
    )
    assert table.count(b"\n") == 1 + 2 * len(world.hypotheses)


def test_runs_requested_together_are_one_row_that_opens(world: World, run: ScoreRun, manager, as_user) -> None:
    client, url = as_user(manager), address(world, run, "run-list", [])
    systems = [system.pk for system in world.hypotheses]
    sent = {"texts": f"release-{world.release.pk}", "metrics": ["chrf", "ter"], "systems": systems}
    create, chosen = reverse("metrics:run-create", args=[world.project.slug]), {"subset": "all", "items": "positive"}
    assert client.get(create).context["form"].fields["subset_unweighted"].initial == "w>0"
    client.post(create, sent | chosen | {"subset_unweighted": "w>0"})
    assert str(Subset.from_mapping(ScoreRun.objects.get(metric="ter").subset)) == "w>0", "it reads no weights"
    group = ScoreRun.objects.get(metric="ter").group

    page, opened = (client.get(url + query).content.decode() for query in ("", f"?group={group.pk}"))

    assert f'<a href="?group={group.pk}#runs">Runs 2–3</a>' in page
    assert "2 runs: chrF, TER" in page
    assert [f">Run {number}</a></th>" in opened for number in (1, 2, 3)] == [False, True, True]
    assert client.get(f"{url}?group=0").status_code == 404
    for number in (2, 3):
        score_run_execute(run_id=ScoreRun.objects.get(number=number).pk)
    page, opened, every = (client.get(url + query).content.decode() for query in ("", f"?group={group.pk}", "?each=1"))
    assert ["Compare the ticked runs" in each for each in (page, opened, every)] == [False, True, True]
    assert [each.count('type="checkbox" name="run"') for each in (page, opened, every)] == [1, 2, 3]
    assert 'href="?each=1#runs">List every run, to compare some</a>' in page
    assert "List every run" not in every


def test_metrics_scored_since_the_last_study_lead_to_one(world: World, run: ScoreRun) -> None:
    assert uncompared_metrics(world.project) is None, "the first study is a step of its own"
    done = {"state": "done", "finished_at": now()}
    study = Study.objects.create(project=world.project, dataset=world.dataset, specification={}, **done)
    assert uncompared_metrics(world.project) is None
    chrf = finished_run(world, "chrf")
    finished_run(world, "length")  # no metric of quality
    step = uncompared_metrics(world.project)
    assert step is not None
    assert step.action == "Compare this metric with the raters"
    assert step.url.endswith(f"?dataset={world.dataset.pk}")
    Study.objects.filter(pk=study.pk).update(finished_at=now())
    assert uncompared_metrics(world.project) is None
    assert chrf.finished_at > run.finished_at


def test_runs_are_compared_side_by_side(world: World, run: ScoreRun, viewer, as_user) -> None:
    other = finished_run(world, "bleu", max_order=4)
    client, url = as_user(viewer), reverse("metrics:run-compare", args=[world.project.slug])

    page = client.get(url, {"run": [run.number, other.number, 99]})

    assert [column.run for column in page.context["columns"]] == [run, other]
    assert page.context["missing"] == [99]
    differing = {setting.name for setting in page.context["settings"] if setting.differs}
    assert "Longest n-gram" in differing
    assert {"Items", "Weights of references"} <= differing  # ΔBLEU reads weights, BLEU does not
    for each, words in ((run, "Weights: <a"), (other, "References chosen by: <a")):
        detail = reverse("metrics:run-detail", args=[world.project.slug, each.number])
        assert (words in " ".join(client.get(detail).content.decode().split())) is (each.release is not None)
    (agreement,) = page.context["agreements"]
    assert agreement.differing_items == "39 items with a positive weight against all 40 items"
    orders = [[score.system_id for score in each.scores.order_by("-score")] for each in (run, other)]
    taus = kendalltau([orders[0].index(pk) for pk in orders[0]], [orders[1].index(pk) for pk in orders[0]]).statistic
    assert 2 * agreement.same / agreement.pairs - 1 == pytest.approx(taus)
    assert client.get(url, {"run": [run.number], "format": "csv"}).status_code == 200
    assert "No run chosen" in client.get(url).content.decode()


def test_the_box_of_a_project_without_scores_leads_to_the_first_run(world: World, manager, viewer, as_user) -> None:
    address = reverse("metrics:run-list", args=[world.project.slug])
    box = as_user(manager).get(address).content.decode().partition('<div class="empty">')[2]
    assert f'href="{reverse("metrics:run-create", args=[world.project.slug])}">New score run</a>' in box
    assert "New score run" not in as_user(viewer).get(address).content.decode()
