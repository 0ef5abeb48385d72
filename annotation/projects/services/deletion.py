"""Delete a project: its rows whole or not at all, then its files."""

import shutil
from pathlib import Path

import structlog
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_requeue, job_run
from annotation.core.progress import Progress, noop
from annotation.core.purging import projects_purge, purge_again
from annotation.models import Project, ProjectDeletion, User
from annotation.projects.selectors.deletion import deletion_problems, files_of

log = structlog.get_logger("assay.projects")
TRIES = 5  # while others still write to the project
STEPS = 2  # rows, files


@transaction.atomic
def project_deletion_request(*, project: Project, confirmation: str, by: User | None = None) -> ProjectDeletion:
    """Queue the deletion of a project, whose name confirms it. The caller enqueues ``tasks.project_delete``.

    From now on the project does not exist for its members and raters, unless the deletion fails.
    """
    project = Project.objects.select_for_update().get(pk=project.pk)
    if confirmation.strip() != project.name.strip():
        raise AnnotationError.at("confirmation", f"Found {confirmation!r}; accepted: {project.name}")
    _refuse_if_needed(project)
    deletion = ProjectDeletion.objects.filter(project=project).first()
    if deletion is None:
        deletion = ProjectDeletion.objects.create(
            project=project, name=project.name, slug=project.slug, requested_by=by, progress_total=STEPS
        )
    else:
        job_requeue(deletion)
        ProjectDeletion.objects.filter(pk=deletion.pk).update(requested_by=by)
    who = by.username if by else None
    transaction.on_commit(lambda: log.info("project deletion requested", project=project.slug, by=who))
    return deletion


def project_deletion_execute(*, deletion_id: int, progress: Progress = noop) -> None:
    """Claim, work, finish; safe to run twice."""
    job_run(ProjectDeletion, deletion_id, _execute, progress=progress)


def _refuse_if_needed(project: Project) -> None:
    if problems := deletion_problems(project):
        raise AnnotationError(" ".join(problems))


def _execute(deletion: ProjectDeletion, claim: Claim) -> None:
    """Delete the rows, if that is not done yet, and then what is on disk. The deletion's own row goes last."""
    if deletion.project is not None:
        claim.progress(0, STEPS, "Deleting rows")
        _delete_rows(deletion, claim, deletion.project)
    claim.progress(1, STEPS, "Deleting files")
    for path in map(Path, deletion.files):
        _remove(path)
    ProjectDeletion.objects.filter(pk=deletion.pk, lease_token=claim.token).delete()


def _delete_rows(deletion: ProjectDeletion, claim: Claim, project: Project) -> None:
    counts: dict[str, int] = {}

    def purge() -> None:
        claim.lock()
        _refuse_if_needed(project)
        deletion.files = [str(path) for path in files_of(project)]
        ProjectDeletion.objects.filter(pk=deletion.pk).update(project=None, files=deletion.files)
        counts.update(projects_purge([*_dry_runs_of(project), project.pk]))

    def note(error: Exception) -> None:
        log.info("project deletion repeated", project=project.slug, error=str(error))

    purge_again(purge, tries=TRIES, note=note)
    log.info(
        "project deleted",
        project=deletion.slug,
        name=deletion.name,
        by=deletion.requested_by.username if deletion.requested_by else None,
        rows=counts,
        files=len(deletion.files),
    )


def _dry_runs_of(project: Project) -> list[int]:
    """Return the copies in which dry runs play on the project's data sets just now."""
    copies = Project.objects.filter(is_sandbox=True, campaigns__dataset__project=project)
    return list(copies.distinct().values_list("pk", flat=True))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
