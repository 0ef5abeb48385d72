"""The way of a project by pages, by the API and by commands."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import JobState, Project, ProjectImport, User
from annotation.transfer.services.imports import project_import_execute
from tests.annotation.worlds.datasets import example_dataset, example_ratings


@pytest.fixture
def small(project: Project, manager: User) -> Project:
    example_ratings(example_dataset(project))
    return project


def archive_of(client: Client, project: Project) -> bytes:
    answer = client.get(f"/p/{project.slug}/export.zip")
    assert answer["Content-Disposition"] == f'attachment; filename="{project.slug}.assay.zip"'
    return b"".join(answer)  # type: ignore[arg-type] # it streams


def test_an_owner_exports_a_project_and_another_user_imports_it(
    small: Project, owner: User, outsider: User, client: Client, viewer: User
) -> None:
    client.force_login(owner)
    page = client.get(f"/p/{small.slug}/export/").content.decode()
    assert "1 data set" in page
    assert "What stays" in page
    archive = archive_of(client, small)

    client.force_login(outsider)
    sent = client.post("/projects/import/", {"file": SimpleUploadedFile("small.zip", archive), "name": "Moved here"})
    job = ProjectImport.objects.get()
    assert sent["Location"] == f"/projects/imports/{job.pk}/"
    assert "hx-get" in client.get(sent["Location"]).content.decode()
    project_import_execute(import_id=job.pk)
    page = client.get(sent["Location"]).content.decode()
    job.refresh_from_db()
    assert (job.state, bytes(job.content)) == (JobState.DONE, b"")
    assert f"{len(job.report['hashes'])} of {len(job.report['hashes'])} hashes equal." in page
    copy = Project.objects.get(name="Moved here")
    assert f"/p/{copy.slug}/" in page
    assert copy.memberships.get().user == outsider
    campaign = copy.campaigns.get()
    assert client.get(f"/p/{copy.slug}/campaigns/{campaign.pk}/").status_code == 200
    assert client.get(f"/p/{copy.slug}/campaigns/{campaign.pk}/results/").status_code == 200

    client.force_login(viewer)  # sees neither the import nor the project
    assert client.get(sent["Location"]).status_code == 404
    assert client.get(f"/p/{copy.slug}/").status_code == 404


def test_a_file_that_is_no_archive_is_refused_on_its_page(manager: User, client: Client) -> None:
    client.force_login(manager)
    sent = client.post("/projects/import/", {"file": SimpleUploadedFile("x.zip", b"PK nothing")})
    job = ProjectImport.objects.get()
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    page = client.get(sent["Location"]).content.decode()
    assert "a zip that Assay wrote" in page
    assert (job.state, bytes(job.content)) == (JobState.FAILED, b"")
    assert "Choose a file." in client.post("/projects/import/", {"name": ""}).content.decode()


def test_a_cancelled_import_leaves_nothing(small: Project, owner: User, client: Client) -> None:
    client.force_login(owner)
    client.post("/projects/import/", {"file": SimpleUploadedFile("s.zip", archive_of(client, small))})
    job = ProjectImport.objects.get()
    ProjectImport.objects.filter(pk=job.pk).update(cancel_requested=True)
    project_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, Project.objects.count()) == (JobState.CANCELLED, 1)
    assert client.post(f"/projects/imports/{job.pk}/cancel/").status_code == 302


def test_the_api_moves_a_project(small: Project, manager: User, owner: User, client: Client) -> None:
    client.force_login(manager)
    assert client.get(f"/api/v1/projects/{small.slug}/export/").status_code == 403
    client.force_login(owner)
    archive = b"".join(client.get(f"/api/v1/projects/{small.slug}/export/"))  # type: ignore[arg-type] # it streams
    sent = client.post("/api/v1/project-imports/", {"file": SimpleUploadedFile("s.zip", archive)})
    assert sent.status_code == 202, sent.content
    project_import_execute(import_id=sent.json()["id"])
    done = client.get(sent["Location"]).json()
    assert (done["state"], done["project"]) == ("done", f"{small.slug}-2")
    assert all(row["equal"] for row in done["report"]["hashes"])


def test_commands_move_a_project(small: Project, manager: User, tmp_path: Path) -> None:
    file, said = tmp_path / "s.zip", io.StringIO()
    call_command("export_project", project=small.slug, out=file, verbosity=0, stdout=said)
    call_command("import_project", str(file), user=manager.username, name="By command", json=True, stdout=said)
    report: dict[str, Any] = json.loads(said.getvalue().split("bytes\n", 1)[1])
    assert (report["state"], report["project"]) == ("done", "by-command")
    assert {row["equal"] for row in report["hashes"]} == {True}
    with pytest.raises(CommandError, match="accepted: a username on this server"):
        call_command("import_project", str(file), user="nobody")
