"""A campaign, its units and slots, and every presentation of a unit to a rater."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.models.accounts import Project
from annotation.models.datasets import Dataset, Item, Response, System


class CampaignState(models.TextChoices):
    DRAFT = "draft", "Draft"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class Target(models.TextChoices):
    REFERENCES = "references", "References"
    OUTPUTS = "outputs", "System outputs"
    CHOSEN = "chosen", "Outputs of chosen systems"


class PresentationKind(models.TextChoices):
    SINGLE = "single", "Single response"
    PAIR = "pair", "Pair, side by side"
    LIST = "list", "List"


class Campaign(models.Model):
    """One question asked of raters about the responses of one data set. Its design is frozen and hashed at launch."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="campaigns")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="campaigns")
    name = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=CampaignState.choices, default=CampaignState.DRAFT)
    imported = models.BooleanField(
        default=False, help_text="Its judgements were collected elsewhere; nothing is handed out."
    )
    target = models.CharField(max_length=12, choices=Target.choices, default=Target.OUTPUTS)
    systems = models.ManyToManyField(
        System, blank=True, related_name="campaigns", help_text="Where systems are chosen."
    )
    presentation = models.CharField(max_length=8, choices=PresentationKind.choices, default=PresentationKind.SINGLE)
    ratings_per_unit = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(1), MaxValueValidator(100)], help_text="k: slots of each unit."
    )
    item_limit = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Rate only the first so many items."
    )
    instructions = models.TextField(blank=True, help_text="Markdown, shown before the first unit and one key away.")
    consent = models.TextField(blank=True, help_text="Markdown; a rater must agree before the first unit.")
    lease_seconds = models.PositiveIntegerField(
        default=600, validators=[MinValueValidator(5)], help_text="How long a rater may hold a unit."
    )
    max_units_per_rater = models.PositiveIntegerField(null=True, blank=True, validators=[MinValueValidator(1)])
    completion_code = models.CharField(max_length=60, blank=True, help_text="Shown when a rater has finished.")
    seed = models.BigIntegerField(default=20150726, help_text="Every random choice of the campaign follows from it.")
    link_token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    design = models.JSONField(null=True, blank=True, editable=False, help_text="The frozen design, from launch on.")
    design_hash = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    launched_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="campaign_name_once_per_project"),
            models.CheckConstraint(condition=Q(state__in=CampaignState.values), name="campaign_state_known"),
            models.CheckConstraint(
                condition=Q(presentation__in=PresentationKind.values), name="campaign_presentation_known"
            ),
            models.CheckConstraint(condition=Q(target__in=Target.values), name="campaign_target_known"),
            models.CheckConstraint(condition=Q(ratings_per_unit__gte=1), name="campaign_rates_each_unit"),
            models.CheckConstraint(
                condition=Q(state=CampaignState.DRAFT, launched_at__isnull=True, design_hash="")
                | (~Q(state=CampaignState.DRAFT) & Q(launched_at__isnull=False) & ~Q(design_hash="")),
                name="campaign_design_frozen_at_launch",
            ),
            models.CheckConstraint(
                condition=Q(state=CampaignState.CLOSED, closed_at__isnull=False)
                | (~Q(state=CampaignState.CLOSED) & Q(closed_at__isnull=True)),
                name="campaign_closed_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Criterion(models.Model):
    """One question with its Likert scale."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="criteria")
    name = models.SlugField(max_length=60)
    question = models.CharField(max_length=300)
    position = models.PositiveSmallIntegerField(default=0)
    scale_min = models.SmallIntegerField(default=1)
    scale_max = models.SmallIntegerField(default=5)
    labels = models.JSONField(default=list, blank=True, help_text="One label per point, or none.")

    class Meta:
        ordering = ("campaign", "position", "id")
        verbose_name_plural = "criteria"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="criterion_name_once_per_campaign"),
            models.CheckConstraint(condition=Q(scale_max__gt=F("scale_min")), name="criterion_scale_has_two_points"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def points(self) -> list[tuple[int, str]]:
        values = range(self.scale_min, self.scale_max + 1)
        labels = self.labels or [""] * len(values)
        return list(zip(values, labels, strict=True))


class Unit(models.Model):
    """What one screen shows: one response, a pair, or a list of one item."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="units")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="units")
    position = models.PositiveIntegerField(help_text="Interleaved order within the campaign, from 0.")
    label = models.CharField(
        max_length=250, blank=True, help_text="The system name(s) it was planned for, for interleaving; never shown."
    )
    systems = ArrayField(models.BigIntegerField(), default=list, blank=True, help_text="Ids of those systems.")
    done_slots = models.PositiveSmallIntegerField(default=0, help_text="Kept in step with its slots on submit.")
    responses = models.ManyToManyField(Response, through="UnitResponse", related_name="units")

    class Meta:
        ordering = ("campaign", "position")
        constraints = [models.UniqueConstraint(fields=["campaign", "position"], name="unit_position_once_per_campaign")]
        # Hand-out walks the least filled units from a rater's own starting point.
        indexes = [models.Index(fields=["campaign", "done_slots", "position"], name="unit_by_fill")]

    def __str__(self) -> str:
        return f"unit {self.position}"


class UnitResponse(models.Model):
    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="unit_responses")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="unit_responses")
    number = models.PositiveSmallIntegerField(help_text="Canonical order, before any presentation shuffles it; from 0.")

    class Meta:
        ordering = ("unit", "number")
        constraints = [
            models.UniqueConstraint(fields=["unit", "response"], name="unit_shows_a_response_once"),
            models.UniqueConstraint(fields=["unit", "number"], name="unit_response_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}:{self.number}"


class SlotState(models.TextChoices):
    OPEN = "open", "Open"
    LEASED = "leased", "Leased"
    DONE = "done", "Done"
    RETURNED = "returned", "Returned"


class Slot(models.Model):
    """One of the k places of a unit. ``open`` and ``returned`` are free; so is ``leased`` past its expiry."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="slots")
    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField(help_text="From 0 to k - 1.")
    state = models.CharField(max_length=8, choices=SlotState.choices, default=SlotState.OPEN)
    rater = models.ForeignKey("annotation.Rater", null=True, blank=True, on_delete=models.PROTECT, related_name="slots")
    token = models.UUIDField(null=True, blank=True, help_text="Of the presentation that holds or filled it.")
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("unit", "number")
        constraints = [
            models.UniqueConstraint(fields=["unit", "number"], name="slot_number_once_per_unit"),
            models.UniqueConstraint(
                fields=["unit", "rater"], condition=Q(rater__isnull=False), name="slot_one_per_rater_and_unit"
            ),
            models.CheckConstraint(condition=Q(state__in=SlotState.values), name="slot_state_known"),
            models.CheckConstraint(
                condition=Q(
                    state__in=[SlotState.OPEN, SlotState.RETURNED],
                    rater__isnull=True,
                    token__isnull=True,
                    expires_at__isnull=True,
                )
                | Q(state=SlotState.LEASED, rater__isnull=False, token__isnull=False, expires_at__isnull=False)
                | Q(state=SlotState.DONE, rater__isnull=False, token__isnull=False, expires_at__isnull=True),
                name="slot_fields_match_state",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "rater"], name="slot_held_by_rater", condition=Q(rater__isnull=False)),
            # As few rows as there are raters at work: who holds what, and whose lease ran out.
            models.Index(fields=["campaign", "expires_at"], name="slot_leased", condition=Q(state=SlotState.LEASED)),
        ]

    def __str__(self) -> str:
        return f"{self.unit_id}/{self.number} {self.state}"


class PresentationOutcome(models.TextChoices):
    SHOWN = "shown", "On screen"
    SUBMITTED = "submitted", "Submitted"
    LATE = "late", "Submitted after the slot had gone to someone else"
    RETURNED = "returned", "Given back"
    LAPSED = "lapsed", "Lease ran out"
    IMPORTED = "imported", "Judged elsewhere"


class Presentation(models.Model):
    """One unit in front of one rater, in one order. Never deleted; an imported judgement has one too."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="presentations")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="presentations")
    slot = models.ForeignKey(Slot, null=True, blank=True, on_delete=models.PROTECT, related_name="presentations")
    rater = models.ForeignKey("annotation.Rater", on_delete=models.PROTECT, related_name="presentations")
    token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    outcome = models.CharField(max_length=10, choices=PresentationOutcome.choices, default=PresentationOutcome.SHOWN)
    order_seed = models.BigIntegerField(null=True, blank=True, help_text="Seed the order was drawn from.")
    order = ArrayField(
        models.PositiveSmallIntegerField(),
        default=list,
        blank=True,
        help_text="order[p] is the canonical number of the response at screen position p.",
    )
    shown_at = models.DateTimeField(null=True, blank=True, help_text="When handed out, by the database's clock.")
    ended_at = models.DateTimeField(null=True, blank=True)
    source_row = models.PositiveIntegerField(null=True, blank=True, help_text="Line of the file it was imported from.")

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=PresentationOutcome.values), name="presentation_outcome_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome=PresentationOutcome.IMPORTED, slot__isnull=True)
                | (~Q(outcome=PresentationOutcome.IMPORTED) & Q(slot__isnull=False, shown_at__isnull=False)),
                name="presentation_fills_a_slot_unless_imported",
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(outcome=PresentationOutcome.SUBMITTED),
                name="presentation_fills_a_slot_once",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "rater", "-id"], name="presentation_rater_latest")]

    def __str__(self) -> str:
        return str(self.token)
