"""Encrypt the identities of raters, a batch at a time."""

from django.db import migrations

from annotation.migrations._identities import encrypt


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('annotation', '0021_identities_to_encrypt'),
    ]

    operations = [migrations.RunPython(encrypt, migrations.RunPython.noop, elidable=True)]
