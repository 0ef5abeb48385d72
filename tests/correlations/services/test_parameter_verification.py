"""The report of a parameter study is computed again: here, where its archive was imported, and on changed ratings."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import Project, Rating, Release
from annotation.references.releases.services.releases import stored_content_hash
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from correlations.models import ParameterStudy
from correlations.results.report import ParameterDocument, ReportError, StudyDocument, read_report, sha256_of
from correlations.services.joint_verification import report_project
from correlations.services.reports import parameter_report_file
from correlations.services.verification import study_verify, verification_lines
from tests.correlations.services.test_parameter_studies import run_study
from tests.correlations.services.test_verification import change_output, change_rating
from tests.metrics.trained import models_dir, trained_model  # noqa: F401
from tests.metrics.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
Report = dict


@pytest.fixture
def report(world: World) -> Report:
    """A trained model is swept, and a value is chosen by halves, folds and without each system."""
    Release.objects.filter(pk=world.release.pk).update(content_hash=stored_content_hash(world.release))
    trained_model(world)
    study = run_study(world, metric={"name": "am", "k": 4}, sweeps=[{"parameter": "k", "values": [1, 2, 4]}])
    return json.loads(parameter_report_file(study, study.read_result(), "json"))


def lines(report: Report, project: Project | None = None) -> list[str]:
    document = read_report(report)
    return verification_lines(study_verify(document, project or report_project(document)), most=2)


def test_here_and_where_the_archive_was_imported_every_number_is_the_same(
    report: Report, tmp_path: Path, manager, capsys: pytest.CaptureFixture[str]
) -> None:
    path, studies = tmp_path / "report.json", ParameterStudy.objects.count()
    path.write_text(json.dumps(report))
    call_command("study", "verify", str(path))
    assert capsys.readouterr().out == "equal\n"
    assert ParameterStudy.objects.count() == studies

    content = b"".join(project_chunks(Project.objects.get(slug="chit-chat")))
    job = project_import_create(by=manager, filename="cats.zip", content=content, name="Moved")
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.project is not None, job.error
    ParameterStudy.objects.filter(project=job.project).update(result={})  # no stored result is read
    there = ParameterStudy.objects.get(project=job.project)
    assert there.signature == report["study"]["signature"]
    assert lines(report, job.project) == ["equal"]  # though the model has another number in the database


def test_a_changed_number_is_reported_by_name(report: Report) -> None:
    values = report["result"]["sweeps"][0]["points"][0]["system"]["pearson"]
    computed, values["value"] = values["value"], 0.99
    with pytest.raises(ReportError, match="the result was changed after the report was written"):
        read_report(report)

    report["hashes"]["result"] = sha256_of(report["result"])
    assert lines(report) == [
        "1 value of the result differs:",
        f"sweeps[0].points[0].system.pearson.value: 0.99 in the report, {computed} now",
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_rating, "The ratings of “Output ratings” are others: 720 in the report, 720 here; hash"),
        (change_output, "The outputs of the systems are others: their hash is"),
    ],
)
def test_what_was_changed_here_is_said_with_the_values_that_follow(
    report: Report, world: World, change, message: str
) -> None:
    change(world)
    first, second, third, *_ = lines(report)
    assert first.startswith(message)
    assert second.endswith("values of the result differ:")
    assert third.startswith("sweeps[0].")


def test_ratings_that_came_later_are_not_counted(report: Report, world: World) -> None:
    rating = Rating.objects.filter(campaign=world.output_campaign).first()
    assert rating is not None
    rating.pk, rating.revision, rating.value = None, 1, 1.0
    rating.save(force_insert=True)
    assert lines(report) == ["1 rating of “Output ratings” sent after the report is not counted.", "equal"]


def test_a_report_is_read_as_what_it_is(report: Report) -> None:
    assert isinstance(read_report(report), ParameterDocument)
    with pytest.raises(ReportError, match=r"accepted: assay-study-report/1, the JSON report of a study$"):
        StudyDocument.from_json(report)
    accepted = "a study, or assay-parameter-study-report/1, the JSON report of a parameter study"
    with pytest.raises(ReportError, match=accepted):
        read_report([])
