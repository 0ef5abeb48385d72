"""Studies: how far metrics can be trusted, against the stored judgements."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from annotation.models import Campaign, Dataset, Job, Project, Release
from annotation.models.accounts import SURVIVES_USER
from correlations.results.codec import Result
from correlations.results.parameters import ParameterResult
from correlations.results.study import StudyResult
from metrics.models import ScoreRun

OF_REPORT = "None for a report that was sent, and for a study of the other kind."
WITHOUT_RELEASE = "None if the references are the data set's own, or no metric reads any."


class StudyJob(Job):
    """A specification and its result. One result per specification: the same one is never computed twice."""

    progress_is_whole = True
    name = models.CharField(max_length=120)
    signature = models.CharField(
        max_length=64, help_text="SHA-256 of the canonical specification and of what it names."
    )
    RESULT: ClassVar[type[Result]]

    class Meta(Job.Meta):
        abstract = True
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.name


class Study(StudyJob):
    """How metrics correlate with ratings of systems."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="studies")
    release = models.ForeignKey(
        Release, null=True, blank=True, on_delete=models.PROTECT, related_name="studies", help_text=WITHOUT_RELEASE
    )
    campaigns = models.ManyToManyField(
        Campaign, related_name="studies", help_text="Whose ratings of the hypotheses count."
    )
    specification = models.JSONField(
        help_text="Metrics, reference subsets, systems and pairs, criterion, unit design, seed."
    )
    score_runs = models.ManyToManyField(ScoreRun, blank=True, related_name="studies")
    result = models.JSONField(null=True, blank=True, help_text="Table, sweeps, counts; what the report shows.")
    RESULT = StudyResult

    class Meta(StudyJob.Meta):
        verbose_name_plural = "studies"
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "signature"], name="study_once_per_signature"),
        ]

    def read_result(self) -> StudyResult:
        """Return the stored result of a study that is done."""
        return StudyResult.from_json(self.result)


class JointStudy(models.Model):
    """One study over several data sets: a study of each, and what they say together, which follows from these."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="joint_studies")
    name = models.CharField(max_length=120)
    signature = models.CharField(max_length=64, help_text="SHA-256 of the signatures of its studies, sorted.")
    specification = models.JSONField(help_text="What the studies share, and under datasets what each has by itself.")
    studies = models.ManyToManyField(Study, related_name="joint_studies")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **SURVIVES_USER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "joint studies"
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=["project", "signature"], name="joint_study_once_per_signature"),
        ]

    def __str__(self) -> str:
        return self.name


class StudyDraws(models.Model):
    """What the shards of a study that is being computed are drawn from."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, primary_key=True, related_name="drawn_from")
    content = models.BinaryField(help_text="Scores, ratings and sets of outputs: annotation.core.packing.")
    digest = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "study draws"

    def __str__(self) -> str:
        return f"Draws of {self.study}"


class StudyShard(Job):
    """Some resamples of a study that is being computed, drawn by one worker; deleted with its end."""

    is_piece = True
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="shards")
    number = models.PositiveIntegerField()
    size = models.PositiveIntegerField(help_text="Resamples.")
    draws = models.BinaryField(default=b"", help_text="float64, little-endian: correlations.stats.draws.shard_draws.")

    class Meta(Job.Meta):
        ordering = ("study", "number")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["study", "number"], name="study_shard_once_per_study"),
        ]

    def __str__(self) -> str:
        return f"Resamples {self.number}"


class ParameterStudy(StudyJob):
    """How one metric's correlation with ratings changes with its parameters."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="parameter_studies")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="parameter_studies")
    release = models.ForeignKey(
        Release,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="parameter_studies",
        help_text=WITHOUT_RELEASE,
    )
    campaigns = models.ManyToManyField(
        Campaign, related_name="parameter_studies", help_text="Whose ratings of the systems' outputs count."
    )
    specification = models.JSONField(help_text="Metric, references, systems, the parameters turned and their values.")
    result = models.JSONField(null=True, blank=True, help_text="Curves, tables, counts; what the report shows.")
    RESULT = ParameterResult

    class Meta(StudyJob.Meta):
        verbose_name_plural = "parameter studies"
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "signature"], name="parameter_study_once_per_signature"),
        ]

    def read_result(self) -> ParameterResult:
        """Return the stored result of a study that is done."""
        return ParameterResult.from_json(self.result)


class StudyVerification(Job):
    """The study of a report computed again here, and what differs."""

    progress_is_whole = True
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="study_verifications")
    study = models.ForeignKey(
        Study, null=True, blank=True, on_delete=models.CASCADE, related_name="verifications", help_text=OF_REPORT
    )
    parameter_study = models.ForeignKey(
        ParameterStudy,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="verifications",
        help_text=OF_REPORT,
    )
    name = models.CharField(max_length=120, help_text="The study's.")
    signature = models.CharField(max_length=64, help_text="The study's.")
    report = models.JSONField(null=True, blank=True, help_text="A report that was sent, until it is verified.")
    outcome = models.JSONField(
        null=True, blank=True, help_text="What differs: correlations.services.verification.Verification."
    )

    class Meta(Job.Meta):
        constraints = [
            *Job.Meta.constraints,
            models.CheckConstraint(
                condition=models.Q(study__isnull=True) | models.Q(parameter_study__isnull=True),
                name="study_verification_of_one_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"Verification of {self.name}"

    @classmethod
    def field_of(cls, kind: type[StudyJob]) -> str:
        """Return the field that names studies of a kind."""
        return "study" if kind is Study else "parameter_study"

    @property
    def stored_study(self) -> Study | ParameterStudy | None:
        """Return the study whose stored result is compared; None for a report that was sent."""
        return self.study or self.parameter_study
