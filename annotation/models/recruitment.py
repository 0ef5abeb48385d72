"""Raters from a provider: provider accounts, the recruitments of campaigns, submissions, events."""

import uuid
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models import identities
from annotation.models.accounts import SURVIVES_USER, Project
from annotation.models.campaigns import Campaign
from annotation.models.ratings import Rater
from annotation.recruitment.providers import recruiting_providers


def provider_choices() -> list[tuple[str, str]]:
    """Return the providers that a campaign can recruit through, by key and label."""
    return [(each.key, each.label) for each in recruiting_providers()]


class ProviderAccount(models.Model):
    """A project's connection with a provider. The secrets are encrypted and are never shown again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="provider_accounts")
    provider = models.CharField(max_length=20, choices=provider_choices)
    name = models.CharField(max_length=80)
    endpoint = models.URLField(max_length=200, blank=True, help_text="Of its API; empty for the provider's own.")
    options = models.JSONField(default=dict, blank=True, help_text="What is no secret, such as a workspace id.")
    secrets = models.TextField(blank=True, editable=False, help_text="Encrypted JSON.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("name", "id")
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="provider_account_name_once_per_project")
        ]

    def __str__(self) -> str:
        return self.name


class ReturnPolicy(models.TextChoices):
    AT_ONCE = "at_once", "Unfinished units go to others at once; answers sent count"
    REPLACE = "replace", "Also the answers already sent are replaced by somebody else's"
    KEEP = "keep", "Nothing: what the rater holds runs out by its lease"


class RecruitmentState(models.TextChoices):
    DRAFT = "draft", "Draft"
    PUBLISHED = "published", "Published"
    PAUSED = "paused", "Paused"
    COMPLETED = "completed", "Completed"


class Offer(NamedTuple):
    """What one rater gets for taking part, and the minutes that it takes; 0 if unknown."""

    reward: Decimal
    currency: str
    minutes: int


class Recruitment(models.Model):
    """A study at a provider that sends raters to one campaign."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="recruitments")
    account = models.ForeignKey(
        ProviderAccount,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="recruitments",
        help_text="None where the study was made by hand on the provider's own pages.",
    )
    provider = models.CharField(max_length=20, choices=provider_choices)
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=RecruitmentState.choices, default=RecruitmentState.DRAFT)
    external_id = models.CharField(max_length=100, blank=True, help_text="The study's id at the provider.")
    link_token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    options = models.JSONField(default=dict, blank=True, help_text="Title, description, reward, places, codes …")
    return_policy = models.CharField(max_length=8, choices=ReturnPolicy.choices, default=ReturnPolicy.AT_ONCE)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **SURVIVES_USER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    refreshed_at = models.DateTimeField(null=True, blank=True, help_text="When the submissions were last read.")

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=RecruitmentState.values), name="recruitment_state_known"),
            models.UniqueConstraint(
                fields=["provider", "external_id"], condition=~Q(external_id=""), name="recruitment_external_id_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def offer(self) -> Offer | None:
        """Return what raters were offered; None if the terms name no reward yet."""
        reward, minutes = Decimal(self.options.get("reward") or 0), int(self.options.get("minutes") or 0)
        return Offer(reward, self.options.get("currency", ""), minutes) if reward else None


class SubmissionStatus(models.TextChoices):
    ACTIVE = "active", "Working"
    AWAITING = "awaiting", "Awaiting review"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    RETURNED = "returned", "Returned"
    TIMED_OUT = "timed_out", "Timed out"
    SCREENED_OUT = "screened_out", "Screened out"


class Submission(models.Model):
    """A rater's submission at the provider."""

    ERASED_PREFIX = "erased-"  # begins the digests of erased submissions, and what pages call them
    LOST_PREFIX = "lost-"  # the same of those whose id no key opened: the provider may name them again
    SEALED = ("sealed", "digest")  # what depends on the secret key

    recruitment = models.ForeignKey(Recruitment, on_delete=models.PROTECT, related_name="submissions")
    rater = models.ForeignKey(Rater, null=True, blank=True, on_delete=models.PROTECT, related_name="submissions")
    sealed = models.TextField(blank=True, editable=False, help_text="The provider's id, encrypted; empty once erased.")
    digest = models.CharField(max_length=identities.DIGEST, editable=False)
    status = models.CharField(max_length=12, choices=SubmissionStatus.choices, default=SubmissionStatus.ACTIVE)
    outcome = models.CharField(max_length=30, blank=True, help_text="As this product saw it: completed, …")
    code = models.CharField(max_length=60, blank=True, help_text="The completion code given.")
    submit_to = models.URLField(max_length=200, blank=True, help_text="Checked origin that the last form is posted to.")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    paid = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    bonus = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    note = models.CharField(max_length=300, blank=True)
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=["recruitment", "digest"], name="submission_once_per_recruitment"),
            models.CheckConstraint(condition=Q(status__in=SubmissionStatus.values), name="submission_status_known"),
        ]

    def __str__(self) -> str:
        return f"submission {self.pk}"

    @property
    def external_id(self) -> str:
        return identities.opened(self.sealed)["external_id"] if self.sealed else self.digest

    @external_id.setter
    def external_id(self, text: str) -> None:
        self.sealed, self.digest = identities.seal(external_id=text), identities.digest_of(text)

    @property
    def shown_id(self) -> str:
        """Return the id for a page, or the reason why it cannot be read."""
        return identities.shown(self.sealed) if self.sealed else self.digest

    @property
    def is_erased(self) -> bool:
        return not self.sealed

    def erase(self) -> None:
        self.sealed, self.digest = "", f"{self.ERASED_PREFIX}{self.pk}"

    def reseal(self) -> bool:
        """Encrypt it under the present key; return False if it is already."""
        if not self.sealed or identities.is_current(self.digest):
            return False
        self.external_id = self.external_id
        return True


