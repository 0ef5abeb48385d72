"""A report over several data sets is computed again: here, where its archive was imported, and on changed ratings."""

import copy
import json
from io import BytesIO

import pytest
from django.urls import reverse

from annotation.models import Campaign, JobState, Project, Rating
from annotation.transfer.services.export import project_chunks
from annotation.transfer.services.imports import project_import_create, project_import_execute
from correlations.models import JointStudy, Study, StudyVerification
from correlations.results.report import JointDocument, ReportError, read_report, sha256_of
from correlations.selectors.joint import joint_comparison
from correlations.services.joint_studies import joint_study_create
from correlations.services.joint_verification import report_project, report_verify
from correlations.services.reports import joint_report_file
from correlations.services.verification import verification_lines
from correlations.services.verifications import verification_execute
from tests.correlations.services.test_verification import past_triggers
from tests.correlations.two_datasets import joint_study

pytestmark = pytest.mark.django_db
Report = dict


@pytest.fixture
def joint(project: Project) -> JointStudy:
    return joint_study(project)


@pytest.fixture
def report(joint: JointStudy) -> Report:
    compared = joint_comparison(joint)
    assert compared is not None
    return json.loads(joint_report_file(joint, compared, "json"))


def lines(report: Report, project: Project | None = None, *, most: int = 3) -> list[str]:
    document = read_report(report)
    return verification_lines(report_verify(document, project or report_project(document)), most=most)


def rehashed(report: Report) -> Report:
    """Return a report whose hashes are those of its changed results, as only a forger writes it."""
    for each in (report, *report["reports"]):
        each["hashes"]["result"] = sha256_of(each["result"])
    return report


def executed(verification: StudyVerification) -> StudyVerification:
    verification_execute(verification_id=verification.pk)
    verification.refresh_from_db()
    assert verification.state == JobState.DONE, verification.error
    return verification


def test_where_the_archive_was_imported_every_number_is_the_same(report: Report, joint: JointStudy, manager) -> None:
    content = b"".join(project_chunks(joint.project))
    job = project_import_create(by=manager, filename="cats.zip", content=content, name="Moved")
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.project is not None, job.error
    Study.objects.filter(project=job.project).update(result={})  # no stored result is read
    assert not job.project.joint_studies.exists()
    assert lines(report, job.project) == ["equal"]

    # The studies came with the archive, and what is over them is requested again: signatures are of content.
    specification = report["specification"]
    again, new = joint_study_create(project=job.project, name="Both", specification=specification, by=manager)
    assert (again.signature, new) == (joint.signature, [])

    # Elsewhere, the project is known by the studies that came with the archive.
    Project.objects.filter(pk=joint.project_id).update(slug="other", is_sandbox=True)
    assert report_project(read_report(report)) == job.project


def test_an_uploaded_report_says_which_numbers_are_others(report: Report, joint: JointStudy, manager, as_user) -> None:
    client, here = as_user(manager), reverse("correlations:study-verification-list", args=[joint.project.slug])
    altered = copy.deepcopy(report)
    values = altered["reports"][1]["result"]["rows"][0]["rho"]
    computed, values["value"] = values["value"], 0.99
    pooled = altered["result"]["rows"][0]["pooled"]
    together, pooled["value"] = pooled["value"], 0.98

    def send(document: Report) -> str:
        answer = client.post(here, {"file": BytesIO(json.dumps(document).encode())})
        return answer["Location"] if answer.status_code == 302 else answer.content.decode()

    assert "the result was changed after the report was written" in send(altered)
    alone = report | {"reports": report["reports"][:1]}
    assert "reports: found 1; accepted: two to 20, one of each data set" in send(alone)
    first, second = report["reports"]
    assert "reports: found 22; accepted: two to 20" in send(report | {"reports": [first, second] * 11})
    assert "reports: found two of the data set Cats" in send(report | {"reports": [first, second, first]})
    assert not StudyVerification.objects.exists()

    page = send(rehashed(altered))
    outcome = executed(StudyVerification.objects.get()).outcome
    assert (outcome["computed"], outcome["changed"]) == (True, [])
    assert outcome["differences"] == [
        {"path": "Old cats: rows[0].rho.value", "then": 0.99, "now": computed},
        {"path": "Together: rows[0].pooled.value", "then": 0.98, "now": together},
    ]
    shown = client.get(page).content.decode()
    assert "<strong>2 values differ.</strong>" in shown
    assert "<code>Old cats: rows[0].rho.value</code>" in shown
    assert "Both, from a report" in " ".join(shown.split())


