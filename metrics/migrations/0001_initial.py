import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ScoreRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('progress_note', models.CharField(blank=True, max_length=200)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.UUIDField(blank=True, editable=False, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('started_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('finished_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('metric', models.CharField(max_length=40)),
                ('parameters', models.JSONField(blank=True, default=dict)),
                ('subset', models.JSONField(default=dict, help_text='{"kind": "all"}, {"kind": "original"} or {"kind": "threshold", "op": ">=", "value": 0.6}')),
                ('signature', models.CharField(help_text='One line from which another person can reproduce the score.', max_length=600)),
                ('signature_hash', models.CharField(max_length=64)),
                ('report', models.JSONField(blank=True, default=dict, help_text='Counts: items dropped, references used, seconds.')),
                ('bootstrap', models.JSONField(blank=True, default=dict, help_text='{"replicates", "seed", "method"}, or {"reason"} why there are none.')),
                ('replicates', models.BinaryField(help_text='Little-endian float64 (B, T): the same B resamples of segments for every system.', null=True)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='score_runs', to='annotation.dataset')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='score_runs', to='annotation.project')),
                ('release', models.ForeignKey(blank=True, help_text='None for a metric that reads no references.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='score_runs', to='annotation.release')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('systems', models.ManyToManyField(related_name='score_runs', to='annotation.system')),
            ],
            options={
                'ordering': ('-id',),
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='scorerun_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_expires_at__isnull', False), ('lease_token__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', True), ('lease_token__isnull', True)), _connector='OR'), name='scorerun_leased_only_while_running'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('done', 'failed', 'cancelled')), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='scorerun_finished_has_a_time'), models.UniqueConstraint(fields=('project', 'signature_hash'), name='score_run_once_per_signature')],
            },
        ),
        migrations.CreateModel(
            name='ScoreShard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('progress_note', models.CharField(blank=True, max_length=200)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.UUIDField(blank=True, editable=False, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('started_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('finished_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('step', models.CharField(choices=[('state', 'What the corpus is like'), ('joined', 'A range of what all of it is like'), ('scores', 'Scores')], default='scores', max_length=10)),
                ('number', models.PositiveIntegerField()),
                ('start', models.PositiveIntegerField(help_text='Position of the first item looked at.')),
                ('stop', models.PositiveIntegerField(help_text='Position after the last.')),
                ('first', models.PositiveIntegerField(blank=True, help_text='Place of its first segment in the run; known once all shards are done.', null=True)),
                ('n', models.PositiveIntegerField(default=0, help_text='Segments: items that were not left out.')),
                ('item_ids', models.BinaryField(default=b'', help_text="int64 (n,), by the items' positions.")),
                ('segment_scores', models.BinaryField(default=b'', help_text='float64 (T, n); NaN where a segment has no score.')),
                ('valid', models.BinaryField(default=b'', help_text='bool (T, n): whether the segment counts.')),
                ('statistics', models.BinaryField(default=b'', help_text='float64 (T, n, D): what system scores are summed from.')),
                ('corpus_state', models.BinaryField(default=b'', help_text='Of the step “state”: of these items alone; of “joined”: a range of that of all.')),
                ('report', models.JSONField(blank=True, default=dict, help_text='Aggregate, items left out, references.')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shards', to='metrics.scorerun')),
            ],
            options={
                'ordering': ('run', 'step', 'number'),
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='scoreshard_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_expires_at__isnull', False), ('lease_token__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', True), ('lease_token__isnull', True)), _connector='OR'), name='scoreshard_leased_only_while_running'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('done', 'failed', 'cancelled')), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='scoreshard_finished_has_a_time'), models.UniqueConstraint(fields=('run', 'step', 'number'), name='score_shard_once_per_run'), models.CheckConstraint(condition=models.Q(('step__in', ['state', 'joined', 'scores'])), name='score_shard_step_known'), models.CheckConstraint(condition=models.Q(('start__lte', models.F('stop'))), name='score_shard_starts_before_it_stops')],
            },
        ),
        migrations.CreateModel(
            name='SystemScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField(help_text="Its place among the T systems of the run's arrays.")),
                ('score', models.FloatField(help_text='Null where undefined.', null=True)),
                ('low', models.FloatField(blank=True, help_text='Of the 95% interval; null where there is none.', null=True)),
                ('high', models.FloatField(blank=True, null=True)),
                ('n_segments', models.PositiveIntegerField(default=0, help_text='Segments that count.')),
                ('undefined_reason', models.CharField(blank=True, max_length=200)),
                ('clamped_orders', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None)),
                ('details', models.JSONField(blank=True, default=dict, help_text='Precisions, brevity penalty, lengths.')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='metrics.scorerun')),
                ('system', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scores', to='annotation.system')),
            ],
            options={
                'ordering': ('run', 'system'),
                'constraints': [models.UniqueConstraint(fields=('run', 'system'), name='score_once_per_run_and_system'), models.UniqueConstraint(fields=('run', 'position'), name='score_position_once_per_run')],
            },
        ),
        migrations.CreateModel(
            name='TrainedModel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('progress_done', models.PositiveIntegerField(default=0)),
                ('progress_total', models.PositiveIntegerField(default=0)),
                ('progress_note', models.CharField(blank=True, max_length=200)),
                ('attempt', models.PositiveSmallIntegerField(default=0)),
                ('lease_token', models.UUIDField(blank=True, editable=False, null=True)),
                ('lease_expires_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('started_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('finished_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('name', models.CharField(max_length=120)),
                ('slug', models.SlugField(max_length=60)),
                ('version', models.PositiveIntegerField()),
                ('kind', models.CharField(help_text='See metrics.scoring.models.kinds.', max_length=40)),
                ('options', models.JSONField(blank=True, default=dict, help_text='What may be chosen about a training of its kind.')),
                ('source', models.JSONField(blank=True, default=dict, help_text='Which texts of which data set or corpus, or which file.')),
                ('content', models.BinaryField(help_text='An uploaded file until it is trained on: any worker can read it here.', null=True)),
                ('training_hash', models.CharField(blank=True, help_text='SHA-256 over kind, options and texts: equal ones are trained once.', max_length=64)),
                ('digest', models.CharField(blank=True, help_text='SHA-256 of the model, as signatures name it.', max_length=64)),
                ('size', models.PositiveBigIntegerField(default=0, help_text='Bytes on disk.')),
                ('report', models.JSONField(blank=True, default=dict, help_text='What it was trained on, in numbers, and what it is.')),
                ('corpus', models.ForeignKey(blank=True, help_text='Whose texts it was trained on.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='trained_models', to='annotation.corpus')),
                ('dataset', models.ForeignKey(blank=True, help_text='Whose texts it was trained on.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='trained_models', to='annotation.dataset')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trained_models', to='annotation.project')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ('-id',),
                'abstract': False,
                'indexes': [models.Index(fields=['project', 'kind', 'training_hash'], name='trainedmodel_by_training')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='trainedmodel_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_expires_at__isnull', False), ('lease_token__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', True), ('lease_token__isnull', True)), _connector='OR'), name='trainedmodel_leased_only_while_running'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('done', 'failed', 'cancelled')), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='trainedmodel_finished_has_a_time'), models.UniqueConstraint(fields=('project', 'slug', 'version'), name='trainedmodel_version_once_per_name'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), models.Q(('digest', ''), _negated=True), _connector='OR'), name='trainedmodel_done_is_hashed')],
            },
        ),
        migrations.RunSQL(
            "ALTER TABLE metrics_scoreshard ALTER COLUMN segment_scores SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
