import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        ('metrics', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ParameterStudy',
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
                ('specification', models.JSONField(help_text='Metric, references, systems, the parameters turned and their values.')),
                ('signature', models.CharField(help_text='SHA-256 of the canonical specification and of what it names.', max_length=64)),
                ('result', models.JSONField(blank=True, help_text='Curves, tables, counts; what the report shows.', null=True)),
                ('campaigns', models.ManyToManyField(help_text="Whose ratings of the systems' outputs count.", related_name='parameter_studies', to='annotation.campaign')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='parameter_studies', to='annotation.dataset')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parameter_studies', to='annotation.project')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='parameter_studies', to='annotation.release')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'parameter studies',
                'ordering': ('-id',),
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='parameterstudy_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_expires_at__isnull', False), ('lease_token__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', True), ('lease_token__isnull', True)), _connector='OR'), name='parameterstudy_leased_only_while_running'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('done', 'failed', 'cancelled')), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='parameterstudy_finished_has_a_time'), models.UniqueConstraint(fields=('project', 'signature'), name='parameter_study_once_per_signature')],
            },
        ),
        migrations.CreateModel(
            name='Study',
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
                ('specification', models.JSONField(help_text='Metrics, reference subsets, systems and pairs, criterion, unit design, seed.')),
                ('signature', models.CharField(help_text='SHA-256 of the canonical specification and of what it names.', max_length=64)),
                ('result', models.JSONField(blank=True, help_text='Table, sweeps, counts; what the report shows.', null=True)),
                ('campaigns', models.ManyToManyField(help_text='Whose ratings of the hypotheses count.', related_name='studies', to='annotation.campaign')),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='annotation.dataset')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='studies', to='annotation.project')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='annotation.release')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('score_runs', models.ManyToManyField(blank=True, related_name='studies', to='metrics.scorerun')),
            ],
            options={
                'verbose_name_plural': 'studies',
                'ordering': ('-id',),
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='study_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('lease_expires_at__isnull', False), ('lease_token__isnull', False), ('state', 'running')), models.Q(models.Q(('state', 'running'), _negated=True), ('lease_expires_at__isnull', True), ('lease_token__isnull', True)), _connector='OR'), name='study_leased_only_while_running'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', False), ('state__in', ('done', 'failed', 'cancelled'))), models.Q(models.Q(('state__in', ('done', 'failed', 'cancelled')), _negated=True), ('finished_at__isnull', True)), _connector='OR'), name='study_finished_has_a_time'), models.UniqueConstraint(fields=('project', 'signature'), name='study_once_per_signature')],
            },
        ),
    ]
