"""What the rows of a study are worth, compared with loops over the judgements."""

import numpy as np
import pytest
from django.db import connection
from scipy import stats

from annotation.models import Rater, RaterIdentity, Rating
from correlations.results.study import StudyResult
from correlations.results.worth import RowWorth
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.worth import lead_over, on_rating_scale
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.stats.test_ranking import accuracy_at, best_by_definition
from tests.correlations.stats.test_worth import one_rater_at_a_time
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db


def result_of(world: World, *metrics: object) -> StudyResult:
    changes = {"metrics": list(metrics), "subsets": ["all"], "bootstrap": 0, "assignments": 2}
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study.read_result()


def keep_ratings_of(world: World, n_items: int) -> None:
    """Take the ratings of the other items away: they are append-only, which no one but a test may go round."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        Rating.objects.filter(campaign=world.output_campaign, response__item__position__gte=n_items).delete()
        cursor.execute("SET LOCAL session_replication_role = origin")


def judged(world: World) -> dict[int, np.ndarray]:
    """Return each rated response's mean judgement of each rater."""
    lists: dict[int, list[list[float]]] = {}
    for (name, index), values in world.judgements.items():
        if name in HYPOTHESES:
            lists.setdefault(world.responses[name, index].pk, []).append(values)
    return {pk: np.mean(values, axis=0) for pk, values in sorted(lists.items())}


def test_a_judge_on_the_raters_scale_is_tested_against_each_rater(world: World) -> None:
    run = make_imported_run(world, lowest=1.0, highest=5.0)
    scores = {
        world.responses[name, index].pk: float(np.mean(world.judgements[name, index]))
        for name in HYPOTHESES
        for index in range(1, len(world.items))  # item-0 has no imported scores
    }
    ratings = judged(world)
    matrix = np.stack(list(ratings.values()), axis=1)
    candidate = np.array([scores.get(pk, np.nan) for pk in ratings])

    result = result_of(world, "bleu", {"run": run.number})

    stand_in = result.worth[1].stand_in
    assert (stand_in.scale, stand_in.outputs) == ("ratings", int((~np.isnan(candidate)).sum()))
    assert [rater.rater for rater in stand_in.raters] == [1, 2, 3]  # places among the project's raters
    for margin in stand_in.margins.values():
        winning_rate, advantage, p_values = one_rater_at_a_time(matrix, candidate, margin.epsilon)
        assert list(margin.p) == pytest.approx(p_values, rel=1e-9, abs=1e-14)
        assert (margin.winning_rate, stand_in.advantage) == (winning_rate, pytest.approx(advantage))
        assert margin.passed
    counted = ~np.isnan(candidate)
    for place, rater in enumerate(stand_in.raters):
        others = np.delete(matrix, place, axis=0).mean(axis=0)
        r, p = stats.pearsonr(matrix[place][counted], others[counted], alternative="greater")
        assert (rater.agreement, rater.agreement_p) == (pytest.approx(r), pytest.approx(p, rel=1e-6, abs=1e-30))
    assert result.worth[0].stand_in.scale == "line"
    same = np.where(np.isnan(candidate), np.nan, matrix.mean())
    winning_rate, advantage, _ = one_rater_at_a_time(matrix, same, 0.1)
    assert result.worth[1].same_rating.advantage == pytest.approx(advantage)
    assert result.worth[1].same_rating.winning_rates["crowd"] == winning_rate
    assert result.worth[1].same_rating.rating == pytest.approx(matrix.mean())
    lead = lead_over(matrix, candidate, same, margin=0.2)
    assert (result.worth[1].same_rating.lead, result.worth[1].same_rating.lead_p["experts"]) == lead[:2]
    assert (result.worth[1].same_rating.closer, result.worth[1].same_rating.farther) == (lead.closer, lead.farther)
    assert result.worth[0].stand_in.same_offset_p is None, "fitted scores lie nowhere by themselves"
    assert result.worth[1].stand_in.same_offset_p == 1, "the scores are the mean ratings: no system is favoured"
    fitted = result.worth[1].fitted
    assert fitted is not None
    places = {world.responses[name, i].pk: i for name in HYPOTHESES for i in range(len(world.items))}
    lines = on_rating_scale(candidate, matrix.mean(axis=0), [places[pk] for pk in ratings])
    winning_rate, advantage, _ = one_rater_at_a_time(matrix, lines, 0.1)
    assert (fitted.winning_rates["crowd"], fitted.advantage) == (winning_rate, pytest.approx(advantage))
    assert fitted.lead == lead_over(matrix, lines, same).difference
    assert result.worth[0].fitted is None


