"""Metric against metric: the page, its chart, downloads and endpoint, and how shards are shared with helpers."""

import csv
import io
from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest
from django.urls import reverse
from scipy import stats
from statsmodels.stats.multitest import multipletests

from annotation.core.progress import noop
from annotation.core.shards import shards_help
from annotation.models import JobState
from correlations.models import Study, StudyDraws, StudyShard
from correlations.results.significance import OUTPUTS, SWAP_BOTH, SYSTEMS, WILLIAMS, PairTests
from correlations.results.study import StudyResult
from correlations.selectors.levels import too_few_systems
from correlations.selectors.reports import best_row
from correlations.selectors.significance import (
    METHODS,
    UNITS,
    contest,
    matrix_figure,
    significance_sentence,
    usual_level,
)
from correlations.selectors.significance_words import (
    answer,
    name_of,
    places_beaten,
    ranking_caption,
    ranking_figure,
    ranking_name,
    verdict,
)
from correlations.services import sharing
from correlations.services.execution import study_execute, study_result
from correlations.services.sharing import study_draws_help
from correlations.services.studies import study_create
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db
CHANGES = {"metrics": ["ter", "bleu"], "subsets": ["all"], "bootstrap": 50, "assignments": 2}


def created(world: World, **changes: object) -> Study:
    specification = world.specification(**(CHANGES | changes))
    return study_create(project=world.project, name="Cats", specification=specification, by=None)[0]


@pytest.fixture
def study(world: World) -> Study:
    run = make_imported_run(world, lowest=1.0, highest=5.0)
    study = created(world, metrics=["ter", "bleu", {"run": run.number}])
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return study


def address(study: Study, name: str = "study-significance", *rest: object) -> str:
    return reverse(f"correlations:{name}", args=[study.project.slug, study.pk, *rest])


def found_by(result: StudyResult, level: str, method: str) -> PairTests:
    return next(each for each in result.significance.tests if (each.level, each.method) == (level, method))


def test_the_tests_are_scipys_and_statsmodels_and_find_the_oracle(study: Study, world: World) -> None:
    result = study.read_result()
    williams_is_scipys(result)
    the_oracle_is_closest(result, world)
    clusters_end_where_all_above_are_significantly_closer(result)


def williams_is_scipys(result: StudyResult) -> None:
    significance = result.significance
    assert significance.pairs == tuple(combinations(range(3), 2))
    found = found_by(result, SYSTEMS, WILLIAMS)
    points = [{each.system: (each.score, each.rating) for each in row.system.systems} for row in result.levels]
    signs = [-1 if row.negated else 1 for row in result.rows]
    for place, (a, b) in enumerate(significance.pairs):
        if significance.outputs[place] != result.levels[a].outputs[0].outputs:
            continue  # on fewer outputs than the row itself
        scores = [[sign * score for score, _ in points[row].values()] for row, sign in ((a, signs[a]), (b, signs[b]))]
        ratings = [rating for _, rating in points[a].values()]
        first, second = (stats.pearsonr(side, ratings).statistic for side in scores)
        assert (found.first[place], found.second[place]) == pytest.approx((first, second))
        assert found.reasons[place] == "3 observations: at least 4 are needed"
    tested = found_by(result, OUTPUTS, WILLIAMS)
    assert tested.p_holm == pytest.approx(tuple(multipletests(tested.p, method="holm")[1]))


def the_oracle_is_closest(result: StudyResult, world: World) -> None:
    """The imported scores are the mean ratings themselves, and item-0 has none."""
    significance = result.significance
    for method in METHODS[OUTPUTS]:
        found = found_by(result, OUTPUTS, method)
        for place, (a, b) in enumerate(significance.pairs):
            assert significance.outputs[place] <= len(HYPOTHESES) * len(world.items)
            if b == 2:
                assert significance.outputs[place] <= len(HYPOTHESES) * (len(world.items) - 1)
                assert found.second[place] == pytest.approx(1.0)
                assert found.p[place] is not None
                assert found.p[place] < 0.01, (method, a)
    shown = contest(result, OUTPUTS)
    assert shown.best.row.label == "Oracle"
    assert [each.cluster for each in shown.contestants][:2] == [1, 2]
    assert shown.contestants[0].ranks == "1"


