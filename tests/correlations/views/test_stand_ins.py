"""The page that says whether a judge can stand in for raters."""

import csv
import io
from dataclasses import replace

import pytest
from django.urls import reverse

from correlations.models import Study
from correlations.selectors.worth import stand_in_sentence
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from metrics.models import ScoreRun
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(world: World) -> Study:
    run = make_imported_run(world, lowest=1.0, highest=5.0)
    changes = {"metrics": ["bleu", {"run": run.number}], "subsets": ["all"], "bootstrap": 0, "assignments": 2}
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


def address(study: Study, name: str = "study-stand-in", *rest: object) -> str:
    return reverse(f"correlations:{name}", args=[study.project.slug, study.pk, *rest])


def address_of_new(study: Study) -> str:
    return reverse("correlations:study-create", args=[study.project.slug])


def test_the_page_answers_names_the_raters_and_says_what_is_next(study: Study, manager, viewer, as_user) -> None:
    page = as_user(viewer).get(address(study)).content.decode()

    assert "Yes, Oracle can, in place of a rater of a crowd." in page
    assert "It beats 3 of 3 raters" in page
    assert "(winning rate 1.00" in page
    assert "rater-0" in page
    assert "taken as they are" in page
    assert "corrected for 3 raters" in page
    assert "Import a judge’s scores" not in page  # a viewer cannot
    run = reverse("metrics:run-detail", args=[study.project.slug, ScoreRun.objects.get(metric="external").number])
    of_run = as_user(viewer).get(run).content.decode()
    assert f'href="{address(study)}">can it stand in for raters?' in of_run
    assert "Use it in another study" not in of_run  # a viewer cannot
    assert f"{address_of_new(study)}?dataset={study.dataset_id}" in as_user(manager).get(run).content.decode()
    report = as_user(viewer).get(address(study, "study-detail")).content.decode()
    assert "Oracle can: it beats 3 of 3 raters." in report
    assert address(study) in report
    assert "Import a judge’s scores" in as_user(manager).get(address(study)).content.decode()


def test_another_row_and_other_raters_can_be_chosen(study: Study, viewer, as_user) -> None:
    page = as_user(viewer).get(address(study) + "?raters=experts&row=0").content.decode()

    assert "ε = 0.20" in page
    assert "BLEU" in page.split('id="raters"')[1][:80]
    assert "by straight lines" in page
    for wrong in ("?raters=robots", "?row=2"):
        assert as_user(viewer).get(address(study) + wrong).status_code == 404


def test_what_is_not_shown_is_not_claimed(study: Study) -> None:
    result = study.read_result()
    oracle = result.worth[1]
    crowd = oracle.stand_in.margins["crowd"]

    def sentence(**changes: object) -> str:
        return stand_in_sentence(
            replace(result, rows=result.rows[1:], levels=result.levels[1:], worth=(replace(oracle, **changes),))
        )

    losing = {"crowd": replace(crowd, winning_rate=0.0, passed=False, beaten=0)}
    assert "No metric of this study can" in sentence(stand_in=replace(oracle.stand_in, margins=losing))
    assert sentence(stand_in=replace(oracle.stand_in, margins={}, reason="why")) == "Not tested: why."
    passing = replace(oracle.same_rating, winning_rates={"crowd": 0.5})
    assert "Oracle can" in sentence(same_rating=replace(passing, lead_p={"crowd": 0.01}))
    for p in (0.2, None):
        same = replace(passing, lead_p={"crowd": p})
        assert "one and the same rating for every output passes" in sentence(same_rating=same)


def test_tables_and_endpoint_have_the_same_numbers(study: Study, viewer, as_user) -> None:
    client = as_user(viewer)
    oracle = study.read_result().worth[1].stand_in

    def rows(table: str) -> list[dict[str, str]]:
        response = client.get(address(study, "study-download", table, "csv"))
        return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))

    (tested,) = (row for row in rows("stand-ins") if (row["metric"], row["in_place_of"]) == ("Oracle", "experts"))
    assert (tested["passed"], float(tested["advantage"])) == ("True", oracle.advantage)
    raters = [row for row in rows("stand-in-raters") if (row["metric"], row["in_place_of"]) == ("Oracle", "experts")]
    assert [float(row["p"]) for row in raters] == list(oracle.margins["experts"].p)
    assert {row["system"] for row in rows("helped-means")} == {"Echo", "Parrot", "Quill"}
    answer = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/worth/").json()[1]
    assert answer["stand_in"]["margins"]["crowd"]["winning_rate"] == 1.0
    assert answer["ranking"]["soft"] == pytest.approx(1.0)
