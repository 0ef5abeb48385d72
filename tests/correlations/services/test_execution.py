"""Results of studies, compared with a slow independent computation."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
import sacrebleu
from django.db import connection
from scipy import stats

from annotation.models import JobState, Rating, ResponseSource, SourceKind
from correlations.models import Study
from correlations.services.execution import study_execute
from correlations.services.inputs import UNRATED
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from tests.metrics.world import HYPOTHESES, REFERENCES, World

pytestmark = pytest.mark.django_db


def run_study(world: World, **changes: object) -> Study:
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def ngrams(text: str, order: int) -> Counter:
    tokens = text.lower().split()
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def slow_delta_bleu(segments: list[tuple[str, list[tuple[str, float]]]]) -> float:
    """Compute ΔBLEU (Galley et al. 2015, section 3) with loops; order 2, no smoothing."""
    logs, hyp_len, ref_len = [], 0, 0
    for order in (1, 2):
        above = below = 0.0
        for hypothesis, references in segments:
            top = max(weight for _, weight in references)
            for gram, count in ngrams(hypothesis, order).items():
                holding = [(text, weight) for text, weight in references if ngrams(text, order)[gram]]
                above += max((w * min(count, ngrams(t, order)[gram]) for t, w in holding), default=0.0)
                below += top * count
        if above <= 1e-12:
            return 0.0
        logs.append(np.log(above / below))
    for hypothesis, references in segments:
        length = len(hypothesis.split())
        hyp_len += length
        ref_len += min((abs(len(t.split()) - length), len(t.split())) for t, _ in references)[1]
    return float(np.exp(np.mean(logs) + min(0.0, 1 - ref_len / hyp_len)))


def one_unit_each(world: World, score) -> tuple[list[float], list[float]]:
    """Return the differences of every pair over all usable items, as observed with one unit per pair."""
    indices = [index for index in range(len(world.items)) if max(world.weights[r, index] for r in REFERENCES) > 0]
    metric, human = [], []
    for a, b in combinations(HYPOTHESES, 2):
        metric.append(score(a, indices) - score(b, indices))
        means = [np.mean([np.mean(world.judgements[name, index]) for index in indices]) for name in (a, b)]
        human.append(means[0] - means[1])
    return metric, human


def references_of(world: World, index: int) -> list[tuple[str, float]]:
    return [(world.responses[name, index].text, world.weights[name, index]) for name in REFERENCES]


def test_delta_bleu_over_all_references_matches_the_equation_and_scipy(world: World) -> None:
    def score(system: str, places: list[int]) -> float:
        return slow_delta_bleu([(world.responses[system, index].text, references_of(world, index)) for index in places])

    metric, human = one_unit_each(world, score)
    mirrored = np.array(metric + [-m for m in metric]), np.array(human + [-h for h in human])

    study = run_study(world, unit_size=1000, metrics=["delta_bleu"], subsets=["all"], bootstrap=0)

    row = study.result["rows"][0]
    assert row["rho"]["value"] == pytest.approx(stats.spearmanr(*mirrored).statistic, abs=1e-12)
    assert row["tau"]["value"] == pytest.approx(stats.kendalltau(*mirrored).statistic, abs=1e-12)
    assert row["n_observations"] == 6
    (observed,) = study.result["observations"]
    assert observed["metric"] == pytest.approx(metric, abs=1e-6)
    assert observed["human"] == pytest.approx(human, abs=1e-6)


def test_with_one_unit_per_pair_every_coefficient_equals_scipys(world: World) -> None:
    """scipy.stats; Somers' d of the rating given the metric is ``somersd(metric, rating)``."""

    def score(system: str, places: list[int]) -> float:
        return slow_delta_bleu([(world.responses[system, index].text, references_of(world, index)) for index in places])

    metric, human = one_unit_each(world, score)
    usual = run_study(world, unit_size=1000, metrics=["delta_bleu"], subsets=["all"], orientation="fixed")
    study = run_study(
        world,
        unit_size=1000,
        metrics=["delta_bleu"],
        subsets=["all"],
        orientation="fixed",
        coefficients=["spearman", "kendall", "pearson", "somers_d"],
    )

    row = study.result["rows"][0]
    assert row["r"]["value"] == pytest.approx(stats.pearsonr(metric, human).statistic, abs=1e-12)
    assert row["rho"]["value"] == pytest.approx(stats.spearmanr(metric, human).statistic, abs=1e-12)
    assert row["tau"]["value"] == pytest.approx(stats.kendalltau(metric, human).statistic, abs=1e-12)
    assert row["d"]["value"] == pytest.approx(stats.somersd(metric, human).statistic, abs=1e-12)
    assert row["d"]["paper"] is None
    assert {name: row[name] for name in ("rho", "tau")} == {
        name: usual.result["rows"][0][name] for name in ("rho", "tau")
    }
    assert usual.signature != study.signature


