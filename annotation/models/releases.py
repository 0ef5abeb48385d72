"""Reference sets and their releases: immutable snapshots of weights."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce

from annotation.models.accounts import SURVIVES_USER, Project
from annotation.models.campaigns import Campaign
from annotation.models.datasets import Dataset, Item, Response, SourceKind
from annotation.models.jobs import Job, JobState


class ReferenceSet(models.Model):
    """A named choice of responses and of the campaigns whose ratings weigh them."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reference_sets")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="reference_sets")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    description = models.TextField(blank=True)
    campaigns = models.ManyToManyField(Campaign, related_name="reference_sets")
    source_kinds = models.JSONField(
        default=list, blank=True, help_text="Kinds of source that make a response a reference."
    )
    source_systems = models.JSONField(
        default=list, blank=True, help_text="Names of systems whose outputs are references."
    )
    original_kinds = models.JSONField(
        default=list, blank=True, help_text="Kinds whose response is the item's original."
    )
    original_systems = models.JSONField(default=list, blank=True, help_text="Systems whose output is the original.")

    class Meta:
        ordering = ("name", "id")
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="reference_set_slug_once_per_project")]

    def __str__(self) -> str:
        return self.name

    @property
    def source_words(self) -> list[str]:
        """Return where the references come from: kinds of source in words, names of systems."""
        return _in_words(self.source_kinds, self.source_systems)

    @property
    def original_words(self) -> list[str]:
        """Return whose response is the item's original, in the same words."""
        return _in_words(self.original_kinds, self.original_systems)


def _in_words(kinds: list[str], systems: list[str]) -> list[str]:
    return [*(str(SourceKind(kind).label) for kind in kinds), *systems]


IMPORTED = "imported"  # the method of weights that were made elsewhere; their judgements are not stored


class Release(Job):
    """A numbered, hashed snapshot. Once done it never changes: a trigger refuses changes to its weights."""

    reference_set = models.ForeignKey(ReferenceSet, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    method = models.CharField(max_length=40, default="linear")
    parameters = models.JSONField(default=dict, blank=True)
    exclusion_rules = models.JSONField(default=list, blank=True)
    signature = models.CharField(max_length=400, blank=True)
    content_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 over the sorted content.")
    report = models.JSONField(
        default=dict, blank=True, help_text="Counts: ratings used and left out, items without a positive weight."
    )
    code_version = models.CharField(
        max_length=60, blank=True, editable=False, help_text="Of Assay, when it was built; not part of the hash."
    )
    deprecated_at = models.DateTimeField(null=True, blank=True, editable=False)
    deprecated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **SURVIVES_USER)
    deprecation_reason = models.TextField(blank=True)

    class Meta(Job.Meta):
        ordering = ("reference_set", "-number")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["reference_set", "number"], name="release_number_once_per_set"),
            models.CheckConstraint(
                condition=~Q(state=JobState.DONE) | ~Q(content_hash=""), name="release_done_is_hashed"
            ),
            models.CheckConstraint(
                condition=Q(deprecated_at__isnull=True, deprecation_reason="")
                | (Q(deprecated_at__isnull=False, state=JobState.DONE) & ~Q(deprecation_reason="")),
                name="release_deprecated_with_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reference_set} v{self.number}"

    @property
    def is_imported(self) -> bool:
        """Whether the weights were made elsewhere: its judgements are unknown here, and so may be its means."""
        return self.method == IMPORTED


# The sort keys of a weight without interval or without spread: below all others.
NO_WIDTH, NO_SPREAD = -1.0, -1.0


class ReleaseWeight(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="weights")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="weights")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="weights")
    weight = models.FloatField()
    rating_mean = models.FloatField(null=True, blank=True, help_text="None of a weight made elsewhere without it.")
    n_ratings = models.PositiveIntegerField(default=0)
    standard_error = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True, help_text="95% interval over other raters.")
    high = models.FloatField(null=True, blank=True)
    is_original = models.BooleanField(default=False)
    # Evidence: follows from the judgements, so it is not hashed; may be filled in later, once.
    rating_spread = models.FloatField(null=True, blank=True, help_text="Standard deviation of the judgements (n - 1).")
    histogram = ArrayField(
        models.PositiveIntegerField(), null=True, blank=True, help_text="Judgements at each point of the scale."
    )
    item_position = models.PositiveIntegerField(default=0, help_text="The item's, so that pages need no join.")

    class Meta:
        ordering = ("release", "-weight", "response")
        constraints = [
            models.UniqueConstraint(fields=["release", "response"], name="weight_once_per_release_and_response"),
            models.CheckConstraint(condition=Q(weight__gte=-1, weight__lte=1), name="weight_within_one"),
        ]
        indexes = [
            models.Index(fields=["release", "weight", "id"], name="weight_browse"),
            models.Index(fields=["release", "item_position", "-weight", "id"], name="weight_by_item"),
            models.Index(
                F("release"), Coalesce(F("high") - F("low"), Value(NO_WIDTH)), F("id"), name="weight_by_width"
            ),
            models.Index(
                F("release"), Coalesce(F("rating_spread"), Value(NO_SPREAD)), F("id"), name="weight_by_spread"
            ),
            models.Index(fields=["release", "n_ratings", "id"], name="weight_by_n"),
        ]

    def __str__(self) -> str:
        return f"{self.weight:+.2f}"


class FiguresPart(models.TextChoices):
    ATTENTION = "attention", "Needs attention"
    SENSITIVITY = "sensitivity", "Sensitivity"
    INFLUENCE = "influence", "Influence of raters"
    TEXTS = "texts", "Texts on both sides"


class ReleaseFigures(Job):
    """Statistics about a large release, computed and stored by a worker because they take longer than a request may.

    ``key`` is a hash of everything the statistics depend on. If that changes, they are computed anew under another key.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="figures")
    part = models.CharField(max_length=12, choices=FiguresPart.choices)
    key = models.CharField(max_length=64, help_text="SHA-256 over everything that the figures follow from.")
    content = models.BinaryField(null=True, editable=False, help_text="See annotation.core.packing.")

    class Meta(Job.Meta):
        ordering = ("release", "part", "id")
        verbose_name_plural = "release figures"
        constraints = [
            *Job.Meta.constraints,
            models.CheckConstraint(condition=Q(part__in=FiguresPart.values), name="release_figures_part_known"),
            models.CheckConstraint(
                condition=~Q(state=JobState.DONE) | Q(content__isnull=False), name="release_figures_done_are_there"
            ),
            models.UniqueConstraint(fields=["release", "part", "key"], name="release_figures_once_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.release}: {self.get_part_display()}"


class WeightsImport(Job):
    """An uploaded file of weights that were made elsewhere, which becomes a release: whole, or not at all."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="weights_imports")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="weights_imports")
    reference_set = models.ForeignKey(
        ReferenceSet,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Whose next release it is to be; none where a set is to be made.",
    )
    release = models.ForeignKey(
        Release, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="Set when done."
    )
    filename = models.CharField(max_length=255)
    content = models.BinaryField(help_text="In the database, so that any worker on any host can read it.")
    options = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.filename
