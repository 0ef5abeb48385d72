"""Studies of any metric: directions, metrics without references, models, imported scores, pools."""

from itertools import combinations

import numpy as np
import pytest
import sacrebleu
from scipy import stats

from annotation.models import JobState
from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.selectors.printed_tables import comparison_grid, correlation_grids
from correlations.selectors.reports import side_references
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.models import RunGroup, ScoreRun
from metrics.scoring.metric import mean_statistics
from metrics.scoring.registry import METRICS, get_metric
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.scoring import array_fields
from metrics.services.shards import run_finish, whole_run_store
from tests.metrics.trained import models_dir, queued_model, trained_model  # noqa: F401
from tests.metrics.world import HYPOTHESES, REFERENCES, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]


def run_study(world: World, **changes: object) -> Study:
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def differences(world: World, score: dict[str, float]) -> tuple[list[float], list[float]]:
    indices = range(len(world.items))
    rating = {n: np.mean([np.mean(world.judgements[n, index]) for index in indices]) for n in HYPOTHESES}
    pairs = list(combinations(HYPOTHESES, 2))
    return [score[a] - score[b] for a, b in pairs], [rating[a] - rating[b] for a, b in pairs]


def with_negatives(values: list[float]) -> list[float]:
    return [*values, *(-value for value in values)]


def test_a_metric_with_better_low_scores_is_negated_but_its_scores_are_not(world: World) -> None:
    indices = range(len(world.items))
    ter = sacrebleu.TER()
    scores = {
        name: ter.corpus_score(
            [world.responses[name, index].text for index in indices],
            [[world.responses[r, index].text for index in indices] for r in REFERENCES],
        ).score
        / 100
        for name in HYPOTHESES
    }
    metric, human = differences(world, scores)

    row = run_study(world, unit_size=1000, metrics=["ter"], subsets=["all"], bootstrap=0).result["rows"][0]

    assert row["negated"] is True
    assert {entry["system"]: entry["score"] for entry in row["systems"]} == pytest.approx(scores)
    expected = -stats.spearmanr(with_negatives(metric), with_negatives(human)).statistic
    assert row["rho"]["value"] == pytest.approx(expected, abs=1e-12)


def test_a_metric_without_references_has_one_row_and_is_compared_on_every_subset(world: World) -> None:
    study = run_study(world, metrics=["length", "bleu"], subsets=["original", "all"], sweeps=True)

    rows = [(row["metric"], row["subset"], row["subset_label"]) for row in study.result["rows"]]
    assert rows == [("length", "none", "none"), ("bleu", "original", "single"), ("bleu", "all", "all")]
    compared = [(c["first"], c["second"], c["second_references"]) for c in study.result["comparisons"]]
    assert compared == [("Length", "BLEU", "single"), ("Length", "BLEU", "all")]
    sweeps = study.result["sweeps"]
    series = {name: [entry["label"] for entry in sweep["series"]] for name, sweep in sweeps.items()}
    assert series == {"threshold": ["BLEU"], "order": ["BLEU"], "unit_size": ["Length", "BLEU"]}


def test_any_rows_are_compared_on_the_items_that_both_can_use(world: World) -> None:
    """ΔBLEU (2015) sets the best configuration of each metric side by side, whatever its references."""
    rows = {"metrics": ["bleu", "delta_bleu"], "subsets": ["original", "all"], "unit_size": 3, "bootstrap": 60}
    best, every = (run_study(world, **rows, compare=compare).read_result() for compare in ("best", "all"))

    assert len(every.comparisons) == 6
    leading = {
        label: max((row for row in best.rows if row.label == label), key=best.lead_value) for label in ("BLEU", "ΔBLEU")
    }
    sides = tuple((row.label, row.subset_label) for row in leading.values())
    assert sides in [entry.sides() for entry in best.comparisons]
    values = {(row.label, row.subset_label): (row.items, best.lead_value(row)) for row in best.rows}
    for entry in every.comparisons:
        own = [values[side] for side in entry.sides()]
        assert (entry.items, entry.of) == (min(items for items, _ in own), 40)
        for (items, value), compared in zip(own, (entry.first_value, entry.second_value), strict=True):
            assert items > entry.items or compared["spearman"] == value
        assert entry.p_holm is not None
        assert entry.p_holm >= entry.p