def test_the_page_has_a_button_that_computes_its_studies_again(joint: JointStudy, manager, viewer, as_user) -> None:
    page, verify = (
        reverse(f"correlations:study-joint-{name}", args=[joint.project.slug, joint.pk])
        for name in ("detail", "verify")
    )
    client = as_user(manager)
    assert f'action="{verify}"' in client.get(page).content.decode()
    first, second = (client.post(verify)["Location"] for _ in range(2))
    assert first == second, "one at a time"
    assert executed(StudyVerification.objects.get()).outcome["equal"]
    assert "every number is the same" in client.get(first).content.decode()
    assert f'action="{verify}"' not in as_user(viewer).get(page).content.decode()

    joint.studies.update(state=JobState.QUEUED, finished_at=None)
    assert as_user(manager).post(verify).status_code == 404


def test_a_changed_rating_is_said_with_its_data_set_and_all_that_follows(
    report: Report, joint: JointStudy, manager, as_user
) -> None:
    first = Rating.objects.filter(campaign__name="old Output ratings").order_by("pk")[0]
    past_triggers("UPDATE annotation_rating SET value = %s WHERE id = %s", first.value % 5 + 1, first.pk)
    api = f"/api/v1/projects/{joint.project.slug}/verifications/"
    made = as_user(manager).post(api, json.dumps({"report": report}), content_type="application/json")
    assert (made.status_code, made.json()["signature"]) == (201, joint.signature)
    outcome = executed(StudyVerification.objects.get()).outcome
    assert len(outcome["changed"]) == 1
    assert outcome["changed"][0].startswith("Old cats: The ratings of “old Output ratings” are others: 360 in the")
    paths = [each["path"] for each in outcome["differences"]]
    assert {path.partition(":")[0] for path in paths} == {"Old cats", "Together"}
    assert "Together: rows[0].pooled.value" in paths


def test_a_coefficient_that_the_studies_lack_is_a_difference(report: Report) -> None:
    assert report["result"]["coefficient"] == "spearman"
    report["result"]["coefficient"] = "odd"
    assert lines(rehashed(report)) == [
        "1 value of the result differs:",
        "Together: coefficient: odd in the report, spearman now",
    ]


def test_what_cannot_be_computed_and_what_both_have_is_said_once(report: Report) -> None:
    for each in report["reports"]:
        each["versions"] = {**each["versions"], "assay": "0.0.9"}
    report["signature"] = "0" * 64
    Campaign.objects.filter(name="old Output ratings").update(name="Gone")
    unknown = "campaigns: found 'old Output ratings'; accepted: Gone, old Reference ratings"
    assert lines(report) == [
        "The signature of the report is not that of the studies that it holds.",
        "Other code: Assay 0.0.9 in the report, 0.1.0 here.",
        f"Old cats: The study cannot be computed here. {unknown}",
    ]


def test_a_report_is_read_as_what_it_is(report: Report) -> None:
    document = read_report(report)
    assert isinstance(document, JointDocument)
    assert document.to_json() == report
    del report["reports"][0]["study"]
    with pytest.raises(ReportError, match="study: found 'None'; accepted: what a report holds there"):
        read_report(report)
    with pytest.raises(ReportError, match="or assay-joint-study-report/1, the JSON report of a study over several"):
        read_report({"format": "other"})
