"""How far raters agree among themselves, on a study's report, in its table, its chart, the command and the API."""

import csv
import io
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from scipy import stats

from annotation.models import Rater, RaterIdentity
from correlations.models import Study
from correlations.selectors.ceilings import ceiling_sentence
from correlations.selectors.reports import figure
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.ceiling import stepped_up
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db


def made(world: World) -> Study:
    run = make_imported_run(world, lower_is_better=True)
    changes = {
        "metrics": ["bleu", {"run": run.number}],
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
        assert f"{ceiling:.3f}" in page
        assert f"{ceiling:.3f}" in printed.getvalue()
        assert spoken[index]["rho"]["ceiling"] == ceiling
        assert float(rows[2 * index]["human_ceiling"]) == ceiling
    assert "With ties, BLEU gets the most pairs of systems right" in page  # the other row's sign is turned
    (bleu, _) = csv.DictReader(io.StringIO(b"".join(client.get(address + "rankings.csv").streaming_content).decode()))
    assert float(bleu["epsilon"]) == result.worth[0].ranking.epsilon
    assert ceiling_sentence(result) in page.replace("&#x27;", "'")
    assert 'the <a href="#ceilings">human ceiling</a>' in page
    drawn = figure(result, "forest", theme="light")
    assert drawn is not None
    assert "Another group of raters reaches" in drawn["description"]


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
    lead, methods = page.split("report-lead")[1].split("</p>")[0], page.split('id="methods"')[1].split("</p>")[0]
    assert "Ratings are medians or means, whose raters are not known" in lead
    assert "medians or means, raters not known" in page
    assert "medians or means of raters who are not known" in methods
    assert "by 3 raters" not in methods
