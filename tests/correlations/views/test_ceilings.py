"""How far raters agree among themselves, on a study's report, in its table, its chart, the command and the API."""

import csv
import io
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from scipy import stats

from annotation.models import Rater, RaterIdentity
from correlations.models import Study
from correlations.overview import study_findings
from correlations.results.ceiling import CoefficientCeiling
from correlations.results.study import StudyResult
from correlations.selectors.ceilings import ceiling_cells, ceiling_sentence, too_good_sentence
from correlations.selectors.headlines import Headline, study_headline
from correlations.selectors.held import RESAMPLES_NOTE
from correlations.selectors.reports import figure
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.ceiling import stepped_up
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.views.conftest import lead_sentences
from tests.metrics.world import HYPOTHESES, World

CEILING = CoefficientCeiling(halves=0.3, ceiling=0.5, reason="", one_rater=None, metric=None, raters=0)
pytestmark = pytest.mark.django_db


def made(world: World) -> Study:
    return made_with(world, {"run": make_imported_run(world, lower_is_better=True).number})


def made_with(world: World, run: object) -> Study:
    changes = {
        "metrics": ["bleu", run],
        "subsets": ["all"],
        "bootstrap": 0,
        "assignments": 2,
        "unit_size": 4,
    }
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


def test_every_place_shows_what_the_raters_reach(world: World, viewer, as_user) -> None:
    study = made(world)
    client, result = as_user(viewer), study.read_result()
    address = reverse("correlations:study-detail", args=[study.project.slug, study.pk])

    page = client.get(address).content.decode()
    spoken = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/ceilings/").json()
    stream = client.get(address + "ceilings.csv").streaming_content
    rows = list(csv.DictReader(io.StringIO(b"".join(stream).decode())))
    printed = StringIO()
    call_command("study", project=study.project.slug, spec=None, json=False, stdout=printed, **command_of(study))

    for index, row in enumerate(result.ceilings):
        ceiling = row.coefficients["spearman"].ceiling
        assert ceiling is not None
        assert f"{ceiling:.2f}" in page
        assert f"{ceiling:.3f}" in printed.getvalue()
        assert spoken[index]["rho"]["ceiling"] == ceiling
        assert float(rows[2 * index]["human_ceiling"]) == ceiling
    assert (
        "BLEU gets the most pairs of systems right, item by item and with ties: " in page
    )  # the other row's sign is turned
    (bleu, _) = csv.DictReader(io.StringIO(b"".join(client.get(address + "rankings.csv").streaming_content).decode()))
    assert float(bleu["epsilon"]) == result.worth[0].ranking.epsilon
    assert ceiling_sentence(result) in page.replace("&#x27;", "'")
    assert "Another group of as many raters would agree with these at about ρ = " in page.split("report-lead")[1]
    assert f": a rough estimate, from {result.rows[0].items} items." in page
    drawn = figure(result, "forest", theme="light")
    assert drawn is not None
    assert "Beside it, another group of as many raters, estimated: " in drawn["description"]


