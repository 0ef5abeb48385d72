"""The page that states the scale of imported scores: the answer is that of scores imported with it."""

from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse

from correlations.errors import StudyRefused
from correlations.models import Study
from correlations.selectors.stand_in_systems import SystemBias
from correlations.selectors.stand_in_words import stand_in_answer
from correlations.selectors.worth import StandInReport, stand_in_report
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from metrics.services.score_imports import score_file_import
from metrics.services.score_options import ImportOptions
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import World

pytestmark = pytest.mark.django_db
CHANGES = {"subsets": ["all"], "bootstrap": 0, "assignments": 2}


def studied(world: World, run: ScoreRun, name: str = "Judge", **changes: object) -> Study:
    specification = world.specification(metrics=[{"run": run.number}], **CHANGES | changes)
    study, _ = study_create(project=world.project, name=name, specification=specification, by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


def report_of(study: Study) -> StandInReport:
    report = stand_in_report(study.project, study.read_result(), "crowd", None)
    assert report is not None
    return report


def stand_in_page(study: Study, client) -> str:
    page = client.get(reverse("correlations:study-stand-in", args=[study.project.slug, study.pk])).content.decode()
    return " ".join(page.split())


def test_scores_of_no_known_scale_say_what_they_cannot_tell_and_take_one_later(
    world: World, manager, viewer, as_user
) -> None:
    unknown = make_imported_run(world)
    study = studied(world, unknown)
    page, address = stand_in_page(study, as_user(manager)), f"/p/{world.project.slug}/runs/{unknown.number}/scale/"
    assert "The scale of Oracle is not known" in page
    assert "What this cannot tell: whether it rates higher or lower than the raters" in page
    assert "less the raters" not in page
    assert f'href="{address}?study={study.pk}">State its scale' in page
    assert "State its scale" not in stand_in_page(study, as_user(viewer))
    assert as_user(viewer).get(address).status_code == 403
    form = as_user(manager).get(f"{address}?study={study.pk}").content.decode()
    assert "not known</strong>, none was stated at the import" in form
    assert f'name="study" value="{study.pk}" id="study-{study.pk}" checked' in form
    wrong = as_user(manager).post(address, {"column-1": "Oracle", "scale-1": "range", "low-1": "2", "high-1": "5"})
    assert "accepted: a range that holds them" in wrong.content.decode()

    sent = {"column-1": "Oracle", "scale-1": "1..5", "study": study.pk}
    response = as_user(manager).post(address, sent)

    again = Study.objects.exclude(pk=study.pk).get()
    assert response.url == reverse("correlations:study-detail", args=[world.project.slug, again.pk])
    study_execute(study_id=again.pk)
    again.refresh_from_db()
    assert again.name == "Judge (Oracle: 1 to 5, the raters’ scale)", "the list tells it from the other"
    known = studied(world, make_imported_run(world, lowest=1.0, highest=5.0))
    corrected, imported = report_of(again), report_of(known)
    assert stand_in_answer(corrected) == stand_in_answer(imported)
    assert stand_in_answer(corrected).systems.startswith("Its ratings less the raters’ are ")
    assert corrected.chosen.worth == imported.chosen.worth
    assert "taken to lie on the raters’ scale, 1 to 5" in stand_in_page(again, as_user(manager))
    as_user(manager).post(f"/p/{world.project.slug}/runs/{again.read_result().rows[0].run}/scale/", sent)
    assert ScoreRun.objects.filter(metric="external").count() == 3
    run = ScoreRun.objects.get(number=again.read_result().rows[0].run)
    as_user(manager).post(
        f"/p/{world.project.slug}/runs/{run.number}/scale/", sent | {"scale-1": "0..6", "study": again.pk}
    )
    assert Study.objects.latest("pk").name == "Judge (Oracle: 0 to 6)"


def test_an_assumed_scale_is_stated_once_it_is_confirmed(world: World, manager, as_user) -> None:
    table = "system,item,judge\n" + "".join(f"Echo,item-{index},{1 + index % 5}\n" for index in range(10))
    file = {"dataset": world.dataset, "filename": "judge.csv", "content": table.encode()}
    ((run, _),) = score_file_import(**file, options=ImportOptions(), by=None)
    address = f"/p/{world.project.slug}/runs/{run.number}/scale/"
    client = as_user(manager)

    for message in ("Noted that this scale is stated", "Nothing changed"):
        response = client.post(address, {"column-1": "judge", "scale-1": "1..5"}, follow=True)
        page = " ".join(response.content.decode().split())
        assert message in page
        assert "1 to 5, the raters’ scale, stated at the import" in page


def test_a_study_that_is_refused_leaves_no_corrected_run_and_no_other_study(
    world: World, manager, as_user, monkeypatch
) -> None:
    run = make_imported_run(world)
    studies = [studied(world, run), studied(world, run, name="Twice", seed=2)]
    created, refused = [], "The second is refused."

    def create(**arguments: Any) -> tuple[Study, bool]:
        if created:
            raise StudyRefused(refused)
        created.append(study_create(**arguments))
        return created[0]

    monkeypatch.setattr("correlations.services.rescaling.study_create", create)
    sent = {"column-1": "Oracle", "scale-1": "1..5", "study": [study.pk for study in studies]}

    page = as_user(manager).post(f"/p/{world.project.slug}/runs/{run.number}/scale/", sent).content.decode()

    assert refused in page
    assert created
    assert ScoreRun.objects.filter(metric="external").count() == 1
    assert Study.objects.count() == 2


def test_a_judge_of_another_range_is_placed_by_its_ends_and_its_bias_is_that_of_points(world: World) -> None:
    given = report_of(studied(world, make_imported_run(world, lowest=1.0, highest=5.0))).chosen
    result = report_of(studied(world, make_imported_run(world, lowest=0.0, highest=6.0)))
    placed = result.chosen

    answer = stand_in_answer(result)

    ends = "taken to lie on 0 to 6 and put on the raters’ scale, 1 to 5, by its ends."
    assert answer.scale == f"The scores of Oracle are {ends}"
    assert answer.systems.startswith("Its scores on the raters’ scale less the raters’ are ")
    mean = given.systems[0].score
    assert mean is not None
    assert placed.stand_in.assumed is not None
    assert placed.stand_in.assumed.placed(mean) == pytest.approx(1 + 4 * mean / 6)
    assert placed.worth.saved == given.worth.saved  # straight lines change nothing
    points = [replace(point, score=2.0 + favour, rating=2.0) for favour, point in enumerate(placed.systems[:2])]
    for width, uneven in ((20, True), (30, False)):  # the difference of one point is a share of the raters' scale
        assumed = replace(placed.stand_in.assumed, rating_high=1.0 + width)
        worth = replace(placed.worth, stand_in=replace(placed.stand_in, scale="ratings", assumed=assumed))
        bias = SystemBias.of(replace(placed, worth=worth, systems=points))
        assert ("Rely on raters for differences between systems" in bias.in_words(may_compare=True)) == uneven
        within = "within 1.00 points of theirs on these outputs: it may compare systems that lie farther apart."
        assert (within in bias.in_words(may_compare=True)) != uneven
        assert "it may compare" not in bias.in_words(may_compare=False)
    turned = replace(placed.stand_in.assumed, lower_is_better=True)
    assert turned.placed(mean) == pytest.approx(6 - placed.stand_in.assumed.placed(mean))
