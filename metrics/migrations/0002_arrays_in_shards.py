"""Arrays leave the rows of runs and systems for shards: loosen, fill, tighten."""

import django.db.models.deletion
import django.db.models.functions.datetime
import numpy as np
from django.conf import settings
from django.db import migrations, models

LARGEST = 2**31 - 1


def fill(apps, schema_editor):
    """One shard for each run that has scores, its systems in the order of their names."""
    ScoreRun = apps.get_model("metrics", "ScoreRun")
    ScoreShard = apps.get_model("metrics", "ScoreShard")
    SystemScore = apps.get_model("metrics", "SystemScore")
    for run in ScoreRun.objects.filter(scores__isnull=False).distinct().iterator(10):
        rows = sorted(SystemScore.objects.filter(run=run).select_related("system"), key=lambda row: row.system.name)
        scores = np.array([row.segment_scores for row in rows], dtype="<f8")  # None becomes NaN
        statistics = np.array([row.statistics for row in rows], dtype="<f8")
        statistics = statistics.reshape(*scores.shape, rows[0].statistics_width)
        # A segment that counts has a score, or else two empty texts, whose statistics are those of one that does not.
        valid = ~np.isnan(scores) | statistics.any(axis=2)
        for position, row in enumerate(rows):
            row.position, row.n_segments = position, int(valid[position].sum())
        SystemScore.objects.bulk_update(rows, ["position", "n_segments"])
        dropped = {entry["reason"]: entry["items"] for entry in run.report.get("dropped", [])}
        ScoreShard.objects.create(
            run=run,
            step="scores",
            number=0,
            start=0,
            stop=LARGEST,
            first=0,
            n=scores.shape[1],
            item_ids=np.array(run.item_ids, dtype="<i8").tobytes(),
            segment_scores=scores.tobytes(),
            valid=valid.tobytes(),
            statistics=statistics.tobytes(),
            report={**{key: value for key, value in run.report.items() if key != "dropped"}, "dropped": dropped},
            state="done",
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
        )
    schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what follows alters tables that were written to


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("metrics", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ScoreShard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("state", models.CharField(choices=[("queued", "Queued"), ("running", "Running"), ("done", "Done"), ("failed", "Failed"), ("cancelled", "Cancelled")], default="queued", max_length=10)),
                ("progress_done", models.PositiveIntegerField(default=0)),
                ("progress_total", models.PositiveIntegerField(default=0)),
                ("progress_note", models.CharField(blank=True, max_length=200)),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                ("lease_token", models.UUIDField(blank=True, editable=False, null=True)),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("error", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ("started_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("finished_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("requested_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="shards", to="metrics.scorerun")),
                ("step", models.CharField(choices=[("state", "What the corpus is like"), ("scores", "Scores")], default="scores", max_length=10)),
                ("number", models.PositiveIntegerField()),
                ("start", models.PositiveIntegerField(help_text="Position of the first item looked at.")),
                ("stop", models.PositiveIntegerField(help_text="Position after the last.")),
                ("first", models.PositiveIntegerField(blank=True, help_text="Place of its first segment in the run; known once all shards are done.", null=True)),
                ("n", models.PositiveIntegerField(default=0, help_text="Segments: items that were not left out.")),
                ("item_ids", models.BinaryField(default=b"", help_text="int64 (n,), by the items' positions.")),
                ("segment_scores", models.BinaryField(default=b"", help_text="float64 (T, n); NaN where a segment has no score.")),
                ("valid", models.BinaryField(default=b"", help_text="bool (T, n): whether the segment counts.")),
                ("statistics", models.BinaryField(default=b"", help_text="float64 (T, n, D): what system scores are summed from.")),
                ("corpus_state", models.BinaryField(default=b"", help_text="Of the step “state”: of these items alone.")),
                ("report", models.JSONField(blank=True, default=dict, help_text="Aggregate, items left out, references.")),
            ],
            options={"ordering": ("run", "step", "number"), "abstract": False},
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(("state__in", ["queued", "running", "done", "failed", "cancelled"])), name="scoreshard_state_known"),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(("lease_expires_at__isnull", False), ("lease_token__isnull", False), ("state", "running")), models.Q(models.Q(("state", "running"), _negated=True), ("lease_expires_at__isnull", True), ("lease_token__isnull", True)), _connector="OR"), name="scoreshard_leased_only_while_running"),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(models.Q(("finished_at__isnull", False), ("state__in", ("done", "failed", "cancelled"))), models.Q(models.Q(("state__in", ("done", "failed", "cancelled")), _negated=True), ("finished_at__isnull", True)), _connector="OR"), name="scoreshard_finished_has_a_time"),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.UniqueConstraint(fields=("run", "step", "number"), name="score_shard_once_per_run"),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(("step__in", ["state", "scores"])), name="score_shard_step_known"),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(("start__lte", models.F("stop"))), name="score_shard_starts_before_it_stops"),
        ),
        # Arrays of floats hardly shrink; kept as they are, one system's can be read without the others'.
        migrations.RunSQL(
            "ALTER TABLE metrics_scoreshard ALTER COLUMN segment_scores SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
        migrations.AddField(
            model_name="scorerun",
            name="bootstrap",
            field=models.JSONField(blank=True, default=dict, help_text='{"replicates", "seed", "method"}, or {"reason"} why there are none.'),
        ),
        migrations.AddField(
            model_name="scorerun",
            name="corpus_state",
            field=models.BinaryField(help_text="While it runs: what each shard must know of all; see metrics.scoring.states.", null=True),
        ),
        migrations.AddField(
            model_name="scorerun",
            name="replicates",
            field=models.BinaryField(help_text="Little-endian float64 (B, T): the same B resamples of segments for every system.", null=True),
        ),
        migrations.AlterField(
            model_name="scorerun",
            name="release",
            field=models.ForeignKey(blank=True, help_text="None for a metric that reads no references.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="score_runs", to="annotation.release"),
        ),
        migrations.AddField(
            model_name="systemscore",
            name="low",
            field=models.FloatField(blank=True, help_text="Of the 95% interval; null where there is none.", null=True),
        ),
        migrations.AddField(
            model_name="systemscore",
            name="high",
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="systemscore",
            name="n_segments",
            field=models.PositiveIntegerField(default=0, help_text="Segments that count."),
        ),
        migrations.AddField(
            model_name="systemscore",
            name="position",
            field=models.PositiveSmallIntegerField(null=True, help_text="Its place among the T systems of the run's arrays."),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),  # back: only where there is no run
        migrations.AlterField(
            model_name="systemscore",
            name="position",
            field=models.PositiveSmallIntegerField(help_text="Its place among the T systems of the run's arrays."),
        ),
        migrations.AddConstraint(
            model_name="systemscore",
            constraint=models.UniqueConstraint(fields=("run", "position"), name="score_position_once_per_run"),
        ),
        migrations.RemoveField(model_name="systemscore", name="segment_scores"),
        migrations.RemoveField(model_name="systemscore", name="statistics"),
        migrations.RemoveField(model_name="systemscore", name="statistics_width"),
        migrations.RemoveField(model_name="scorerun", name="item_ids"),
    ]
