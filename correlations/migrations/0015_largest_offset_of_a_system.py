from django.db import migrations

# Results in an earlier form have other tests of a judge's offsets, and no intervals of agreement below 40 items.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 14
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0014_offsets_of_systems")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
