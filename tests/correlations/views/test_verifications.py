"""A study is verified from its page, a report by uploading it, and both over the API."""

import copy
import json
from io import BytesIO

import pytest
from django.db import connection
from django.urls import reverse

from annotation.models import JobState, Project, Rating, Release
from annotation.references.releases.services.releases import stored_content_hash
from correlations.models import Study, StudyVerification
from correlations.results.report import sha256_of
from correlations.services.execution import study_execute
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from correlations.services.reports import report_file
from correlations.services.studies import study_create
from correlations.services.verifications import verification_execute
from tests.metrics.world import World, make_world
from tests.snapshots import recalled

pytestmark = pytest.mark.django_db
SMALL = {"sweeps": False, "assignments": 2, "bootstrap": 4, "metrics": ["bleu"], "subsets": ["all"]}
SAME = "every number is the same."
ORDERS = {
    "release": "cat-references",
    "campaigns": ["Output ratings", "Reference ratings"],
    "systems": ["Echo", "Parrot", "Quill"],
    "metric": "bleu",
    "sweeps": [{"parameter": "max_order", "values": [1, 2]}],
    "bootstrap": 4,
    "halves": 2,
}


@pytest.fixture
def study(project: Project) -> Study:
    return recalled("verified cats", project, lambda: _studied(make_world(project)))[1]


def _studied(world: World) -> tuple[World, Study]:
    Release.objects.filter(pk=world.release.pk).update(content_hash=stored_content_hash(world.release))
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**SMALL), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    assert study.state == JobState.DONE, study.error
    return world, study


def report_of(study: Study) -> dict:
    return json.loads(report_file(study, study.read_result(), "json"))


def executed(verification: StudyVerification) -> StudyVerification:
    verification_execute(verification_id=verification.pk)
    verification.refresh_from_db()
    assert verification.state == JobState.DONE, verification.error
    return verification


