"""Score runs: one metric over one data set, never computed twice for one signature."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from annotation.models import Dataset, Job, Project, Release, System


class ScoreRun(Job):
    """Metric + parameters + data set + release + reference subset = a signature."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="score_runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="score_runs")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="score_runs")
    metric = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict, blank=True)
    subset = models.JSONField(
        default=dict,
        help_text='{"kind": "all"}, {"kind": "original"} or {"kind": "threshold", "op": ">=", "value": 0.6}',
    )
    systems = models.ManyToManyField(System, related_name="score_runs")
    signature = models.CharField(
        max_length=600, help_text="One line from which another person can reproduce the score."
    )
    signature_hash = models.CharField(max_length=64)
    item_ids = ArrayField(models.BigIntegerField(), default=list, blank=True, help_text="The S segments, in order.")
    report = models.JSONField(default=dict, blank=True, help_text="Counts: items dropped, references used, seconds.")

    class Meta(Job.Meta):
        ordering = ("-id",)
        constraints = [
            *Job.Meta.constraints,
            models.UniqueConstraint(fields=["project", "signature_hash"], name="score_run_once_per_signature"),
        ]

    def __str__(self) -> str:
        return self.signature


class SystemScore(models.Model):
    """One system's score in a run, with what it was summed from."""

    run = models.ForeignKey(ScoreRun, on_delete=models.CASCADE, related_name="scores")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="scores")
    score = models.FloatField(null=True, help_text="Null where undefined.")
    undefined_reason = models.CharField(max_length=200, blank=True)
    clamped_orders = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    segment_scores = ArrayField(
        models.FloatField(null=True), help_text="Shape (S,); null where the segment has no score."
    )
    statistics = ArrayField(models.FloatField(), help_text="Sufficient statistics of shape (S, D), row by row.")
    statistics_width = models.PositiveSmallIntegerField(help_text="D")
    details = models.JSONField(default=dict, blank=True, help_text="Precisions, brevity penalty, lengths.")

    class Meta:
        ordering = ("run", "system")
        constraints = [models.UniqueConstraint(fields=["run", "system"], name="score_once_per_run_and_system")]

    def __str__(self) -> str:
        return "undefined" if self.score is None else f"{self.score:.4f}"