def test_without_reference_metrics_only_unit_sizes_are_swept(world: World) -> None:
    study = run_study(world, metrics=["length"], subsets=["all"], sweeps=True)

    assert list(study.result["sweeps"]) == ["unit_size"]
    assert study.result["rows"][0]["dropped"] == {"reason": "no score of some system", "count": 0, "items": []}


def test_two_orders_of_a_metric_are_two_rows_and_one_series_of_the_order_sweep(world: World) -> None:
    study = run_study(world, metrics=["bleu", {"name": "bleu", "max_order": 4}], subsets=["all"], sweeps=True)

    assert [row["label"] for row in study.result["rows"]] == ["BLEU (order 2)", "BLEU (order 4)"]
    assert [entry["label"] for entry in study.result["sweeps"]["order"]["series"]] == ["BLEU"]


def test_an_existing_run_is_reused(world: World, monkeypatch) -> None:
    first = run_study(world, metrics=["rouge_l", "chrf", "ter"], seed=1)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("metrics.services.scoring.Scorer.statistics", never)
    second = run_study(world, metrics=["rouge_l", "chrf", "ter"], seed=1, bootstrap=19)

    assert [row["rho"]["value"] for row in second.result["rows"]] == [
        row["rho"]["value"] for row in first.result["rows"]
    ]


def test_a_run_that_was_requested_before_is_the_studys(world: World, monkeypatch) -> None:
    names = ("bleu", "chrf", "ter", "delta_bleu", "length")
    specification = world.specification(metrics=list(names), subsets=["all"])
    study, _ = study_create(project=world.project, name="Cats", specification=specification, by=None)
    requested = {}
    for metric in study.specification["metrics"]:
        requested[metric["name"]], _ = score_run_create(
            project=world.project,
            systems=world.hypotheses,
            release=None if metric["name"] == "length" else world.release,
            dataset=world.dataset,
            metric=metric["name"],
            parameters=metric["parameters"],
            by=None,
        )
        score_run_execute(run_id=requested[metric["name"]].pk)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr("metrics.services.scoring.Scorer.statistics", never)
    study_execute(study_id=study.pk)
    study.refresh_from_db()

    assert {row["metric"]: row["run"] for row in study.result["rows"]} == {
        name: run.number for name, run in requested.items()
    }


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.pools])
def test_pooled_metrics_are_refused_with_the_reason(world: World, name: str) -> None:
    with pytest.raises(StudyRefused, match="over all outputs as one pool, which no unit's sums can give"):
        study_create(project=world.project, name="x", specification=world.specification(metrics=[name]), by=None)


def test_the_newest_trained_model_is_used_and_named_by_its_hash(world: World) -> None:
    model = trained_model(world)

    study = run_study(world, metrics=[{"name": "am", "k": 2}], subsets=["all"])

    assert study.specification["metrics"] == [
        {"name": "am", "parameters": {"k": 2, "references": "max", "model": model.reference}}
    ]
    assert study.result["rows"][0]["rho"]["value"] is not None


def test_a_missing_model_is_refused_with_advice_to_train_one(world: World) -> None:
    with pytest.raises(StudyRefused, match=r"metrics: am: .*no LSA space yet. Train one under Models"):
        study_create(project=world.project, name="x", specification=world.specification(metrics=["am"]), by=None)


