from django.db import migrations

# Results in an earlier form do not say how a metric orders the outputs of one system, or any two.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 12
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0012_agreement_with_intervals")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
