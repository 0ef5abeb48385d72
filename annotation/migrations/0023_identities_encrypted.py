"""Drop the identities in the clear, once those that were written or changed meanwhile are encrypted, too."""

import django.contrib.postgres.fields
from django.db import migrations, models

from annotation.migrations._identities import finish

TABLES = "annotation_rateridentity, annotation_submission, annotation_providerevent"


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0022_encrypt_identities'),
    ]

    operations = [
        migrations.RunSQL(
            f"SET LOCAL lock_timeout = '2s'; LOCK TABLE {TABLES} IN ACCESS EXCLUSIVE MODE; SET LOCAL lock_timeout = 0",
            migrations.RunSQL.noop,
        ),
        migrations.RunPython(finish, migrations.RunPython.noop, elidable=True),
        migrations.RemoveConstraint('rateridentity', 'identity_once_per_project_and_provider'),
        migrations.RemoveConstraint('submission', 'submission_once_per_recruitment'),
        migrations.RemoveField('rateridentity', 'external_id'),
        migrations.RemoveField('rateridentity', 'session'),
        migrations.RemoveField('submission', 'external_id'),
        migrations.RemoveField('providerevent', 'payload'),
        migrations.RemoveField('providerevent', 'error'),
        migrations.AlterField(
            'rateridentity', 'local_id', models.CharField(blank=True, help_text='The number of an account here, or what a stand-in stands for.', max_length=200)
        ),
        migrations.AlterField(
            'rateridentity', 'sealed', models.TextField(blank=True, editable=False, help_text='The id elsewhere and the session, encrypted.')
        ),
        migrations.AlterField('rateridentity', 'digest', models.CharField(blank=True, editable=False, max_length=73)),
        migrations.AlterField(
            'rateridentity',
            'session_digest',
            models.CharField(blank=True, editable=False, help_text='Of the submission under which an unconfirmed id came; empty if confirmed.', max_length=73),
        ),
        migrations.AlterField(
            'submission', 'sealed', models.TextField(blank=True, editable=False, help_text="The provider's id, encrypted; empty once erased.")
        ),
        migrations.AlterField('submission', 'digest', models.CharField(editable=False, max_length=73)),
        migrations.AlterField(
            'providerevent', 'sealed_payload', models.TextField(blank=True, editable=False, help_text='The message, encrypted.')
        ),
        migrations.AlterField(
            'providerevent',
            'sealed_error',
            models.TextField(blank=True, editable=False, help_text='It may name a submission: encrypted.'),
        ),
        migrations.AlterField(
            'providerevent',
            'digests',
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=73), default=list, editable=False, help_text='Of all its texts.', size=None
            ),
        ),
        migrations.AddConstraint(
            'rateridentity',
            models.UniqueConstraint(
                fields=('project', 'provider', 'local_id', 'digest', 'session_digest'), name='identity_once_per_project_and_provider'
            ),
        ),
        migrations.AddConstraint(
            'rateridentity',
            models.CheckConstraint(
                condition=models.Q(
                    models.Q(('digest', ''), ('provider__in', ('account', 'aggregate')), ('sealed', '')),
                    models.Q(('local_id', ''), models.Q(('sealed', ''), _negated=True)),
                    _connector='OR',
                ),
                name='identity_from_elsewhere_is_sealed',
            ),
        ),
        migrations.AddConstraint(
            'submission', models.UniqueConstraint(fields=('recruitment', 'digest'), name='submission_once_per_recruitment')
        ),
    ]
