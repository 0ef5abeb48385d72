"""Score runs: a metric over a data set, computed once for each signature."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation.models import Dataset, Job, Project, Release, System
from metrics.subsets import Subset


class RunOrigin(models.TextChoices):
    REQUEST = "request", "Requested"
    STUDY = "study", "Study"
    IMPORT = "import", "Imported"


class RunGroup(models.Model):
    """Runs that were requested together: metrics of one click, the rows of a study, the scorers of a file."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="run_groups")
    origin = models.CharField(max_length=20, choices=RunOrigin.choices, default=RunOrigin.REQUEST)
    origin_pk = models.PositiveBigIntegerField(null=True, blank=True, help_text="Of the study.")
    title = models.CharField(max_length=255, blank=True, help_text="The study's name, or the file's.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(condition=Q(origin__in=RunOrigin.values), name="run_group_origin_known"),
            models.UniqueConstraint(
                fields=["project", "origin", "origin_pk"],
                condition=Q(origin_pk__isnull=False),
                name="run_group_once_per_study",
            ),
        ]

    def __str__(self) -> str:
        return self.title or (
            "Runs started together" if self.origin == RunOrigin.REQUEST else self.get_origin_display()
        )


class ScoreRunManager(models.Manager["ScoreRun"]):
    """Load runs without their long arrays."""

    def get_queryset(self) -> models.QuerySet["ScoreRun"]:
        return super().get_queryset().defer("replicates")


class ScoreRun(Job):
    """Metric + parameters + data set + release + reference subset = a signature."""

    progress_is_whole = True
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="score_runs")
    number = models.PositiveIntegerField(help_text="From 1 in its project; it never changes.")
    group = models.ForeignKey(RunGroup, on_delete=models.RESTRICT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="score_runs")
    release = models.ForeignKey(
        Release,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="score_runs",
        help_text="None for a metric that reads no references, or the data set's own.",
    )
    metric = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict, blank=True)
    subset = models.JSONField(
        default=dict,
        help_text='{"kind": "all"}, {"kind": "original"}, {"kind": "threshold", "op": ">=", "value": 0.6} or, of the '
        'data set\'s own references, {"kind": "sources", "sources": ["human"]}',
    )
    systems = models.ManyToManyField(System, related_name="score_runs")
    signature = models.CharField(
        max_length=600, help_text="One line from which another person can reproduce the score."
    )
    signature_hash = models.CharField(max_length=64)
    report = models.JSONField(default=dict, blank=True, help_text="Counts: items dropped, references used, seconds.")
    bootstrap = models.JSONField(
        default=dict, blank=True, help_text='{"replicates", "seed", "method"}, or {"reason"} why there are none.'
    )
    replicates = models.BinaryField(
        null=True, help_text="Little-endian float64 (B, T): the same B resamples of segments for every system."
    )

    objects = ScoreRunManager()

    class Meta(Job.Meta):
        ordering = ("-id",)
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "signature_hash"], name="score_run_once_per_signature"),
            models.UniqueConstraint(fields=["project", "number"], name="score_run_number_once_per_project"),
        ]

    def __str__(self) -> str:
        return self.signature

    @property
    def subset_text(self) -> str:
        return str(Subset.from_mapping(self.subset))


class ShardStep(models.TextChoices):
    STATE = "state", "What the corpus is like"
    JOINED = "joined", "A range of what all of it is like"
    SCORES = "scores", "Scores"


class ScoreShard(Job):
    """The items of a run in a range of positions, scored by one worker. Arrays are little-endian."""

    is_piece = True
    run = models.ForeignKey(ScoreRun, on_delete=models.CASCADE, related_name="shards")
    step = models.CharField(max_length=10, choices=ShardStep.choices, default=ShardStep.SCORES)
    number = models.PositiveIntegerField()
    start = models.PositiveIntegerField(help_text="Position of the first item looked at.")
    stop = models.PositiveIntegerField(help_text="Position after the last.")
    first = models.PositiveIntegerField(
        null=True, blank=True, help_text="Place of its first segment in the run; known once all shards are done."
    )
    n = models.PositiveIntegerField(default=0, help_text="Segments: items that were not left out.")
    item_ids = models.BinaryField(default=b"", help_text="int64 (n,), by the items' positions.")
    segment_scores = models.BinaryField(default=b"", help_text="float64 (T, n); NaN where a segment has no score.")
    valid = models.BinaryField(default=b"", help_text="bool (T, n): whether the segment counts.")
    statistics = models.BinaryField(default=b"", help_text="float64 (T, n, D): what system scores are summed from.")
    corpus_state = models.BinaryField(
        default=b"", help_text="Of the step “state”: of these items alone; of “joined”: a range of that of all."
    )
    report = models.JSONField(default=dict, blank=True, help_text="Aggregate, items left out, references.")

    class Meta(Job.Meta):
        ordering = ("run", "step", "number")
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["run", "step", "number"], name="score_shard_once_per_run"),
            models.CheckConstraint(condition=Q(step__in=ShardStep.values), name="score_shard_step_known"),
            models.CheckConstraint(condition=Q(start__lte=F("stop")), name="score_shard_starts_before_it_stops"),
        ]

    def __str__(self) -> str:
        return f"{self.get_step_display()}, {self.start} to {self.stop}"


class SystemScore(models.Model):
    """One system's score in a run."""

    run = models.ForeignKey(ScoreRun, on_delete=models.CASCADE, related_name="scores")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="scores")
    position = models.PositiveSmallIntegerField(help_text="Its place among the T systems of the run's arrays.")
    score = models.FloatField(null=True, help_text="Null where undefined.")
    low = models.FloatField(null=True, blank=True, help_text="Of the 95% interval; null where there is none.")
    high = models.FloatField(null=True, blank=True)
    first_place = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="One more than the systems that are significantly better; null: not tested."
    )
    last_place = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="All systems less those that are significantly worse; null: not tested."
    )
    p_best = models.FloatField(
        null=True,
        blank=True,
        help_text="Of the difference to the best score, corrected for all pairs; null: the best, or not tested.",
    )
    n_segments = models.PositiveIntegerField(default=0, help_text="Segments that count.")
    undefined_reason = models.CharField(max_length=200, blank=True)
    clamped_orders = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="Precisions, brevity penalty, lengths.")

    class Meta:
        ordering = ("run", "system")
        constraints = [
            models.UniqueConstraint(fields=["run", "system"], name="score_once_per_run_and_system"),
            models.UniqueConstraint(fields=["run", "position"], name="score_position_once_per_run"),
        ]

    def __str__(self) -> str:
        return "undefined" if self.score is None else f"{self.score:z.4f}"


class SystemRatings(Job):
    """Mean ratings of a data set's systems, computed by a worker: resampling raters and items takes seconds.

    ``key`` is a hash of everything they depend on. If that changes, they are computed anew under another key.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="system_ratings")
    key = models.CharField(max_length=64)
    content = models.JSONField(default=dict, blank=True, help_text="See metrics.selectors.system_ratings.")

    class Meta(Job.Meta):
        ordering = ("-id",)
        verbose_name_plural = "system ratings"
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["dataset", "key"], name="system_ratings_once_per_key"),
        ]

    def __str__(self) -> str:
        return f"Ratings of systems of {self.dataset}"
