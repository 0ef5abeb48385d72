"""A campaign, its units and slots, and every presentation of a unit to a rater."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.allocation.checks import CHECK_KINDS
from annotation.campaigns.fields.choices import Admission, CommentField, Scope, Target
from annotation.campaigns.fields.kinds import REQUIRED, Amount, Field, Object, Pairs, Text, Texts
from annotation.campaigns.fields.table import CAMPAIGN, CRITERION
from annotation.campaigns.presentations import PRESENTATIONS, PresentationKind, presentation_choices
from annotation.campaigns.scales import SCALES, Scale, scale_choices
from annotation.models.accounts import Project
from annotation.models.datasets import Dataset, Item, Response, ResponseList, System

KEY = r"^[a-z][a-z_]*$"  # of a kind of scale or presentation; the registries know which there are


class CampaignState(models.TextChoices):
    DRAFT = "draft", "Draft"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


def _column(name: str, table: Mapping[str, Field] = CAMPAIGN) -> dict[str, Any]:
    """Return what the table of fields declares about a column: its default and its limits."""
    declared = table[name]
    options: dict[str, Any] = {"blank": True} if declared.default in ("", (), {}, None) else {}
    if isinstance(declared, Texts | Pairs | Object):
        options["default"] = dict if isinstance(declared, Object) else list
    elif declared.default is not None and declared.default is not REQUIRED and declared.default != "":
        options["default"] = declared.default
    if isinstance(declared, Amount):
        options["decimal_places"] = declared.digits
    elif isinstance(declared, Text) and declared.longest and declared.lines == 1:
        options["max_length"] = declared.longest
    return options


class Campaign(models.Model):
    """Questions to raters about the responses of one data set. The design is frozen and hashed at launch."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="campaigns")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="campaigns")
    name = models.CharField(**_column("name"))
    state = models.CharField(max_length=10, choices=CampaignState.choices, default=CampaignState.DRAFT)
    imported = models.BooleanField(
        default=False, help_text="Its judgements were collected elsewhere; nothing is handed out."
    )
    target = models.CharField(max_length=12, choices=Target.choices(), **_column("target"))
    systems = models.ManyToManyField(System, blank=True, related_name="campaigns")
    response_list = models.ForeignKey(
        ResponseList, null=True, blank=True, on_delete=models.PROTECT, related_name="campaigns"
    )
    reference_kinds = ArrayField(models.CharField(max_length=10), **_column("reference_kinds"))
    pairs = models.JSONField(**_column("pairs"))
    split = models.CharField(**_column("split"))
    presentation = models.CharField(max_length=20, choices=presentation_choices, **_column("presentation"))
    writing = models.JSONField(**_column("writing"))
    comment = models.CharField(max_length=8, choices=CommentField.choices(), **_column("comment"))
    cannot_judge_reasons = ArrayField(models.CharField(max_length=80), **_column("cannot_judge_reasons"))
    ratings_per_unit = models.PositiveSmallIntegerField(**_column("ratings_per_unit"))
    item_limit = models.PositiveIntegerField(null=True, **_column("item_limit"))
    instructions = models.TextField(**_column("instructions"))
    consent = models.TextField(**_column("consent"))
    lease_seconds = models.PositiveIntegerField(**_column("lease_seconds"))
    lease_min_seconds = models.PositiveIntegerField(null=True, **_column("lease_min_seconds"))
    lease_max_seconds = models.PositiveIntegerField(null=True, **_column("lease_max_seconds"))
    max_units_per_rater = models.PositiveIntegerField(null=True, **_column("max_units_per_rater"))
    min_units_per_rater = models.PositiveIntegerField(**_column("min_units_per_rater"))
    seconds_between_units = models.PositiveIntegerField(**_column("seconds_between_units"))
    break_every_units = models.PositiveIntegerField(**_column("break_every_units"))
    admission = models.CharField(max_length=8, choices=Admission.choices(), **_column("admission"))
    rater_language = models.CharField(max_length=10, **_column("rater_language"))
    payment_per_unit = models.DecimalField(max_digits=10, **_column("payment_per_unit"))
    payment_currency = models.CharField(**_column("payment_currency"))
    payment_fee_percent = models.DecimalField(max_digits=5, **_column("payment_fee_percent"))
    questions = models.JSONField(**_column("questions"))
    qualification = models.JSONField(**_column("qualification"))
    quality = models.JSONField(**_column("quality"))
    completion_code = models.CharField(**_column("completion_code"))
    seed = models.BigIntegerField(**_column("seed"))
    link_token = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    draft_version = models.PositiveIntegerField(
        default=1,
        editable=False,
        help_text="Grows with each change of the draft; a change names the one it is based on.",
    )
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
            models.CheckConstraint(condition=Q(presentation__regex=KEY), name="campaign_presentation_is_a_key"),
            models.CheckConstraint(condition=Q(target__in=list(Target)), name="campaign_target_known"),
            models.CheckConstraint(
                condition=Q(target=Target.LISTED, response_list__isnull=False)
                | (~Q(target=Target.LISTED) & Q(response_list__isnull=True)),
                name="campaign_names_a_list_iff_listed",
            ),
            models.CheckConstraint(condition=Q(ratings_per_unit__gte=1), name="campaign_rates_each_unit"),
            models.CheckConstraint(condition=Q(admission__in=list(Admission)), name="campaign_admission_known"),
            models.CheckConstraint(condition=Q(comment__in=list(CommentField)), name="campaign_comment_known"),
            models.CheckConstraint(
                condition=Q(lease_min_seconds__isnull=True, lease_max_seconds__isnull=True)
                | Q(lease_min_seconds__gte=5, lease_max_seconds__gte=F("lease_min_seconds")),
                name="campaign_lease_bounds_in_order",
            ),
            models.CheckConstraint(
                condition=Q(payment_per_unit__gte=0, payment_fee_percent__gte=0), name="campaign_payment_not_negative"
            ),
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

    @property
    def unknown_raters(self) -> str:
        """Return that the number of raters is not known, for imported medians or means; else an empty text."""
        aggregate = (self.design or {}).get("aggregate", "") if self.imported else ""
        return f"unknown (the file gives {aggregate}s)" if aggregate else ""

    @property
    def presentation_kind(self) -> PresentationKind:
        return PRESENTATIONS[self.presentation]

    @property
    def invitation(self) -> str:
        """Return what a rater will do, in the rater's language: as the scales say it if they all say the same."""
        if self.writing:
            return self.presentation_kind.invitation_to_write
        sentences = {criterion.scale.invitation for criterion in self.criteria.all()}
        return (sentences.pop() if len(sentences) == 1 else "") or self.presentation_kind.invitation