def make_imported_run(world: World, **parameters: object) -> ScoreRun:
    """Store scores as an import does, for all items but the first: their mean ratings."""
    items = world.items[1:]
    scores = np.array([[np.mean(world.judgements[n, index + 1]) for index in range(len(items))] for n in HYPOTHESES])
    metric = get_metric("external", scorer="Oracle", **parameters)
    run = ScoreRun.objects.create(
        project=world.project,
        number=1 + world.project.score_runs.count(),
        group=RunGroup.objects.create(project=world.project),
        dataset=world.dataset,
        metric=metric.name,
        parameters=metric.parameters(),
        signature=metric.signature(),
        signature_hash=str(parameters),
        state=JobState.DONE,
        finished_at=world.release.finished_at,
    )
    run.systems.set(world.hypotheses)
    statistics = mean_statistics(scores)
    whole_run_store(
        run,
        {
            **array_fields(np.array([item.pk for item in items]), statistics, scores),
            "report": {
                "items": len(items),
                "items_scored": len(items),
                "dropped": {},
                "references": 0,
                "references_in_release": 0,
                "aggregate": statistics.aggregate.parameters(),
            },
        },
    )
    run.report = run_finish(run)
    run.save()
    return run


def test_imported_scores_are_a_row(world: World) -> None:
    run = make_imported_run(world)

    study = run_study(world, metrics=["bleu", {"run": run.number}], subsets=["all"])

    row = study.result["rows"][1]
    assert (row["label"], row["run"], row["subset_label"]) == ("Oracle", run.number, "none")
    assert row["dropped"] == {"reason": "no score of some system", "count": 1, "items": ["item-0"]}
    assert row["rho"]["value"] > 0.999  # near ties of means may be ordered differently
    repeated, created = study_create(project=world.project, name="x", specification=study.specification, by=None)
    assert (repeated, created) == (study, False)


def test_a_metric_with_missing_scores_is_compared_on_shared_items(world: World) -> None:
    run = make_imported_run(world)
    shared = range(1, len(world.items))  # item-0 has no imported scores
    bleu = sacrebleu.BLEU(max_ngram_order=2, smooth_method="none", tokenize="none", lowercase=True)
    scores = {
        name: bleu.corpus_score(
            [world.responses[name, index].text for index in shared],
            [[world.responses[r, index].text for index in shared] for r in REFERENCES],
        ).score
        for name in HYPOTHESES
    }
    rating = {n: np.mean([np.mean(world.judgements[n, index]) for index in shared]) for n in HYPOTHESES}
    pairs = list(combinations(HYPOTHESES, 2))
    expected = stats.spearmanr(
        with_negatives([scores[a] - scores[b] for a, b in pairs]),
        with_negatives([rating[a] - rating[b] for a, b in pairs]),
    ).statistic

    study = run_study(world, metrics=["bleu", {"run": run.number}], subsets=["all"], unit_size=1000, bootstrap=60)

    row, imported_row = study.result["rows"]
    [compared] = study.result["comparisons"]
    assert (row["items"], compared["items"], compared["of"]) == (len(shared) + 1, len(shared), len(shared) + 1)
    assert compared["first_rho"] == pytest.approx(expected, abs=1e-12)
    assert compared["second_rho"] == imported_row["rho"]["value"]  # all its items are shared
    result = study.read_result()
    correlations, comparisons = correlation_grids(result, None)[0], comparison_grid(result, of_best=True)
    assert [row[1] for row in correlations.rows] == ["all", "imported"]  # as on the page; “none” would be a metric's
    assert [row[1] for row in comparisons.rows] == ["all"]
    (entry,) = result.comparisons
    assert side_references(entry, result) == ("all", "imported")
    assert compared["difference"] == compared["first_rho"] - compared["second_rho"]
    assert (compared["reason"] == "") == (compared["p"] is not None)


def test_system_scores_and_unknown_runs_are_refused(world: World) -> None:
    run = make_imported_run(world, level="system")

    for metric, message in (
        ({"run": run.number}, "a finished run of imported scores of segments: none yet"),
        ({"run": "x"}, "found run 'x'"),
        ({"name": "external", "parameters": {"level": "system"}}, "found scores of systems alone"),
        ({"name": "external", "parameters": {"scorer": "COMET"}}, "COMET: found no imported scores"),
    ):
        with pytest.raises(StudyRefused, match=message):
            study_create(project=world.project, name="x", specification=world.specification(metrics=[metric]), by=None)
