"""Projects, data sets and campaigns on their way out."""

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


class DataDeletion(Job):
    """An owner's request to delete a data set or a campaign with what depends on it: whole, or not at all.

    Its own row stays, and says what was deleted.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="data_deletions")
    dataset = models.ForeignKey(
        "annotation.Dataset",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="deletions",
        help_text="To be deleted; null once it is, and for a campaign.",
    )
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, blank=True, on_delete=models.SET_NULL, related_name="deletions"
    )
    noun = models.CharField(max_length=20, help_text="What it is: a data set or a campaign.")
    name = models.CharField(max_length=120)
    rows = models.JSONField(default=list, blank=True, help_text="What went with it, in words; set when done.")

    def __str__(self) -> str:
        return self.name
