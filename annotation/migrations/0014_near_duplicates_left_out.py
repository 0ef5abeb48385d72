"""Near-duplicates among mined candidates can be left out one by one."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0013_work_for_workers")]
    operations = [
        migrations.AddField(
            "minedcandidate",
            "left_out",
            models.BooleanField(
                default=False,
                db_default=False,
                help_text="A kept near-duplicate that is not to be added to the data set.",
            ),
        ),
        migrations.AddConstraint(
            "minedcandidate",
            models.CheckConstraint(
                condition=Q(left_out=False) | (Q(fate="kept") & ~Q(near_duplicate="")),
                name="candidate_left_out_is_near_duplicate",
            ),
        ),
    ]
