from django.db import migrations

# Results in an earlier form cannot be shown, and counted items that no one rated. Run again, a study has a new one.
EARLIER = """
UPDATE correlations_{table}
   SET state = 'failed', result = NULL,
       error = 'An earlier version computed it, and counted items without ratings. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM {version}
"""


class Migration(migrations.Migration):

    dependencies = [
        ('correlations', '0002_study_without_release'),
    ]

    operations = [
        migrations.RunSQL(EARLIER.format(table='study', version=4), migrations.RunSQL.noop),
        migrations.RunSQL(EARLIER.format(table='parameterstudy', version=2), migrations.RunSQL.noop),
    ]
