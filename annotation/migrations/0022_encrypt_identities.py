"""Encrypt the identities of raters, a batch at a time; until 0023 they stay in the clear, too."""

from django.db import migrations

from annotation.migrations._identities import fill


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('annotation', '0021_identities_to_encrypt'),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