def test_the_first_coefficient_leads_comparisons_and_sweeps(world: World) -> None:
    study = run_study(world, metrics=["bleu", "sbleu"], subsets=["all"], coefficients=["kendall"], sweeps=True)

    rows = {row["label"]: row["tau"]["value"] for row in study.result["rows"]}
    (comparison,) = study.result["comparisons"]
    assert comparison["first_tau"] == rows[comparison["first"]]
    assert comparison["difference"] == pytest.approx(rows[comparison["first"]] - rows[comparison["second"]])
    assert set(study.result["sweeps"]["order"]["series"][0]["points"][0]) == {
        "tau",
        "n_observations",
        "items",
        "clamped_share",
    }


def test_a_stored_result_can_be_read(world: World) -> None:
    study = run_study(world, sweeps=True)

    assert study.read_result().to_json() == study.result


def test_bleu_of_the_originals_matches_sacrebleu(world: World) -> None:
    places = range(len(world.items))
    bleu = sacrebleu.BLEU(max_ngram_order=2, tokenize="none", smooth_method="none", lowercase=True)

    study = run_study(world, metrics=["bleu"], subsets=["original"], bootstrap=0)

    for entry in study.result["rows"][0]["systems"]:
        hypotheses = [world.responses[entry["system"], index].text for index in places]
        references = [world.responses["Human", index].text for index in places]
        assert entry["score"] == pytest.approx(bleu.corpus_score(hypotheses, [references]).score / 100, abs=1e-9)


def test_only_rows_that_read_weights_leave_out_items_without_a_positive_one(world: World) -> None:
    study = run_study(world, metrics=["bleu", "delta_bleu"], subsets=["all"], bootstrap=0)

    without = [
        item.external_id
        for position, item in enumerate(world.items)
        if max(world.weights[name, position] for name in REFERENCES) <= 0
    ]
    assert study.result["items"] == {"used": len(world.items), "dropped": []}
    assert [row["dropped"]["items"] for row in study.result["rows"]] == [[], without]
    assert study.result["rows"][1]["dropped"]["reason"] == "no reference of positive weight"


def unrate(world: World, name: str, indices: Iterable[int]) -> None:
    """Delete a system's ratings of some items, as if they had never been made."""
    units = world.output_campaign.units.filter(label=name, item__in=[world.items[index] for index in indices])
    with connection.cursor() as cursor:
        # What a world that is built here has left to check at the end would keep the table from being changed.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("ALTER TABLE annotation_rating DISABLE TRIGGER USER")
        Rating.objects.filter(presentation__unit__in=units).delete()
        cursor.execute("ALTER TABLE annotation_rating ENABLE TRIGGER USER")


def test_only_rated_items_count(world: World) -> None:
    """Of 40 items 12 are rated: counts, scores and ratings are of these, whatever the others hold."""
    rated = range(0, 36, 3)
    for name in HYPOTHESES:
        unrate(world, name, set(range(40)) - set(rated))
    unrate(world, "Quill", [0])  # so that item 0 counts for one pair alone
    bleu = sacrebleu.BLEU(max_ngram_order=2, tokenize="none", smooth_method="none", lowercase=True)

    study = run_study(world, metrics=["bleu"], subsets=["original"], unit_size=2)

    result = study.read_result()
    assert (result.items.used, result.items.left_out) == (12, 28)
    assert [(entry.reason, entry.count) for entry in result.items.dropped] == [(UNRATED, 28)]
    assert {(pair.a, pair.b): (pair.items, pair.units) for pair in result.pairs} == {
        ("Echo", "Parrot"): (12, 6),
        ("Echo", "Quill"): (11, 6),
        ("Parrot", "Quill"): (11, 6),
    }
    assert (result.counts.judgements, result.circularity.rater_items) == (3 * (12 + 12 + 11), 3 * 12)
    (row,) = result.rows
    assert (row.items, row.n_observations) == (12, 2 * 18)
    places = {name: [index for index in rated if name != "Quill" or index] for name in HYPOTHESES}
    score = {
        name: bleu.corpus_score(
            [world.responses[name, index].text for index in indices],
            [[world.responses["Human", index].text for index in indices]],
        ).score
        / 100
        for name, indices in places.items()
    }
    for entry in row.systems:
        assert entry.score == pytest.approx(score[entry.system], abs=1e-9)
        ratings = [np.mean(world.judgements[entry.system, index]) for index in places[entry.system]]
        assert (entry.rating, entry.rated_items) == (pytest.approx(np.mean(ratings)), len(ratings))
    means = [np.mean([np.mean(world.judgements[name, index]) for index in rated]) for name in ("Echo", "Parrot")]
    assert row.pairs[0].rating == pytest.approx(means[0] - means[1])
    assert row.pairs[0].score == pytest.approx(score["Echo"] - score["Parrot"])


