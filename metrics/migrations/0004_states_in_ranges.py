from django.db import migrations, models


def begin_again(apps, schema_editor):
    """Runs under way whose parts know of each other through the column that goes: they are scored from the start."""
    ScoreRun = apps.get_model("metrics", "ScoreRun")
    under_way = ScoreRun.objects.exclude(state="done").filter(corpus_state__isnull=False)
    apps.get_model("metrics", "ScoreShard").objects.filter(run__in=under_way).delete()


class Migration(migrations.Migration):
    dependencies = [("metrics", "0003_trained_models")]

    operations = [
        migrations.RunPython(begin_again, migrations.RunPython.noop),
        migrations.RemoveField(model_name="scorerun", name="corpus_state"),
        migrations.RemoveConstraint(model_name="scoreshard", name="score_shard_step_known"),
        migrations.AlterField(
            model_name="scoreshard",
            name="step",
            field=models.CharField(choices=[("state", "What the corpus is like"), ("joined", "A range of what all of it is like"), ("scores", "Scores")], default="scores", max_length=10),
        ),
        migrations.AlterField(
            model_name="scoreshard",
            name="corpus_state",
            field=models.BinaryField(default=b"", help_text="Of the step “state”: of these items alone; of “joined”: a range of that of all."),
        ),
        migrations.AddConstraint(
            model_name="scoreshard",
            constraint=models.CheckConstraint(condition=models.Q(("step__in", ["state", "joined", "scores"])), name="score_shard_step_known"),
        ),
    ]
