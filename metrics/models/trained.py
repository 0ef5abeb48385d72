"""Trained models: named, versioned, identified by the hash of their content."""

from django.db import models
from django.db.models import Q

from annotation.models import Corpus, Dataset, Job, JobState, Project
from metrics.scoring.models.kinds import KINDS


class TrainedModel(Job):
    """A version of a named model. Done, it is stored in ``settings.MODELS_DIR`` under its hash and never changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trained_models")
    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60)
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=40, help_text="See metrics.scoring.models.kinds.")
    options = models.JSONField(default=dict, blank=True, help_text="What may be chosen about a training of its kind.")
    dataset = models.ForeignKey(
        Dataset,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="trained_models",
        help_text="Whose texts it was trained on.",
    )
    corpus = models.ForeignKey(
        Corpus,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="trained_models",
        help_text="Whose texts it was trained on.",
    )
    source = models.JSONField(
        default=dict, blank=True, help_text="Which texts of which data set or corpus, or which file."
    )
    content = models.BinaryField(
        null=True, editable=False, help_text="An uploaded file until it is trained on: any worker can read it here."
    )
    training_hash = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 over kind, options and texts: equal ones are trained once."
    )
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the model, as signatures name it.")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes on disk.")
    report = models.JSONField(default=dict, blank=True, help_text="What it was trained on, in numbers, and what it is.")

    class Meta(Job.Meta):
        ordering = ("-id",)
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "slug", "version"], name="trainedmodel_version_once_per_name"),
            models.CheckConstraint(
                condition=~Q(state=JobState.DONE) | ~Q(digest=""), name="trainedmodel_done_is_hashed"
            ),
        ]
        indexes = [models.Index(fields=["project", "kind", "training_hash"], name="trainedmodel_by_training")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def reference(self) -> str:
        """Return the model's name in metrics' parameters."""
        return f"sha256:{self.digest}" if self.digest else ""

    @property
    def kind_label(self) -> str:
        return KINDS[self.kind].label
