"""Indexes for the orders in which a release's references are browsed."""

from django.db import migrations, models
from django.db.models import F, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_evidence_of_weights")]
    operations = [
        migrations.AddIndex(
            "releaseweight",
            models.Index(
                F("release"),
                Coalesce(CombinedExpression(F("high"), "-", F("low")), Value(-1.0)),
                F("id"),
                name="weight_by_width",
            ),
        ),
        migrations.AddIndex(
            "releaseweight",
            models.Index(F("release"), Coalesce(F("rating_spread"), Value(-1.0)), F("id"), name="weight_by_spread"),
        ),
        migrations.AddIndex("releaseweight", models.Index(fields=["release", "n_ratings", "id"], name="weight_by_n")),
    ]
