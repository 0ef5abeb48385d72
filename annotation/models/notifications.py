"""Notifications of members: what each chose, what happened, and what was sent to whom."""

import uuid
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.accounts import Membership, Project


def _kinds(help_text: str) -> "ArrayField[Any, Any]":
    return ArrayField(models.CharField(max_length=40), default=list, blank=True, help_text=help_text)


class NotificationSettings(models.Model):
    """What a member of a project wants to be notified of; it ends with the membership."""

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="notification_settings")
    by_email = _kinds("Kinds sent by e-mail.")
    by_webhook = _kinds("Kinds sent to the webhook.")
    webhook_url = models.URLField(max_length=500, blank=True)
    secret_seed = models.CharField(max_length=64, blank=True, editable=False)
    secret_digest = models.CharField(max_length=64, blank=True, editable=False)
    site = models.URLField(max_length=200, help_text="Where the member uses Assay: for links in notifications.")

    def __str__(self) -> str:
        return f"Notifications of {self.membership}"


class Notification(models.Model):
    """Something that happened, written in the transaction in which it happened."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=200, help_text="Of the event: the same event is stored once.")
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=["project", "kind", "key"], name="notification_once_per_event")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Channel(models.TextChoices):
    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    SENT = "sent", "Sent"
    FAILED = "failed", "Failed"


class Delivery(models.Model):
    """A notification to one member by one channel; a worker sends it. It ends with the membership."""

    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="deliveries")
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(db_default=Now(), help_text="Of the next attempt.")
    answer = models.CharField(max_length=300, blank=True, help_text="The last one.")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=["notification", "membership", "channel"], name="delivery_once_per_member_and_channel"
            ),
            models.CheckConstraint(condition=Q(channel__in=Channel.values), name="delivery_channel_known"),
            models.CheckConstraint(condition=Q(state__in=DeliveryState.values), name="delivery_state_known"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="delivery_waiting", condition=Q(state=DeliveryState.WAITING)),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.uid}"