def test_a_scale_with_other_ends_is_moved_onto_the_raters_and_ratings_are_saved(world: World) -> None:
    run = make_imported_run(world, lowest=0.0, highest=6.0)
    keep_ratings_of(world, n_items=20)

    result = result_of(world, {"run": run.number})

    worth = result.worth[0]
    assert worth.stand_in.scale == "bounds"
    helped = worth.means[0]
    rated = [np.mean(world.judgements["Echo", index]) for index in range(1, 20)]
    scored = [np.mean(world.judgements["Echo", index]) for index in range(1, 40)]
    assert (helped.system, helped.rated, helped.scored) == ("Echo", 19, 39)
    # The scores are the mean ratings: the estimate is the mean over all, its variance that of the outputs drawn.
    assert helped.estimate == pytest.approx(np.mean(scored))
    assert helped.saved == pytest.approx(1 - 19 / 39)
    assert helped.mean_interval == pytest.approx(stats.t.interval(0.95, 18, np.mean(rated), stats.sem(rated)))
    assert worth.saved == pytest.approx(1 - 19 / 39)
    assert worth.at_most == pytest.approx(1)


def test_a_row_ranks_systems_as_the_loop_says(world: World) -> None:
    run = make_imported_run(world)
    human = [[np.mean(world.judgements[name, index]) for name in HYPOTHESES] for index in range(len(world.items))]

    ranking = result_of(world, {"run": run.number}).worth[0].ranking

    assert (ranking.pairwise, ranking.calibrated, ranking.epsilon, ranking.soft) == (1, 1, 0, 1)
    assert accuracy_at(human, human, 0) == 1


def test_pairs_of_one_system_and_of_any_two_outputs_are_counted_as_the_loop_says(world: World) -> None:
    """The loop is Deutsch, Foster and Freitag (2023), one pair at a time."""
    result = result_of(world, "length")
    human = [[np.mean(world.judgements[name, index]) for index in range(len(world.items))] for name in HYPOTHESES]
    lengths = [
        [float(len(world.responses[name, i].text.split())) for i in range(len(world.items))] for name in HYPOTHESES
    ]
    ranking = result.worth[0].ranking
    within, over_all = ranking.within_systems, ranking.over_all
    assert within.pairwise == pytest.approx(accuracy_at(lengths, human, 0))
    assert within.calibrated == pytest.approx(accuracy_at(lengths, human, within.epsilon))
    each = []
    for held_out in range(len(HYPOTHESES)):  # a fold each
        rest = best_by_definition(np.delete(lengths, held_out, axis=0), np.delete(human, held_out, axis=0))
        most = max(accuracy for _, accuracy in rest)
        epsilon = min(epsilon for epsilon, accuracy in rest if accuracy >= most - 1e-12)
        each.append(accuracy_at(lengths[held_out : held_out + 1], human[held_out : held_out + 1], epsilon))
    assert within.held_out == pytest.approx(np.mean(each))
    flat = [[value for row in side for value in row] for side in (lengths, human)]
    assert over_all.pairwise == pytest.approx(accuracy_at(flat[:1], flat[1:], 0))
    assert over_all.calibrated == pytest.approx(accuracy_at(flat[:1], flat[1:], over_all.epsilon))
    assert (within.outputs, over_all.outputs, over_all.held_out) == (120, 120, None)


def test_a_metric_with_better_low_scores_ranks_by_its_negative(world: World) -> None:
    run = make_imported_run(world, lower_is_better=True)

    worth = result_of(world, {"run": run.number}).worth[0]

    assert worth.ranking.pairwise is not None
    assert worth.ranking.pairwise < 0.5
    assert worth.ranking.soft is not None
    assert worth.ranking.soft < 0.2


def without_test(world: World) -> RowWorth:
    return result_of(world, "bleu").worth[0]


def test_medians_of_unknown_raters_cannot_be_tested(world: World) -> None:
    for rater in Rater.objects.filter(project=world.project):
        RaterIdentity.objects.create(rater=rater, project=world.project, provider="aggregate", external_id=str(rater))

    worth = without_test(world)

    assert "their raters are not known" in worth.stand_in.reason
    assert worth.stand_in.margins == {}
    assert worth.means[0].mean is not None


def test_raters_with_few_outputs_are_left_out_by_name(world: World) -> None:
    keep_ratings_of(world, n_items=8)

    worth = without_test(world)

    assert worth.stand_in.raters == ()
    assert [(each.rater, each.outputs) for each in worth.stand_in.left_out] == [(1, 24), (2, 24), (3, 24)]
    assert "no rater has 30 items" in worth.stand_in.reason
    assert worth.means[0].reason.startswith("fewer than 10 outputs")
