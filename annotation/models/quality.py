"""Decisions about raters, and their rules: append-only, so that both can be replayed."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.accounts import KEEPS_USER
from annotation.models.campaigns import Campaign
from annotation.models.jobs import Job
from annotation.models.ratings import Rater


class QualityRules(models.Model):
    """One version of a campaign's exclusion rules, as ``annotation.weighting.exclusion`` reads them. Append-only."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="rule_versions")
    version = models.PositiveIntegerField()
    rules = models.JSONField(default=list)
    before_launch = models.BooleanField(help_text="Registered before the first rating could be known.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **KEEPS_USER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("campaign", "version")
        verbose_name_plural = "quality rules"
        constraints = [models.UniqueConstraint(fields=["campaign", "version"], name="rules_version_once_per_campaign")]

    def __str__(self) -> str:
        return f"rules {self.version}"


class DecisionAction(models.TextChoices):
    EXCLUDE = "exclude", "Excluded"
    INCLUDE = "include", "Taken back in"
    FLAG = "flag", "Flagged"
    UNFLAG = "unflag", "Flag removed"
    REOPEN = "reopen", "Slots reopened"


class RaterDecision(models.Model):
    """A rater is excluded, restored or flagged, or the rater's slots are reopened. Append-only.

    ``Participation`` holds the present state.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="decisions")
    rater = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="decisions")
    action = models.CharField(max_length=8, choices=DecisionAction.choices)
    reason = models.CharField(max_length=300)
    rules = models.ForeignKey(QualityRules, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    evidence = models.JSONField(default=dict, blank=True, help_text="What the rule saw.")
    reopened_slots = models.PositiveIntegerField(default=0)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **KEEPS_USER)
    decided_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [models.CheckConstraint(condition=Q(action__in=DecisionAction.values), name="decision_known")]

    def __str__(self) -> str:
        return f"{self.rater}: {self.get_action_display()}"


class CampaignPace(models.Model):
    """How fast a campaign is rated, for the lease that adapts to it; written by the sweeper."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="pace")
    median_seconds = models.FloatField(null=True)
    n = models.PositiveIntegerField(default=0)
    lease_seconds = models.PositiveIntegerField()
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.lease_seconds} s"


class CampaignSnapshot(models.Model):
    """A campaign's statistics up to a rating, computed by a worker if they take too long for a page."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="snapshot")
    last_rating_id = models.BigIntegerField(default=0)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.campaign} as of {self.last_rating_id}"


class ResultSnapshot(models.Model):
    """Results of campaigns and a filter, computed by a worker if they take too long for a page."""

    project = models.ForeignKey("annotation.Project", on_delete=models.CASCADE, related_name="result_snapshots")
    key = models.CharField(max_length=64, help_text="Hash of the specification.")
    specification = models.JSONField(default=dict, help_text="Ids of the campaigns, and the filters.")
    version = models.CharField(max_length=64, blank=True, help_text="Of the logs that it was computed from.")
    content = models.JSONField(default=dict)
    requested_at = models.DateTimeField(db_default=Now())
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="result_snapshot_once_per_key")]

    def __str__(self) -> str:
        return f"results {self.key[:12]}"


class DryRun(Job):
    """Simulated raters at work on a throw-away copy of a campaign, over HTTP, and their forecast."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="dry_runs")
    specification = models.JSONField(default=dict, help_text="How many raters of what kind, and the seed.")
    sandbox = models.ForeignKey(
        "annotation.Project",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Where the copy lives while the run lasts.",
    )
    result = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"dry run {self.pk}"