def clusters_end_where_all_above_are_significantly_closer(result: StudyResult) -> None:
    place = result.significance.tests.index(found_by(result, SYSTEMS, SWAP_BOTH))
    order = sorted(range(3), key=lambda index: -(result.levels[index].system.coefficients["pearson"].value or 0))
    apart = {frozenset(order[:2]): 0.9}
    tests = list(result.significance.tests)
    p = tuple(apart.get(frozenset(pair), 0.01) for pair in result.significance.pairs)
    value = {index: 1.0 - 0.3 * rank for rank, index in enumerate(order)}
    first, second = (tuple(value[pair[side]] for pair in result.significance.pairs) for side in (0, 1))
    tests[place] = replace(tests[place], p=p, p_holm=p, first=first, second=second)
    changed = replace(result, significance=replace(result.significance, tests=tuple(tests)))
    few = contest(changed, SYSTEMS, SWAP_BOTH)
    assert {(pair.p, pair.p_holm, pair.reason) for pair in few.pairs} == {(None, None, too_few_systems(3))}
    assert {each.ranks for each in few.contestants} == {"1–3"}
    enough = [replace(each, system=replace(each.system, systems=2 * each.system.systems)) for each in result.levels]
    changed = replace(changed, levels=tuple(enough))
    shown = contest(changed, SYSTEMS, SWAP_BOTH)
    assert [each.cluster for each in shown.contestants] == [1, 1, 2]
    assert [each.ranks for each in shown.contestants] == ["1–2", "1–2", "3"]
    assert usual_level(replace(result, comparisons=result.comparisons[:1])) == OUTPUTS
    partly = contest(replace(result, comparisons=result.comparisons[:1]), UNITS)
    assert partly.n_missing == 2
    assert contest(result, "galaxies") is None


def test_the_page_answers_and_draws_and_files_and_endpoint_have_its_numbers(study: Study, viewer, as_user) -> None:
    client = as_user(viewer)
    assert client.get(address(study)).status_code == 200
    page = client.get(address(study) + "?over=outputs").content.decode()
    assert "can be told apart.</strong> Over outputs, Oracle is closest to the raters" in page
    assert "significantly closer than each of the 2 others" in page
    assert address(study, "study-figure", "matrix-outputs-swap-items") in page
    for level, methods in METHODS.items():
        for method in methods:
            figure = matrix_figure(study.read_result(), f"matrix-{level}-{method}", "light")
            assert figure["description"].startswith("Metric against metric.")
    assert client.get(address(study, "study-figure", "matrix-units-items")).status_code == 200
    few = client.get(f"{address(study)}?over=systems&test=swap-systems").content.decode()
    assert f"<strong>Nothing is tested here.</strong> {too_few_systems(3)}." in few
    assert "is closest to the" not in few
    refused = client.get(f"{address(study)}?over=systems&test=magic")
    assert refused.status_code == 404
    report = client.get(address(study, "study-detail")).content.decode()
    assert significance_sentence(study.read_result()).replace("'", "&#x27;") in report
    assert f"Over units of {study.specification['unit_size']} items, " in report
    some = replace(study.read_result(), comparisons=study.read_result().comparisons[1:])  # then outputs are tested
    assert significance_sentence(some).startswith("Over single outputs, not units, ")
    assert address(study) in report
    result = study.read_result()

    def rows(table: str) -> pd.DataFrame:
        response = client.get(address(study, "study-download", table, "csv"))
        return pd.DataFrame(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode("utf-8-sig"))))

    pairs = rows("significance")
    chosen = pairs[(pairs["over"] == OUTPUTS) & (pairs["test"] == WILLIAMS)]
    found = found_by(result, OUTPUTS, WILLIAMS)
    assert sorted(map(float, chosen["p_holm"])) == pytest.approx(sorted(found.p_holm))
    assert set(rows("clusters")["over"]) == {UNITS, SYSTEMS, OUTPUTS}
    answer = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/significance/").json()
    assert answer["pairs"] == [list(pair) for pair in result.significance.pairs]
    assert [test["draws"] for test in answer["tests"][:3]] == [50, 50, 999]


def test_a_test_that_swaps_outputs_has_means_of_outputs_in_every_number(study: Study) -> None:
    result = study.read_result()
    shown = contest(result, SYSTEMS, SWAP_BOTH)
    tested = next(each for each in result.significance.tests if (each.level, each.method) == (SYSTEMS, SWAP_BOTH))
    of_pairs: dict[int, list[float]] = {}  # a pair has the outputs that both rows can use
    for pair, *values in zip(result.significance.pairs, tested.first, tested.second, strict=True):
        for row, value in zip(pair, values, strict=True):
            of_pairs.setdefault(row, []).append(value)
    assert all(each.value in of_pairs[each.index] for each in shown.contestants)
    assert "means of their outputs’" in ranking_caption(shown)
    chart = ranking_figure(result, ranking_name(shown), "light")
    assert chart is not None
    corpus = contest(result, SYSTEMS)
    assert (corpus.method, corpus.by_means) == (WILLIAMS, False)
    values = [result.levels[each.index].system.coefficients["pearson"].value for each in corpus.contestants]
    assert [each.value for each in corpus.contestants] == values