class Criterion(models.Model):
    """A question with its scale, whose kind says what the columns mean and which values are stored."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="criteria")
    name = models.SlugField(**_column("name", CRITERION))
    question = models.CharField(**_column("question", CRITERION))
    position = models.PositiveSmallIntegerField(default=0)
    scope = models.CharField(max_length=8, choices=Scope.choices(), **_column("scope", CRITERION))
    kind = models.CharField(max_length=20, choices=scale_choices, **_column("kind", CRITERION))
    scale_min = models.SmallIntegerField(**_column("scale_min", CRITERION))
    scale_max = models.SmallIntegerField(**_column("scale_max", CRITERION))
    step = models.FloatField(**_column("step", CRITERION))
    labels = models.JSONField(**_column("labels", CRITERION))
    ties = models.BooleanField(**_column("ties", CRITERION))
    standard_source = models.CharField(**_column("standard_source", CRITERION))
    standard_value = models.FloatField(null=True, **_column("standard_value", CRITERION))

    class Meta:
        ordering = ("campaign", "position", "id")
        verbose_name_plural = "criteria"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="criterion_name_once_per_campaign"),
            models.CheckConstraint(condition=Q(scale_max__gt=F("scale_min")), name="criterion_scale_has_two_points"),
            models.CheckConstraint(condition=Q(kind__regex=KEY), name="criterion_kind_is_a_key"),
            models.CheckConstraint(condition=Q(scope__in=list(Scope)), name="criterion_scope_known"),
            models.CheckConstraint(
                condition=Q(standard_source="", standard_value__isnull=True)
                | (~Q(standard_source="") & Q(standard_value__gt=0)),
                name="criterion_standard_has_a_value",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scale(self) -> Scale:
        return SCALES[self.kind](self)

    @property
    def by_turn(self) -> bool:
        """Whether it is asked of each turn of the system."""
        return self.scope == Scope.TURN


class Unit(models.Model):
    """What one screen shows: one response, a pair, or a list of one item."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="units", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="units")
    position = models.PositiveIntegerField(help_text="Interleaved order within the campaign, from 0.")
    label = models.CharField(
        max_length=250, blank=True, help_text="The system name(s) it was planned for, for interleaving; never shown."
    )
    systems = ArrayField(models.BigIntegerField(), default=list, blank=True, help_text="Ids of those systems.")
    done_slots = models.PositiveSmallIntegerField(default=0, help_text="Kept in step with its slots on submit.")
    ratings_wanted = models.PositiveSmallIntegerField(
        default=1, help_text="How many slots it has: the campaign's ratings per item, or more where it was topped up."
    )
    stopped = models.BooleanField(
        default=False, db_default=False, help_text="Handed out no more: a system that it shows was stopped."
    )
    standard = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="For magnitudes."
    )
    responses = models.ManyToManyField(Response, through="UnitResponse", related_name="units")

    class Meta:
        ordering = ("campaign", "position")
        constraints = [models.UniqueConstraint(fields=["campaign", "position"], name="unit_position_once_per_campaign")]
        # Hand-out walks the least filled units from a rater's own starting point; full ones are not in its way.
        indexes = [
            models.Index(
                fields=["campaign", "done_slots", "position"],
                name="unit_by_fill",
                condition=Q(stopped=False, done_slots__lt=F("ratings_wanted")),
            )
        ]

    def __str__(self) -> str:
        return f"unit {self.position}"


