from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_project_import'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='checkanswer',
            name='check_answer_once_per_revision',
        ),
        migrations.RemoveConstraint(
            model_name='rating',
            name='rating_once_per_revision',
        ),
        migrations.AddField(
            model_name='checkanswer',
            name='turn',
            field=models.PositiveSmallIntegerField(blank=True, help_text='As of a rating.', null=True),
        ),
        migrations.AddField(
            model_name='criterion',
            name='scope',
            field=models.CharField(choices=[('whole', 'The whole response'), ('turn', 'Each turn of the system')], default='whole', max_length=8),
        ),
        migrations.AddField(
            model_name='rating',
            name='turn',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Of the dialogue, from 0; null if the criterion is about the whole response.', null=True),
        ),
        migrations.AddField(
            model_name='response',
            name='turns',
            field=models.JSONField(blank=True, help_text='Of a dialogue: its turns, which the text joins; see annotation.core.dialogues.', null=True),
        ),
        migrations.AddIndex(
            model_name='response',
            index=models.Index(condition=models.Q(('turns__isnull', False)), fields=['item'], name='response_dialogues'),
        ),
        migrations.AddConstraint(
            model_name='checkanswer',
            constraint=models.UniqueConstraint(fields=('presentation', 'number', 'criterion', 'turn', 'revision'), name='check_answer_once_per_revision', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='criterion',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['whole', 'turn'])), name='criterion_scope_known'),
        ),
        migrations.AddConstraint(
            model_name='rating',
            constraint=models.UniqueConstraint(fields=('presentation', 'response', 'criterion', 'turn', 'revision'), name='rating_once_per_revision', nulls_distinct=False),
        ),
    ]