def test_a_row_above_what_its_ratings_allow_is_marked_and_the_interval_names_the_raters(world: World) -> None:
    """Of a reliability of 0.36 a score that has not seen the ratings reaches 0.6 at most, by Pearson's scale."""
    study = made_with(world, {"run": make_imported_run(world).number})
    result = study.read_result()
    best = result.rows[1].coefficients["spearman"]

    def with_ceiling(value: float) -> StudyResult:
        estimate = replace(best, value=0.68, over_items=(0.5, 0.76), over_items_and_raters=(0.34, 0.66))
        bleu = replace(result.rows[0].coefficients["spearman"], value=0.1)
        lower = replace(result.rows[0], coefficients=result.rows[0].coefficients | {"spearman": bleu})
        row = replace(result.rows[1], coefficients=result.rows[1].coefficients | {"spearman": estimate})
        ceiling = result.ceilings[1].coefficients | {"spearman": replace(CEILING, ceiling=value)}
        ceilings = (result.ceilings[0], replace(result.ceilings[1], coefficients=ceiling))
        return replace(result, rows=(lower, row), ceilings=ceilings)

    def headline(value: float) -> Headline:
        found = study_headline(study, with_ceiling(value))
        assert found is not None
        return found

    most = 6 / np.pi * np.arcsin(np.sqrt(2 * np.sin(np.pi * 0.36 / 6)) / 2)
    assert ceiling_cells(with_ceiling(0.36), 1)[0].bound == pytest.approx(most)
    assert too_good_sentence(with_ceiling(0.36)).startswith("More than is expected of a score that has not seen")
    assert f"Oracle (ρ = 0.68, expected at most {most:.2f})" in too_good_sentence(with_ceiling(0.36))
    of_those = "of those that judge quality and cannot have seen the ratings"
    assert f"with all references has the highest Spearman’s ρ with the raters, {of_those}" in headline(0.36).sentence
    assert f" with the raters, the highest {of_those}." in lead_sentences(study, with_ceiling(0.36))
    assert headline(0.36).doubts[0] == "Oracle may have seen these ratings."
    assert not any("It does not" in doubt for doubt in headline(0.36).doubts), "“It” would be Oracle"
    assert "expected" not in headline(0.6).sentence
    assert too_good_sentence(with_ceiling(0.6)) == ""
    assert headline(0.6).ceiling_note.startswith("Oracle lies above that, which a metric can: between two groups")
    assert headline(0.8).ceiling_note == ""
    assert "resamples range from 0.34 to 0.66" in headline(0.8).raters
    assert headline(0.8).raters.endswith(RESAMPLES_NOTE)
    sure = replace(CEILING, one_rater=0.29, one_rater_ends=(0.104, 0.476))
    of_lead = result.ceilings[0].coefficients | {"spearman": sure}
    of_first = replace(result, ceilings=(replace(result.ceilings[0], coefficients=of_lead), *result.ceilings[1:]))
    assert "agrees with the others at ρ = 0.29, 95% interval [0.10, 0.48]." in ceiling_sentence(of_first)
    shown = [ceiling_cells(with_ceiling(value), 1)[0].reached_in_words for value in (0.36, 0.6, 0.8)]
    assert shown == ["more than expected", "above", "85 %"]
    (card,) = study_findings(study.project, 1)  # its ratings are the scores
    assert "of those that judge quality and cannot have seen the ratings" in card.text
    assert "Oracle may have seen these ratings." in card.sure


def command_of(study: Study) -> dict[str, object]:
    names = ("release", "campaigns", "systems", "metrics", "subsets", "bootstrap", "assignments", "seed", "unit_size")
    return {name: study.specification[name] for name in names} | {"sweeps": False}


def test_one_rater_and_the_metric_are_compared_with_the_same_others(world: World) -> None:
    result = made(world).read_result()
    # Row 1 has the raters' own means with the sign turned; item-0 has no scores. Texts of several systems count once.
    judged = {
        world.responses[name, index].pk: world.judgements[name, index]
        for name in HYPOTHESES
        for index in range(1, len(world.items))
    }
    ratings = np.array(list(judged.values()))
    of_raters, of_metric = [], []
    for rater in range(3):
        others = np.delete(ratings, rater, axis=1).mean(axis=1)
        of_raters.append(stats.spearmanr(ratings[:, rater], others).statistic)
        of_metric.append(stats.spearmanr(ratings.mean(axis=1), others).statistic)

    human = result.ceilings[1].coefficients["spearman"]

    assert human.one_rater == pytest.approx(np.mean(of_raters))
    assert human.metric == pytest.approx(-np.mean(of_metric))
    assert human.raters == 3
    assert result.ceilings[1].raters_of_output == pytest.approx(3)
    # Halves of three raters are one and two.
    pearson = 2 * np.sin(np.pi * human.halves / 6)
    assert human.ceiling == pytest.approx(6 / np.pi * np.arcsin(stepped_up(pearson, 1, 2, 3) / 2))


def test_unknown_raters_have_no_ceiling(world: World, viewer, as_user) -> None:
    for rater in Rater.objects.filter(project=world.project):
        RaterIdentity.objects.create(rater=rater, project=world.project, provider="aggregate", external_id=str(rater))

    study = made(world)

    assert {row.coefficients["spearman"].ceiling for row in study.read_result().ceilings} == {None}
    page = (
        as_user(viewer).get(reverse("correlations:study-detail", args=[study.project.slug, study.pk])).content.decode()
    )
    assert "Not known: " in page
    lead, methods = page.split("report-lead")[1].split("</dl>")[0], page.split('id="methods"')[1].split("</p>")[0]
    assert "Ratings are medians or means, whose raters are not known" in lead
    assert "medians or means, raters not known" in page
    assert "medians or means of raters who are not known" in methods
    assert "by 3 raters" not in methods