class UnitResponse(models.Model):
    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="unit_responses", db_index=False)
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
    """One of the k slots of a unit. ``open`` and ``returned`` are free, and so is ``leased`` after its expiry."""

    # Served by the constraints and partial indexes below; a million slots are written without indexes of their own.
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="slots", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField(help_text="From 0 to k - 1.")
    state = models.CharField(max_length=8, choices=SlotState.choices, default=SlotState.OPEN)
    rater = models.ForeignKey(
        "annotation.Rater", null=True, blank=True, on_delete=models.PROTECT, related_name="slots", db_index=False
    )
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
    REPLACED = "replaced", "Submitted; its place was opened again later"
    IMPORTED = "imported", "Judged elsewhere"


class Purpose(models.TextChoices):
    WORK = "work", "Work"
    REPEAT = "repeat", "Repeat of an earlier unit"
    GOLD = "gold", "Known answer"
    ATTENTION = "attention", "Attention check"
    DEGRADED = "degraded", "Degraded text"
    ANCHOR = "anchor", "Human anchor"
    TRAINING = "training", "Training"
    TEST = "test", "Qualification test"


MIXED_IN = tuple(map(Purpose, CHECK_KINDS))


class CheckUnit(models.Model):
    """A prepared item outside of the work: a check, a training item, a question of the qualification test.

    ``texts`` lists what is rated, ``{"text", "role", "response", "expected"}``: the role (gold, attention, degraded,
    anchor, plain), the response it was made from or null, and per criterion the inclusive range of accepted values.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="check_units")
    kind = models.CharField(max_length=10, choices=Purpose.choices)
    number = models.PositiveIntegerField(help_text="Within its kind, from 0.")
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    context = ArrayField(models.TextField(), default=list, blank=True)
    message = models.TextField(blank=True)
    meaning_representation = models.TextField(blank=True)
    texts = models.JSONField()
    standard = models.TextField(blank=True)
    feedback = models.TextField(blank=True, help_text="Markdown, shown after a training screen is answered.")

    class Meta:
        ordering = ("campaign", "kind", "number")
        constraints = [
            models.UniqueConstraint(fields=["campaign", "kind", "number"], name="check_unit_number_once_per_kind"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind for kind in Purpose.values if kind not in ("work", "repeat")]),
                name="check_unit_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


class Presentation(models.Model):
    """A screen shown to a rater. Work fills a slot of its unit; a repeat or a check takes no slot. Never deleted."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="presentations")
    purpose = models.CharField(
        max_length=10, choices=Purpose.choices, default=Purpose.WORK, db_default=Purpose.WORK.value
    )
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="presentations")
    check_unit = models.ForeignKey(
        CheckUnit, null=True, blank=True, on_delete=models.PROTECT, related_name="presentations"
    )
    repeats = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="repeated_by", help_text="The first time."
    )
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
    seconds_given = models.FloatField(
        null=True, blank=True, help_text="How long it took, where an imported judgement tells that and no moments."
    )
    source_row = models.PositiveIntegerField(null=True, blank=True, help_text="Line of the file it was imported from.")

    class Meta:
        ordering = ("id",)
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=PresentationOutcome.values), name="presentation_outcome_known"
            ),
            models.CheckConstraint(
                condition=Q(outcome=PresentationOutcome.IMPORTED, slot__isnull=True, unit__isnull=False)
                | (
                    ~Q(outcome=PresentationOutcome.IMPORTED)
                    & Q(purpose=Purpose.WORK, slot__isnull=False, unit__isnull=False, shown_at__isnull=False)
                )
                | Q(
                    purpose=Purpose.REPEAT,
                    slot__isnull=True,
                    unit__isnull=False,
                    repeats__isnull=False,
                    shown_at__isnull=False,
                )
                | Q(
                    ~Q(purpose__in=[Purpose.WORK, Purpose.REPEAT]),
                    slot__isnull=True,
                    unit__isnull=True,
                    check_unit__isnull=False,
                    shown_at__isnull=False,
                ),
                name="presentation_fields_match_purpose",
            ),
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(outcome=PresentationOutcome.SUBMITTED),
                name="presentation_fills_a_slot_once",
            ),
            models.UniqueConstraint(
                fields=["campaign", "rater"],
                condition=Q(outcome=PresentationOutcome.SHOWN) & ~Q(purpose=Purpose.WORK),
                name="presentation_one_check_on_screen",
            ),
        ]
        indexes = [models.Index(fields=["campaign", "rater", "-id"], name="presentation_rater_latest")]

    def __str__(self) -> str:
        return str(self.token)

    @property
    def seconds(self) -> float | None:
        """Return the seconds from shown to ended; None if unknown."""
        if self.shown_at is None or self.ended_at is None:
            return self.seconds_given
        return (self.ended_at - self.shown_at).total_seconds()