class ProviderEvent(models.Model):
    """A signed message from a provider, handled once."""

    SEALED = ("sealed_payload", "digests", "sealed_error")  # what depends on the secret key

    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE, related_name="events")
    event_id = models.CharField(max_length=120)
    kind = models.CharField(max_length=60)
    sealed_payload = models.TextField(blank=True, editable=False, help_text="The message, encrypted.")
    digests = ArrayField(
        models.CharField(max_length=identities.DIGEST), default=list, editable=False, help_text="Of all its texts."
    )
    received_at = models.DateTimeField(db_default=Now(), editable=False)
    handled_at = models.DateTimeField(null=True, blank=True)
    sealed_error = models.TextField(blank=True, editable=False, help_text="It may name a submission: encrypted.")

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["account", "event_id"], name="provider_event_once")]

    def __str__(self) -> str:
        return self.event_id

    @property
    def payload(self) -> Any:
        return identities.json_opened(self.sealed_payload)

    @payload.setter
    def payload(self, data: Any) -> None:
        self.sealed_payload, self.digests = identities.seal_json(data), identities.digests_within([data, self.error])

    @property
    def error(self) -> str:
        return identities.shown(self.sealed_error, "text")

    @error.setter
    def error(self, text: str) -> None:
        self.sealed_error = identities.seal(text=text) if text else ""
        try:
            self.digests = identities.digests_within([self.payload, text])
        except identities.IdentityUnreadable:
            self.digests = sorted({*self.digests, *identities.digests_within(text)})

    def reseal(self) -> bool:
        """Encrypt it under the present key; return False if it is already."""
        before = self.sealed_payload, self.sealed_error
        self.sealed_error = identities.resealed(self.sealed_error)
        self.sealed_payload = identities.resealed(self.sealed_payload)
        if before == (self.sealed_payload, self.sealed_error):
            return False
        self.digests = identities.digests_within([self.payload, self.error])
        return True
