from django.db import migrations

# Results in an earlier form say neither what each row is worth nor how raters agree, and cannot be shown.
EARLIER = """
UPDATE correlations_study
   SET state = 'failed', result = NULL, error = 'An earlier version computed it, with less in its report. Run it again.'
 WHERE state = 'done' AND (result ->> 'version')::int IS DISTINCT FROM 7
"""


class Migration(migrations.Migration):
    dependencies = [("correlations", "0004_signatures_of_content")]
    operations = [migrations.RunSQL(EARLIER, migrations.RunSQL.noop)]
