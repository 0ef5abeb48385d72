"""Columns for encrypted identities of raters, beside those in the clear; 0022 fills them."""

from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models


def text() -> models.TextField[str, str]:
    return models.TextField(blank=True, db_default="", editable=False)


def digest() -> models.CharField[str, str]:
    return models.CharField(max_length=73, blank=True, db_default="", editable=False)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0020_signing_in'),
    ]

    operations = [
        migrations.AddField('rateridentity', 'local_id', models.CharField(max_length=200, blank=True, db_default="")),
        migrations.AddField('rateridentity', 'sealed', text()),
        migrations.AddField('rateridentity', 'digest', digest()),
        migrations.AddField('rateridentity', 'session_digest', digest()),
        migrations.AddField('submission', 'sealed', text()),
        migrations.AddField('submission', 'digest', digest()),
        migrations.AddField('providerevent', 'sealed_payload', text()),
        migrations.AddField('providerevent', 'sealed_error', text()),
        migrations.AddField(
            'providerevent',
            'digests',
            django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=73), db_default=[], editable=False, size=None),
        ),
    ]
