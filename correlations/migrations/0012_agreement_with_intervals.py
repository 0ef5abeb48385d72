from django.db import migrations

# Results in an earlier form have no intervals of raters' agreement, and no scale that a judge was taken to have.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 11
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0011_verifications_of_parameter_studies")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