def test_systems_need_not_answer_the_same_items(world: World) -> None:
    """As in Novikova et al. (2017): one system answers all items, two others one half each."""
    ResponseSource.objects.filter(system=world.systems["Parrot"], item__in=world.items[20:]).delete()
    ResponseSource.objects.filter(system=world.systems["Quill"], item__in=world.items[:20]).delete()
    bleu = sacrebleu.BLEU(max_ngram_order=2, tokenize="none", smooth_method="none", lowercase=True)

    study = run_study(world, metrics=["bleu", "length"], subsets=["original"], unit_size=2, sweeps=True)

    result = study.read_result()
    assert study.specification["pairs"] == [["Echo", "Parrot"], ["Echo", "Quill"]]
    assert [(pair.items, pair.units) for pair in result.pairs] == [(20, 10), (20, 10)]
    assert result.items.used == 40
    for row in result.rows:
        assert (row.items, row.run) == (40, None)  # a run is over items that every system answers
    assert result.rows[0].coefficients["spearman"].value is not None
    halves = {"Echo": range(40), "Parrot": range(20), "Quill": range(20, 40)}
    for entry in result.rows[0].systems:
        hypotheses = [world.responses[entry.system, index].text for index in halves[entry.system]]
        references = [world.responses["Human", index].text for index in halves[entry.system]]
        assert entry.score == pytest.approx(bleu.corpus_score(hypotheses, [references]).score / 100, abs=1e-9)
        assert entry.rated_items == len(hypotheses)


def test_without_a_release_the_references_are_the_data_sets_own(world: World) -> None:
    for index, item in enumerate(world.items[:30]):
        ResponseSource.objects.create(response=world.responses["Human", index], item=item, kind=SourceKind.HUMAN)
    chrf = sacrebleu.CHRF()

    study = run_study(world, release="", metrics=["length", "chrf"], subsets=["all"], bootstrap=20, sweeps=True)

    result = study.read_result()
    assert (study.release, study.dataset, study.specification["release"]) == (None, world.dataset, "")
    assert (result.items.used, result.counts.references) == (40, 30)
    assert [(row.label, row.items) for row in result.rows] == [("Length", 40), ("chrF", 30)]
    assert {run.release for run in study.score_runs.all()} == {None}
    assert list(result.sweeps) == ["unit_size"]
    (comparison,) = result.comparisons
    assert (comparison.items, comparison.of) == (30, 40)
    for entry in result.rows[1].systems:
        hypotheses = [world.responses[entry.system, index].text for index in range(30)]
        references = [world.responses["Human", index].text for index in range(30)]
        assert entry.score == pytest.approx(chrf.corpus_score(hypotheses, [references]).score / 100, abs=1e-9)


def test_items_without_a_usable_reference_are_left_out_of_scores_and_ratings(world: World) -> None:
    threshold = 0.75
    usable = [
        index
        for index in range(len(world.items))
        if max(world.weights[name, index] for name in REFERENCES) >= threshold
    ]
    assert 0 < len(usable) < len(world.items) - 1

    study = run_study(world, metrics=["bleu"], subsets=[f"w>={threshold}"], unit_size=1000, bootstrap=0)

    row = study.result["rows"][0]
    assert row["items"] == len(usable)
    assert row["dropped"]["count"] == study.result["items"]["used"] - len(usable)
    for entry in row["systems"]:
        ratings = [np.mean(world.judgements[entry["system"], index]) for index in usable]
        assert entry["rating"] == pytest.approx(np.mean(ratings))


def test_coefficients_of_two_observations_are_undefined_with_a_reason(world: World) -> None:
    study = run_study(world, systems=["Echo", "Quill"], unit_size=20, orientation="fixed", metrics=["bleu"])

    for row in study.result["rows"]:
        assert row["rho"]["value"] is None
        assert row["rho"]["reason"] == "2 units: at least 3 observations are needed"


def test_coefficients_of_a_constant_metric_are_undefined_with_a_reason(world: World) -> None:
    for name in HYPOTHESES:  # give every system the outputs of the first
        for index in range(len(world.items)):
            source = world.systems[name].outputs.get(item=world.items[index])
            source.response = world.responses["Echo", index]
            source.save()

    study = run_study(world, metrics=["bleu"], subsets=["all"], bootstrap=0)

    assert study.result["rows"][0]["rho"]["value"] is None
    assert "constant" in study.result["rows"][0]["rho"]["reason"]


