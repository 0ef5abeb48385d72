"""A report is verified: equal where nothing changed, and otherwise what differs, in words and by path."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.models import Project, Rating, ReferenceSet, Release
from annotation.references.releases.services.releases import stored_content_hash
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from correlations.models import Study
from correlations.results.differences import differences
from correlations.results.report import ReportError, StudyDocument, sha256_of
from correlations.services.execution import study_execute
from correlations.services.joint_verification import report_project
from correlations.services.reports import report_file
from correlations.services.studies import study_create
from correlations.services.verification import study_verify, verification_lines
from metrics.models import ScoreRun
from tests.metrics.world import World, make_world
from tests.snapshots import recalled

pytestmark = pytest.mark.django_db
SMALL = {"sweeps": True, "assignments": 2, "bootstrap": 4, "metrics": ["bleu", "delta_bleu"], "subsets": ["all"]}
Report = dict


@pytest.fixture
def computed(project: Project) -> tuple[World, Study]:
    return recalled("a study to verify", project, lambda: _computed(project))


def _computed(project: Project) -> tuple[World, Study]:
    world = make_world(project)
    Release.objects.filter(pk=world.release.pk).update(content_hash=stored_content_hash(world.release))
    study, _ = study_create(project=project, name="Cats", specification=world.specification(**SMALL), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return world, study


@pytest.fixture
def world(computed: tuple[World, Study]) -> World:
    return computed[0]


@pytest.fixture
def study(computed: tuple[World, Study]) -> Study:
    return computed[1]


@pytest.fixture
def report(study: Study) -> Report:
    return json.loads(report_file(study, study.read_result(), "json"))


def past_triggers(query: str, *parameters: object) -> None:
    """Change rows as only someone with the database's password can."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(query, parameters)
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def lines(report: Report, project: Project | None = None) -> list[str]:
    document = StudyDocument.from_json(report)
    return verification_lines(study_verify(document, project or report_project(document)), most=3)


def test_an_untouched_project_gives_an_equal_result_and_stores_nothing(
    study: Study, report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Study.objects.count(), ScoreRun.objects.count()
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))

    call_command("study", "verify", str(path))

    assert capsys.readouterr().out == "equal\n"
    assert (Study.objects.count(), ScoreRun.objects.count()) == before
    assert report["result"] == study.result
    assert report["study"]["signature"] == study.signature
    assert report["named"]["ratings"]["Output ratings"]["count"] == 720
    assert report["releases"][0]["content_hash"] == report["named"]["release"]
    run = ScoreRun.objects.get(signature=report["runs"][0]["signature"])
    assert report["runs"][0]["signature_hash"] == run.signature_hash


def test_an_installation_that_imported_the_archive_computes_the_same(report: Report, manager) -> None:
    project = Project.objects.get(slug="chit-chat")
    job = project_import_create(
        by=manager, filename="cats.zip", content=b"".join(project_chunks(project)), name="Moved"
    )
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.project is not None, job.error
    ScoreRun.objects.filter(project=job.project).update(report={"pooled": True})  # no stored score is read

    assert lines(report, job.project) == ["equal"]


def test_ratings_that_came_later_are_not_counted_and_said(report: Report, world: World) -> None:
    rating = Rating.objects.filter(campaign=world.output_campaign).first()
    assert rating is not None
    rating.pk, rating.revision, rating.value = None, 1, 1.0
    rating.save(force_insert=True)

    assert lines(report) == ["1 rating of “Output ratings” sent after the report is not counted.", "equal"]


def change_rating(world: World) -> None:
    first = Rating.objects.filter(campaign=world.output_campaign).order_by("pk")[0]
    past_triggers("UPDATE annotation_rating SET value = %s WHERE id = %s", first.value % 5 + 1, first.pk)


def change_weight(world: World) -> None:
    past_triggers(
        "UPDATE annotation_releaseweight SET weight = -weight WHERE release_id = %s AND weight > 0", world.release.pk
    )


def change_output(world: World) -> None:
    response = world.responses["Quill", 3]
    past_triggers("UPDATE annotation_response SET text = 'no' WHERE id = %s", response.pk)


@pytest.mark.parametrize(
    ("change", "message", "path"),
    [
        (change_rating, "The ratings of “Output ratings” are others: 720 in the report, 720 here; hash", "rows[0].rho"),
        (
            change_weight,
            "The reference weights of cat-references/v1 were changed after they were published: their hash is",
            "rows[1].rho",
        ),
        (change_output, "The outputs of the systems are others: their hash is", "rows[0].rho"),
    ],
)
def test_what_was_changed_is_said_and_every_value_that_follows(
    report: Report, world: World, change: Callable[[World], None], message: str, path: str
) -> None:
    change(world)

    document = StudyDocument.from_json(report)
    found = study_verify(document, world.project)

    assert len(found.changed) == 1
    assert found.changed[0].startswith(message)
    assert any(each.path.startswith(path) for each in found.differences)
    assert not any(each.path.startswith(("seconds", "versions")) for each in found.differences)
    printed = verification_lines(found, most=3)
    assert "values of the result differ:" in printed[1]
    assert "in the report," in printed[2]
    assert printed[-1].startswith("... and ")


def test_a_missing_release_is_named_and_nothing_is_computed(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    past_triggers("UPDATE annotation_release SET state = 'failed', content_hash = ''")
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))

    with pytest.raises(SystemExit) as ended:
        call_command("study", "verify", str(path))

    assert ended.value.code == 1
    answer = "The release cat-references/v1 is missing here: no release has its name or its content.\n"
    assert capsys.readouterr().out == answer


def test_a_release_is_found_by_its_content(report: Report) -> None:
    ReferenceSet.objects.update(slug="renamed")
    found = lines(report)
    assert found[0] == "The release cat-references/v1 of the report is called renamed/v1 here."
    assert any(line.startswith("rows[0].signature: ") for line in found)  # it names the release


def test_other_code_is_said_and_is_no_difference_by_itself(report: Report) -> None:
    report["versions"] = {"assay": "0.0.9", "numpy": "1.0"}
    report["result"]["versions"] = report["versions"]
    report["hashes"]["result"] = sha256_of(report["result"])
    assert lines(report) == [
        "Other code: Assay 0.0.9 in the report, 0.1.0 here.",
        f"Other code: NumPy 1.0 in the report, {np.__version__} here.",
        "equal",
    ]


def test_a_report_that_was_changed_is_refused(report: Report, tmp_path: Path) -> None:
    report["result"]["rows"][0]["rho"]["value"] = 0.99
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    with pytest.raises(CommandError, match="the result was changed after the report was written"):
        call_command("study", "verify", str(path))
    with pytest.raises(ReportError, match="found the format None"):
        StudyDocument.from_json({})


def test_only_the_last_digits_of_a_number_may_differ() -> None:
    assert list(differences({"a": [1.0, None]}, {"a": [1.0 + 1e-12, None]})) == []
    answer = [str(each) for each in differences({"a": [1.0, None], "b": 1}, {"a": [1.1], "c": True})]
    assert answer == [
        "a[0]: 1.0 in the report, 1.1 now",
        "a[1]: None in the report, nothing now",
        "b: 1 in the report, nothing now",
        "c: nothing in the report, True now",
    ]
