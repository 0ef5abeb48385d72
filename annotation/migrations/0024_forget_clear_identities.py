"""Write the tables anew: what a dropped column or an earlier version of a row held is still in the old files."""

from django.db import migrations

TABLES = ("annotation_rateridentity", "annotation_submission", "annotation_providerevent", "annotation_recruitment")


class Migration(migrations.Migration):

    atomic = False  # VACUUM refuses to run in a transaction

    dependencies = [
        ('annotation', '0023_identities_encrypted'),
    ]

    operations = [
        migrations.RunSQL([f"VACUUM (FULL, ANALYZE) {table}" for table in TABLES], migrations.RunSQL.noop, elidable=True)
    ]
