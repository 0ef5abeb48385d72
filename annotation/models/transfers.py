"""Projects that come from another installation."""

from django.db import models

from annotation.models.accounts import Project
from annotation.models.jobs import Job


class ProjectImport(Job):
    """An uploaded archive of a project, which becomes a project: whole, or not at all."""

    progress_is_whole = True
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="project_imports",
        help_text="When done.",
    )
    name = models.CharField(max_length=120, help_text="Name of the project to make.")
    filename = models.CharField(max_length=255)
    content = models.BinaryField(help_text="In the database, so that any worker on any host can read it.")
    report = models.JSONField(default=dict, blank=True, help_text="Hashes compared, what is missing; or every error.")

    def __str__(self) -> str:
        return self.filename
