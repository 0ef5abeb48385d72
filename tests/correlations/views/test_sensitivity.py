"""The page that says how many raters a study needed."""

import csv
import io
from dataclasses import replace

import pytest
from django.urls import reverse

from correlations.models import Study
from correlations.results.sensitivity import ALL, ITEMS, Draws
from correlations.results.study import StudyResult
from correlations.selectors.sensitivity import NOT_REQUESTED, sensitivity_report, sensitivity_sentence
from tests.correlations.services.test_execution import run_study
from tests.metrics.world import World

pytestmark = pytest.mark.django_db
CHANGES = {"metrics": ["bleu", "delta_bleu"], "subsets": ["all"], "assignments": 5, "bootstrap": 10}


@pytest.fixture
def study(world: World) -> Study:
    return run_study(world, sensitivity=True, **CHANGES)


def address(study: Study, name: str = "study-sensitivity", *rest: object) -> str:
    return reverse(f"correlations:{name}", args=[study.project.slug, study.pk, *rest])


def test_the_page_answers_and_its_downloads_have_the_numbers(study: Study, viewer, as_user) -> None:
    client, part = as_user(viewer), study.read_result().sensitivity
    assert part is not None

    page = client.get(address(study)).content.decode()

    report = sensitivity_report(study.read_result(), None)
    assert report is not None
    assert report.answer in page
    assert report.tuned == ""  # one choice of references
    assert "Raters of references" in page
    assert "Negatives dropped" in page
    assert "figures/needed-references/" in page
    assert sensitivity_sentence(study.read_result()) in client.get(address(study, "study-detail")).content.decode()
    assert client.get(address(study) + "?pair=0").status_code == 200
    assert client.get(address(study) + "?pair=1").status_code == 404

    def rows(table: str) -> list[dict[str, str]]:
        response = client.get(address(study, "study-download", table, "csv"))
        return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))

    (pair,) = part.pairs
    differences = {row["drawn"]: row for row in rows("sources-of-differences")}
    assert float(differences[ALL]["first_ahead"]) == pair.ahead[ALL]
    assert float(differences[ITEMS]["low"]) == pair.sources[ITEMS].ends[0]  # type: ignore[index] # defined
    assert len(rows("sources")) == 2 * len(differences)
    assert [row["count"] for row in rows("fewer-ahead") if row["kept_of"] == "outputs"] == ["1", "2", "3"]
    assert {row["metric"] for row in rows("fewer")} == {"BLEU", "ΔBLEU"}
    assert [row["is_own"] for row in rows("schemes") if row["weights"] == "linear"] == ["True"]
    chart = client.get(address(study, "study-figure", "needed-outputs")).json()
    assert "ratings of each output" in str(chart["layer"])
    assert client.get(address(study, "study-figure-download", "needed-number", "svg")).status_code == 200
    answer = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/sensitivity/").json()
    assert answer["pairs"][0]["ahead"] == pair.ahead
    assert answer["coefficient"] == "spearman"


def test_a_manager_computes_it_for_a_study_without(world: World, manager, viewer, as_user) -> None:
    study = run_study(world, **CHANGES)
    page = as_user(viewer).get(address(study)).content.decode()
    assert "A manager of the project can compute it." in page
    assert "Compute it</button>" in as_user(manager).get(address(study)).content.decode()
    assert sensitivity_sentence(study.read_result()) == NOT_REQUESTED
    answer = as_user(viewer).get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/sensitivity/").json()
    assert (answer["reason"], answer["pairs"]) == ("create the study with “sensitivity”: true", [])

    answer = as_user(manager).post(address(study, "study-sensitivity-create"))

    again = Study.objects.exclude(pk=study.pk).get()
    assert answer.url == address(again, "study-detail")
    assert again.specification["sensitivity"] is True
    assert again.name == f"{study.name}: how many raters"


def answer_of(result: StudyResult, **changes: object) -> str:
    """Return the answer and the outlook if the one pair were otherwise."""
    part = result.sensitivity
    assert part is not None
    changed = replace(part, pairs=(replace(part.pairs[0], **changes),))
    report = sensitivity_report(replace(result, sensitivity=changed), None)
    assert report is not None
    return f"{report.answer} {report.outlook}"


def test_what_is_not_settled_says_what_would(study: Study) -> None:
    result = study.read_result()
    part = result.sensitivity
    assert part is not None
    ahead = part.pairs[0].ahead

    def unsettled(difference: float, of_items: float, of_all: float) -> str:
        sources = {ITEMS: Draws(None, of_items, ""), ALL: Draws(None, of_all, "")}
        return answer_of(result, ahead=ahead | {ALL: 0.8}, difference=difference, sources=sources)

    assert "do not settle whether" in unsettled(0.06, 0.03, 0.05)
    assert "in 80% of draws" in unsettled(0.06, 0.03, 0.05)
    assert "About 3.7 times as many ratings of the same outputs and references would" in unsettled(0.06, 0.03, 0.05)
    assert "More ratings of the same items would not settle it; about 2.7 times" in unsettled(0.06, 0.05, 0.06)
    assert "as good as equal" in unsettled(0.001, 0.05, 0.06)
    settled = answer_of(result, ahead=ahead | {ALL: 0.99})
    assert "in 95% of draws" in settled
    assert "would be ahead in 99% of draws." in settled


def test_an_answer_counts_ratings_and_references(study: Study) -> None:
    result = study.read_result()
    part = result.sensitivity
    assert part is not None

    def answer(*shares: tuple[str, tuple[float, ...]]) -> str:
        curves = dict(part.curves)
        for kind, ahead in shares:
            points = zip(part.curves[kind].points, ahead, strict=True)
            curves[kind] = replace(
                curves[kind], points=tuple(replace(point, ahead=(share,)) for point, share in points)
            )
        pair = replace(part.pairs[0], ahead=part.pairs[0].ahead | {ALL: 1.0})
        report = sensitivity_report(replace(result, sensitivity=replace(part, curves=curves, pairs=(pair,))), None)
        assert report is not None
        return report.answer

    few = answer(("outputs", (0.9, 0.97, 1.0)), ("references", (0.97, 0.98, 1.0)), ("number", (0.5, 1.0)))
    assert few.startswith("2 ratings of each output already put")
    assert few.endswith("; references needed 1 rating each, and all 2 references per item.")
    # Of a judge that reads no references, only the other row of the pair can need some.
    judge = replace(result.rows[part.pairs[0].first], subset="none", label="Judge")
    rows = tuple(judge if index == part.pairs[0].first else row for index, row in enumerate(result.rows))
    curves = dict(part.curves) | {"references": replace(part.curves["references"], reason="none")}
    pair = replace(part.pairs[0], ahead=part.pairs[0].ahead | {ALL: 1.0})
    of_judge = replace(result, rows=rows, sensitivity=replace(part, curves=curves, pairs=(pair,)))
    report = sensitivity_report(of_judge, None)
    assert report is not None
    assert f"per item for {report.labels[1]}." in report.answer
    assert answer(("outputs", (0.99, 0.97, 1.0))).startswith("One rating of each output is enough to put")
    assert answer(("outputs", (0.99, 0.9, 1.0))).startswith("It took all 3 ratings of each output to put")
