"""A project is deleted whole: rows of every table, files, links of raters. Or it stays whole."""

import uuid
from collections import Counter
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.urls import reverse

from annotation import tasks
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.campaigns.services.writing import campaign_create
from annotation.core.purging import paths_to_project
from annotation.models import (
    Campaign,
    Corpus,
    DryRun,
    JobState,
    KeptFile,
    Project,
    ProjectDeletion,
    ProjectImport,
    ProviderAccount,
    ProviderEvent,
    Recruitment,
    RecruitmentState,
    Submission,
    SubmissionStatus,
)
from annotation.projects.contents import CONTENTS
from annotation.projects.selectors.deletion import contents_of, deletion_problems
from annotation.projects.services import deletion as services
from annotation.rating.languages import LANGUAGES
from metrics.models import TrainedModel
from metrics.selectors.models import folder_of
from tests.annotation.worlds.datasets import example_dataset, example_ratings

# Tables that hold nothing of a project. Any other needs a way to one, or it would be left behind.
OUTSIDE = {
    "annotation_apitoken",
    "annotation_heartbeat",
    "annotation_identity",  # of an account
    "annotation_limitcount",
    "annotation_projectdeletion",  # its row goes last
    "annotation_projectimport",  # of an account
    "annotation_recoverycode",  # of an account
    "annotation_secondfactor",  # of an account
    "annotation_signin",  # of an account
    "annotation_user",
    "annotation_user_groups",
    "annotation_user_user_permissions",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_admin_log",
    "django_content_type",
    "django_session",
}


@pytest.fixture
def lab(world) -> Project:
    """The project of the API's tests, with a recruitment that is over, and another project."""
    project = Project.objects.get(slug="lab")
    account = ProviderAccount.objects.create(project=project, provider="prolific", name="Lab")
    recruitment = Recruitment.objects.create(
        campaign=project.campaigns.filter(imported=False)[0],
        account=account,
        provider="prolific",
        name="First wave",
        state=RecruitmentState.COMPLETED,
    )
    rater = project.raters.all()[0]
    Submission.objects.create(recruitment=recruitment, rater=rater, external_id="s1", status=SubmissionStatus.APPROVED)
    ProviderEvent.objects.create(account=account, event_id="e1", kind="x")
    KeptFile.objects.create(project=project, user=world.people["owner"], filename="x.csv", content=b"x")
    example_ratings(example_dataset(Project.objects.create(name="Elsewhere", slug="other")))
    return project


@pytest.fixture(autouse=True)
def files_of_its_own(settings, tmp_path: Path) -> None:
    """Rows come back when a test ends, but not the files of the world that the other tests read."""
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path, tmp_path / "models"


def row_counts() -> Counter[str]:
    with connection.cursor() as cursor:
        counts = Counter()
        for table in sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)}):
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
    return counts


def delete(project: Project) -> None:
    requested = services.project_deletion_request(project=project, confirmation=project.name)
    services.project_deletion_execute(deletion_id=requested.pk)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at the end of the transaction
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def test_every_table_leads_to_a_project_or_is_known_to_hold_nothing_of_one() -> None:
    tables = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    assert tables - {model._meta.db_table for model in paths_to_project()} == OUTSIDE


def test_no_table_keeps_a_row_of_a_deleted_project(lab: Project) -> None:
    sandbox = Project.objects.create(name="Dry run", slug="dry-run", is_sandbox=True)  # plays on its data set just now
    dataset = lab.datasets.get(slug="chats")
    draft = CampaignDraft(dataset=dataset, name="Played", criteria=[CriterionDraft("quality", "How good?")])
    campaign_launch(campaign=campaign_create(project=sandbox, draft=draft))
    DryRun.objects.create(campaign=lab.campaigns.filter(imported=False)[0], sandbox=sandbox)
    before = row_counts()
    others = {project.pk: contents_of(project).rows for project in Project.objects.exclude(pk__in=[lab.pk, sandbox.pk])}
    delete(lab)
    assert not Project.objects.filter(pk=sandbox.pk).exists()
    assert {pk: contents_of(Project.objects.get(pk=pk)).rows for pk in others} == others
    after = row_counts()
    assert after.total() < before.total()
    for project in Project.objects.all():
        delete(project)
    left = {table for table, n in row_counts().items() if n}
    assert left <= OUTSIDE - {"annotation_projectdeletion"}
    assert not ProjectImport.objects.exclude(project=None).exists()
    filled = {table for table, n in before.items() if n} - OUTSIDE
    assert len(filled) >= 50, "the world of the API has rows in most tables"


