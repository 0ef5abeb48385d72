from django.db import migrations

# Whether a tested rater agrees with the others is missing from results in an earlier form.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 9
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0008_joint_studies")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