def change_a_rating() -> None:
    first = Rating.objects.filter(campaign__name="Output ratings").order_by("pk")[0]
    with connection.cursor() as cursor:  # as only someone with the database's password can
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE annotation_rating SET value = %s WHERE id = %s", [first.value % 5 + 1, first.pk])
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def test_a_study_is_computed_again_from_its_page(study: Study, manager, viewer, as_user) -> None:
    client, slug = as_user(manager), study.project.slug
    page, verify = (reverse(f"correlations:{name}", args=[slug, study.pk]) for name in ("study-detail", "study-verify"))
    studies = Study.objects.count()
    assert verify in client.get(page).content.decode()
    assert verify not in as_user(viewer).get(page).content.decode()

    to = client.post(verify)["Location"]
    assert client.post(verify)["Location"] == to  # one at a time
    waiting = client.get(to).content.decode()
    assert "verification-status" in waiting
    assert "Being computed again" in client.get(page).content.decode()
    assert client.get(to, headers={"HX-Request": "true"}).status_code == 200
    first = executed(study.verifications.get())
    assert Study.objects.count() == studies  # nothing is stored but the outcome
    assert client.get(to, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    assert SAME in client.get(to).content.decode()
    shown = client.get(page).content.decode()
    assert "Recomputed on" in shown
    assert SAME in shown

    change_a_rating()
    client.post(verify)
    second = executed(study.verifications.exclude(pk=first.pk).get())
    n = len(second.outcome["differences"])
    shown = client.get(page).content.decode()
    assert f"{n} values differ." in shown
    assert "All 2 verifications" in shown
    found = client.get(reverse("correlations:study-verification-detail", args=[slug, second.pk])).content.decode()
    assert "The ratings of “Output ratings” are others" in found
    assert "<code>rows[0]." in found
    assert f"{n - 10} more" in found
    history = client.get(
        f"{reverse('correlations:study-verification-list', args=[slug])}?study={study.pk}"
    ).content.decode()
    assert SAME.capitalize() in history
    assert 'type="file"' not in history


def test_a_report_from_elsewhere_is_uploaded(study: Study, manager, as_user) -> None:
    client, report = as_user(manager), report_of(study)
    here = reverse("correlations:study-verification-list", args=[study.project.slug])
    assert here in client.get(reverse("correlations:study-list", args=[study.project.slug])).content.decode()

    def send(content: bytes) -> str:
        answer = client.post(here, {"file": BytesIO(content)})
        return answer["Location"] if answer.status_code == 302 else answer.content.decode()

    assert "Not JSON" in send(b"{")
    assert "accepted: assay-study-report/1" in send(b"{}")
    altered = copy.deepcopy(report)
    altered["result"]["rows"][0]["rho"]["value"] = 0.99
    assert "its hash is not the one named" in send(json.dumps(altered).encode())
    altered["hashes"]["result"] = sha256_of(altered["result"])
    odd = copy.deepcopy(report)
    odd["named"]["ratings"] = {"Output ratings": 5}
    assert "named.ratings: found another form" in send(json.dumps(odd).encode())

    to = send(json.dumps(report).encode())
    verification = executed(StudyVerification.objects.get())
    assert verification.outcome["equal"] is True
    assert verification.report is None  # it is not needed any more
    assert "from a report" in client.get(to).content.decode()
    assert (
        "Recomputed on"
        not in client.get(reverse("correlations:study-detail", args=[study.project.slug, study.pk])).content.decode()
    )  # it says nothing of the stored result

    to = send(json.dumps(altered).encode())
    assert executed(StudyVerification.objects.latest("pk")).outcome["differences"] == [
        {"path": "rows[0].rho.value", "then": 0.99, "now": report["result"]["rows"][0]["rho"]["value"]}
    ]
    assert "<strong>1 value differs.</strong>" in client.get(to).content.decode()


def test_the_api_verifies_a_study_or_a_report(study: Study, manager, as_user) -> None:
    client, here = as_user(manager), f"/api/v1/projects/{study.project.slug}/verifications/"

    def send(**body: object):
        return client.post(here, json.dumps(body), content_type="application/json")

    made = send(study=study.pk)
    assert made.status_code == 201
    assert send(study=study.pk).status_code == 200
    verification = executed(study.verifications.get())
    answer = client.get(made["Location"]).json()
    assert answer["sentence"] == SAME
    assert answer["outcome"] == verification.outcome
    assert send(report=report_of(study)).status_code == 201
    assert [each["study"] for each in client.get(here).json()["results"]] == [None, study.pk]
    assert [each["parameter_study"] for each in client.get(here).json()["results"]] == [None, None]
    assert len(client.get(f"{here}?study={study.pk}").json()["results"]) == 1
    assert send(report={"format": "other"}).json()["fields"]["report"][0].startswith("found the format")
    assert send().json()["fields"] == {"study": ["Accepted: a study, a parameter study, or a report."]}
    assert send(study=10**6).status_code == 404
    assert send(parameter_study=study.pk).status_code == 404


def test_a_parameter_study_is_computed_again_from_its_page_and_by_the_api(study: Study, manager, as_user) -> None:
    client, project = as_user(manager), study.project
    turned, _ = parameter_study_create(project=project, name="Orders", specification=ORDERS, by=None)
    page, verify = (
        reverse(f"correlations:parameter-study-{name}", args=[project.slug, turned.pk]) for name in ("detail", "verify")
    )
    assert client.post(verify).status_code == 404  # it has no result yet
    parameter_study_execute(study_id=turned.pk)
    assert verify in client.get(page).content.decode()

    to = client.post(verify)["Location"]
    assert "Being computed again" in client.get(page).content.decode()
    executed(turned.verifications.get())
    found = client.get(to).content.decode()
    assert SAME in found
    assert page in found
    assert SAME in client.get(page).content.decode()

    change_a_rating()
    here = f"/api/v1/projects/{project.slug}/verifications/"
    made = client.post(here, json.dumps({"parameter_study": turned.pk}), content_type="application/json")
    assert made.status_code == 201
    outcome = executed(turned.verifications.latest("pk")).outcome
    assert outcome["changed"][0].startswith("The ratings of “Output ratings” are others")
    assert all(each["path"].startswith("sweeps[0].") for each in outcome["differences"])
    of_it = client.get(f"{here}?parameter_study={turned.pk}").json()["results"]
    assert [(each["parameter_study"], each["study"]) for each in of_it] == [(turned.pk, None)] * 2
    assert client.get(f"{here}?study={study.pk}").json()["results"] == []
    shown = client.get(page).content.decode()
    assert f"?parameter_study={turned.pk}" in shown
    listed = reverse("correlations:study-verification-list", args=[project.slug])
    assert "stored result" in client.get(f"{listed}?parameter_study={turned.pk}").content.decode()
