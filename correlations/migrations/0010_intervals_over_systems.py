from django.db import migrations

# Intervals over systems, raters and items are computed otherwise; draws over sampled units are in shards.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 10
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0009_studies_of_few_raters")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
