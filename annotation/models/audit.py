"""The log of acts. Append-only: a trigger in the database refuses updates and deletes."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from annotation.models.accounts import KEEPS_USER, Project
from annotation.models.campaigns import Campaign
from annotation.models.ratings import Rater


class AuditEntry(models.Model):
    """An act that changed something, by a user, a rater or the system itself."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="audit_entries")
    campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.CASCADE, related_name="audit_entries"
    )
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **KEEPS_USER)
    rater = models.ForeignKey(Rater, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    verb = models.CharField(max_length=40, help_text="Such as campaign.launch.")
    summary = models.CharField(max_length=300)
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["campaign", "-id"], name="audit_by_campaign")]

    def __str__(self) -> str:
        return self.summary


class AmendmentKind(models.TextChoices):
    EXTEND = "extend", "More ratings of each unit"
    STOP_SYSTEM = "stop_system", "A system stopped"
    RESUME_SYSTEM = "resume_system", "A stopped system resumed"
    ADD_ITEMS = "add_items", "Items added"
    TOP_UP = "top_up", "More ratings where they decide"


class Amendment(models.Model):
    """A change of a running campaign beyond its frozen design. Append-only; each hash covers the one before it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="amendments")
    number = models.PositiveIntegerField(help_text="From 1.")
    kind = models.CharField(max_length=14, choices=AmendmentKind.choices)
    data = models.JSONField(default=dict)
    hash = models.CharField(max_length=64, help_text="SHA-256 over the hash before it and this amendment.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **KEEPS_USER)
    made_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("campaign", "number")
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="amendment_number_once_per_campaign")
        ]

    def __str__(self) -> str:
        return f"amendment {self.number}"