def test_a_subset_without_references_is_undefined_with_reasons(world: World) -> None:
    study = run_study(world, subsets=["w>1", "all"], sweep_subset="w>1", sweeps=True)

    for row in study.result["rows"]:
        if row["subset"] == "w>1":
            assert (row["items"], row["n_observations"]) == (0, 0)
            assert row["dropped"]["reason"] == "no reference with w > 1"
            for name in ("rho", "tau"):
                assert row[name]["value"] is None
                assert row[name]["reason"] == "0 units: at least 3 observations are needed"
            assert [entry["score"] for entry in row["systems"]] == [None, None, None]
    assert study.result["sweeps"]["order"]["series"][0]["points"][0]["rho"]["value"] is None
    undefined = [entry["reason"] for entry in study.result["comparisons"] if entry["first_references"] == "w > 1"]
    assert undefined == ["no item can be used by both"] * 3


def test_results_depend_on_the_seed_and_studies_share_the_score_run_of_each_row(world: World) -> None:
    first = run_study(world)
    runs = score_runs(first)
    Study.objects.all().delete()
    repeated = run_study(world)
    other_seed = run_study(world, seed=8)

    assert repeated.pk != first.pk
    assert without_time(repeated.result) == without_time(first.result)
    assert other_seed.result["rows"][0]["rho"]["value"] != first.result["rows"][0]["rho"]["value"]
    assert len(runs) == len(first.result["rows"]) == 9
    assert {row["run"] for row in first.result["rows"]} == runs
    assert score_runs(repeated) == score_runs(other_seed) == runs
    assert set(ScoreRun.objects.values_list("state", "attempt")) == {(JobState.DONE, 1)}


def score_runs(study: Study) -> set[int]:
    return set(study.score_runs.values_list("number", flat=True))


def without_time(result: dict) -> dict:
    return {key: value for key, value in result.items() if key != "seconds"}


def test_sweeps_agree_with_the_table_at_common_points(world: World) -> None:
    study = run_study(world, sweeps=True, subsets=["w>=-1", "all"], sweep_subset="all", unit_size=10)

    table = {row["label"]: row["rho"]["value"] for row in study.result["rows"] if row["subset"] == "all"}
    sweeps = study.result["sweeps"]
    assert sweeps["threshold"]["points"] == [round(-1 + step / 10, 1) for step in range(21)]
    assert sweeps["order"]["points"] == [1, 2, 3, 4]
    assert sweeps["unit_size"]["points"] == [1, 2, 5, 10, 20, 50, 100]
    for name, point in (("threshold", 0), ("order", 1)):
        for series in sweeps[name]["series"]:
            assert series["points"][point]["rho"]["value"] == pytest.approx(table[series["label"]], abs=1e-12)
    assert sweeps["unit_size"]["series"][0]["points"][0]["n_observations"] == 2 * 3 * study.result["items"]["used"]


def test_the_same_rater_and_the_same_text_on_both_sides_are_counted(world: World) -> None:
    same = sum(
        world.responses[name, index] in {world.responses[reference, index] for reference in REFERENCES}
        for name in HYPOTHESES
        for index in range(len(world.items))
    )

    circularity = run_study(world, metrics=["bleu"], subsets=["all"], bootstrap=0).result["circularity"]

    assert same > 0
    assert circularity["same_text_items"] == same
    assert circularity["raters_on_both_sides"] == circularity["raters"] == 3
    assert circularity["rater_items_on_both_sides"] == circularity["rater_items"]


def test_ratings_after_the_creation_of_the_study_do_not_count(world: World) -> None:
    specification = world.specification(metrics=["bleu"], subsets=["all"], bootstrap=0)
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    judged = world.output_campaign.presentations.first()
    for criterion in world.output_campaign.criteria.all():
        revised = judged.ratings.get(criterion=criterion)
        judged.ratings.create(
            campaign=revised.campaign,
            response=revised.response,
            rater=revised.rater,
            criterion=criterion,
            value=6 - revised.value,
            revision=1,
        )
    study_execute(study_id=study.pk)
    later, created = study_create(project=world.project, name="Cats", specification=specification, by=None)
    study_execute(study_id=later.pk)

    study.refresh_from_db()
    later.refresh_from_db()
    assert created
    item_index = next(index for index, item in enumerate(world.items) if item.pk == judged.unit.item_id)
    before = {entry["system"]: entry["rating"] for entry in study.result["rows"][0]["systems"]}
    after = {entry["system"]: entry["rating"] for entry in later.result["rows"][0]["systems"]}
    system = judged.unit.label
    used = range(len(world.items))
    assert item_index in used
    assert before[system] == pytest.approx(np.mean([np.mean(world.judgements[system, p]) for p in used]))
    assert after[system] != before[system]