def test_where_no_two_differ_the_answer_names_the_clearest_difference_and_the_matrix_has_all_rows(
    study: Study,
) -> None:
    """The smallest p of the test is found by a loop over its columns."""
    result = study.read_result()
    tests = [
        replace(each, p_holm=tuple(None if p is None else 0.06 + p / 2 for p in each.p))
        if each.level == OUTPUTS
        else each
        for each in result.significance.tests
    ]
    changed = replace(result, significance=replace(result.significance, tests=tuple(tests)))
    shown = contest(changed, OUTPUTS, WILLIAMS)
    assert verdict(shown) == "Over outputs no two metrics can be told apart."
    found = found_by(changed, OUTPUTS, WILLIAMS)
    sizes = [abs(a - b) for a, b in zip(found.first, found.second, strict=True)]
    least = min(range(3), key=lambda place: (found.p_holm[place], found.p[place], -sizes[place]))
    rows = [name_of(result.rows[index]) for index in result.significance.pairs[least]]
    if found.first[least] < found.second[least]:
        rows.reverse()
    assert f"that of {rows[0]} and {rows[1]}: {sizes[least]:.3f} in r, p = {found.p_holm[least]:.3f}" in answer(
        changed, shown
    )
    assert "after Holm’s correction for 3 pairs" in answer(changed, shown)
    assert ("Over units, as in the study’s headline" in answer(changed, shown)) == (best_row(changed) is not None)
    enough = replace(changed, rows=tuple(replace(row, few_units="") for row in changed.rows))
    closest = best_row(enough).row  # Oracle, whose scores are the ratings, is passed over
    assert closest.label == "TER"
    honest = f"{name_of(closest)} is closest of those that judge quality and cannot have seen the ratings ("
    assert f"Over units, as in the study’s headline, {honest}" in answer(enough, shown)
    warned = answer(enough, contest(enough, OUTPUTS, WILLIAMS))
    assert f"Oracle may have seen these ratings. Over units, as in the study’s headline, {honest}" in warned
    assert not shown.places_apart
    assert all(places_beaten(shown, each) == [] for each in shown.contestants)
    chart = ranking_figure(changed, "ranking-outputs", "light")
    assert chart["description"].startswith("Metrics in order. 3 coefficients with an interval each.")
    assert ranking_figure(changed, "ranking-galaxies", "light") is None

    apart = contest(result, OUTPUTS)
    for each in apart.contestants:
        beaten = [
            other.place
            for other in apart.contestants
            if other.place > each.place and apart.by_places[each.place - 1, other.place - 1].differs
        ]
        assert places_beaten(apart, each) == beaten, "no pair is turned round here"


def test_without_resamples_williams_alone_has_a_p(world: World) -> None:
    study = created(world, bootstrap=0)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    result = study.read_result()
    for test in result.significance.tests:
        if (test.level, test.method) == (OUTPUTS, WILLIAMS):
            assert test.p[0] is not None
        elif test.method not in METHODS[OUTPUTS] or test.method != "williams-2":
            assert test.reasons[0]


def test_draws_are_the_same_however_many_workers_share_the_shards(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("correlations.stats.draws.SHARD", 8)
    monkeypatch.setattr("correlations.stats.resampling.SHARD", 15)
    enqueued = []

    def helped(helpers: int) -> None:
        enqueued.append(helpers)
        study.refresh_from_db()
        assert shards_help(study, study.shards.all(), work) is False  # nothing is left
        assert set(StudyShard.objects.values_list("state", flat=True)) == {JobState.DONE}

    found = []
    for enqueue in (enqueued.append, helped):
        study = created(world, bootstrap=20)
        work = sharing._work(study.pk)  # of one turn, which goes on over the stages of the study
        study_execute(study_id=study.pk, enqueue=enqueue)
        study.refresh_from_db()
        assert study.state == JobState.DONE, study.error
        assert not StudyShard.objects.exists()
        assert not StudyDraws.objects.exists()
        found.append({key: value for key, value in study.result.items() if key != "seconds"})
        assert study_draws_help(study_id=study.pk) is False
        alone, _ = study_result(study, noop)
        found.append({key: value for key, value in alone.to_json().items() if key != "seconds"})
        study.delete()
    assert enqueued == [1, 1, 2] * 2  # units over items and over raters in two shards, items and systems in three
    assert found[0] == found[1] == found[2]