def test_a_refused_deletion_changes_nothing(lab: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last table fails, after all others have been emptied."""
    monkeypatch.setattr(services, "TRIES", 2)
    before = row_counts()
    real, calls = services.projects_purge, []

    def failing(keys: list[int]) -> dict[str, int]:
        calls.append(real(keys))
        raise IntegrityError("a rating came in")

    monkeypatch.setattr(services, "projects_purge", failing)
    requested = services.project_deletion_request(project=lab, confirmation=lab.name)
    with pytest.raises(IntegrityError):
        services.project_deletion_execute(deletion_id=requested.pk)
    assert len(calls) == 2
    requested.refresh_from_db()
    assert (requested.state, requested.project) == (JobState.FAILED, lab)
    assert row_counts() - before == Counter({"annotation_projectdeletion": 1})

    monkeypatch.setattr(services, "projects_purge", real)
    delete(lab)  # again, by the same row
    assert not ProjectDeletion.objects.exists()
    assert not Project.objects.filter(pk=lab.pk).exists()


def test_append_only_records_are_protected_again_afterwards(lab: Project) -> None:
    delete(lab)
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('assay.purge', true)")
        assert cursor.fetchone()[0] != "on"


def test_files_on_disk_go_except_those_that_another_project_has(lab: Project, settings, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.MODELS_DIR = tmp_path, tmp_path / "models"
    corpus, other = Corpus.objects.filter(project=lab)[0], uuid.uuid4()
    for folder in (str(corpus.folder), f".{corpus.folder}.building-x", str(other)):
        (tmp_path / "corpora" / folder).mkdir(parents=True)
        (tmp_path / "corpora" / folder / "triples").write_bytes(b"x" * 1000)
    own, shared = "a" * 64, "b" * 64
    for project, digest in ((lab, own), (lab, shared), (Project.objects.get(slug="other"), shared)):
        TrainedModel.objects.create(project=project, name="x", slug=digest[:1], version=1, kind="lsa", digest=digest)
    folders = [folder_of(row) for row in TrainedModel.objects.filter(project=lab).exclude(digest="")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model").write_bytes(b"x" * 500)

    assert contents_of(lab).bytes == 2 * 1000 + 500
    delete(lab)
    assert [path.name for path in (tmp_path / "corpora").iterdir()] == [str(other)]
    assert [folder.exists() for folder in folders] == [("b" in folder.name.split("-")[1]) for folder in folders]


def test_a_worker_that_died_before_the_files_were_gone_is_followed_by_another(
    lab: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "index"
    left.mkdir()
    monkeypatch.setattr(services, "files_of", lambda project: [left])
    requested = services.project_deletion_request(project=lab, confirmation=lab.name)

    def died(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(services, "_remove", died)
        with pytest.raises(KeyboardInterrupt):
            services.project_deletion_execute(deletion_id=requested.pk)
    row = ProjectDeletion.objects.get()
    assert (row.project, row.state, row.files) == (None, JobState.RUNNING, [str(left)])
    ProjectDeletion.objects.update(lease_expires_at="2020-01-01T00:00Z")
    services.project_deletion_execute(deletion_id=requested.pk)
    assert not left.exists()
    assert not ProjectDeletion.objects.exists()


@pytest.mark.parametrize("state", [RecruitmentState.PUBLISHED, RecruitmentState.PAUSED])
def test_it_waits_until_recruitments_are_stopped(lab: Project, state: str) -> None:
    recruitment = Recruitment.objects.filter(campaign__project=lab)[0]
    Recruitment.objects.filter(pk=recruitment.pk).update(state=state)
    assert deletion_problems(lab) == [f"The recruitment “{recruitment}” is {state}: stop it first."]


def test_it_waits_until_raters_are_paid(lab: Project) -> None:
    submission = Submission.objects.filter(recruitment__campaign__project=lab, recruitment__account__isnull=False)[0]
    Submission.objects.filter(pk=submission.pk).update(status=SubmissionStatus.AWAITING)
    name = submission.recruitment.name
    assert deletion_problems(lab) == [f"“{name}” has 1 submission neither approved nor ended: review first."]
    with pytest.raises(services.AnnotationError, match="review first"):
        services.project_deletion_request(project=lab, confirmation=lab.name)


def test_owners_delete_it_from_its_page_by_its_name(lab: Project, world, client, monkeypatch) -> None:
    begun: list[int] = []
    monkeypatch.setattr(tasks.project_delete, "delay_on_commit", begun.append)
    client.force_login(world.people["owner"])
    address = reverse("annotation:project-delete", args=[lab.slug])
    assert address in client.get(reverse("annotation:project-edit", args=[lab.slug])).content.decode()
    page = client.get(address).content.decode()
    for line in contents_of(lab).rows:
        assert line in page
    assert len(contents_of(lab).rows) == len(CONTENTS)
    page = client.post(address, {"confirmation": "lab?"}).content.decode()
    assert "Found &#x27;lab?&#x27;; accepted:" in page
    assert begun == []

    page = client.post(address, {"confirmation": lab.name}, follow=True).content.decode()
    assert f"“{lab.name}” is being deleted" in page
    assert begun == [ProjectDeletion.objects.get().pk]
    assert reverse("annotation:project-detail", args=[lab.slug]) not in page
    assert client.get(reverse("annotation:project-detail", args=[lab.slug])).status_code == 404
    ProjectDeletion.objects.update(state=JobState.FAILED, error="No.", finished_at="2026-01-01T00:00Z")
    page = client.get(reverse("annotation:project-list")).content.decode()
    assert "was not deleted, and nothing in it was changed. No." in page
    assert client.get(reverse("annotation:project-detail", args=[lab.slug])).status_code == 200


def test_the_api_deletes_for_owners(lab: Project, world, api) -> None:
    address = f"/api/v1/projects/{lab.slug}/"
    deleting = f"{address}delete/"
    body = {"confirmation": lab.name}
    assert api(world.people["manager"]).post(deleting, body, format="json").status_code == 403
    owner = api(world.people["owner"])
    refused = owner.post(deleting, {"confirmation": "x"}, format="json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["confirmation"])
    answer = owner.post(deleting, body, format="json")
    assert (answer.status_code, answer.json()["state"], answer.json()["slug"]) == (202, "queued", lab.slug)
    assert owner.get(address).status_code == 404
    assert lab.slug not in [row["slug"] for row in owner.get("/api/v1/projects/").json()["results"]]


def test_raters_with_a_link_read_a_plain_page_in_their_language(lab: Project, client) -> None:
    campaign = Campaign.objects.filter(project=lab, imported=False)[0]
    recruitment = Recruitment.objects.filter(campaign__project=lab, campaign__imported=False)[0]
    services.project_deletion_request(project=lab, confirmation=lab.name)
    addresses = [
        reverse("annotation:rater-landing", args=[campaign.link_token]),
        reverse("annotation:provider-entry", args=[recruitment.link_token]),
        reverse("annotation:rater-landing", args=[uuid.uuid4()]),
    ]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 404
        assert "This link leads nowhere" in response.content.decode()
        assert "project owner" not in response.content.decode()
    assert client.post(reverse("annotation:rater-submit", args=[campaign.link_token])).status_code == 404
    pages = {client.get(addresses[0], headers={"Accept-Language": code}).content for code in LANGUAGES}
    assert len(pages) == len(LANGUAGES)


def test_the_command_says_what_goes_and_deletes_with_the_name(lab: Project, world, capsys) -> None:
    owner = world.people["owner"].username
    call_command("delete_project", project=lab.slug, user=owner)
    said = capsys.readouterr().out
    for line in contents_of(lab).rows:
        assert line in said
    assert Project.objects.filter(pk=lab.pk).exists()
    with pytest.raises(CommandError, match="an owner of the project"):
        call_command("delete_project", project=lab.slug, user=world.people["manager"].username, confirm=lab.name)
    with pytest.raises(CommandError, match="accepted: "):
        call_command("delete_project", project=lab.slug, user=owner, confirm="x")
    call_command("delete_project", project=lab.slug, user=owner, confirm=lab.name)
    assert not Project.objects.filter(pk=lab.pk).exists()
