"""Jobs of seeds."""

from django.db import models

from annotation.models.accounts import Project
from annotation.models.datasets import Dataset
from annotation.models.jobs import Job
from annotation.models.mining import SeedSelection


class SeedSelecting(Job):
    """A queued selection; ``asked`` holds its rules."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="seed_selectings")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="seed_selectings")
    asked = models.JSONField(default=dict)
    selection = models.ForeignKey(
        SeedSelection, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="Set when done."
    )
    report = models.JSONField(default=dict, blank=True, help_text="Of a refusal, by field.")

    def __str__(self) -> str:
        return f"Selecting seeds of {self.dataset}"
