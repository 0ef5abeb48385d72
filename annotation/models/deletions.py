"""Projects on their way out."""

from django.db import models

from annotation.models.accounts import Project
from annotation.models.jobs import Job


class ProjectDeletion(Job):
    """An owner's request to delete a project. While it waits or runs, the project does not exist for anybody.

    The row itself is deleted last, when the files are gone, too.
    """

    project = models.OneToOneField(
        Project,
        null=True,
        on_delete=models.SET_NULL,
        related_name="deletion",
        help_text="Null once its rows are deleted.",
    )
    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=60)
    files = models.JSONField(default=list, blank=True, help_text="What is left to be removed from the disk.")

    def __str__(self) -> str:
        return self.name
