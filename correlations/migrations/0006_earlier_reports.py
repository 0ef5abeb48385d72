from django.db import migrations

# Results in an earlier form lack parts of what their pages show.
EARLIER = """
UPDATE correlations_{table}
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM {version}
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0005_shards_of_resamples")]
    operations = [
        migrations.RunSQL(EARLIER.format(table="study", version=8), migrations.RunSQL.noop),
        migrations.RunSQL(EARLIER.format(table="parameterstudy", version=3), migrations.RunSQL.noop),
    ]
