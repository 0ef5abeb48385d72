from django.db import migrations

# Results in an earlier form do not test whether a judge lies equally far from the ratings of every system.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 13
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0013_accuracy_of_further_pairs")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
