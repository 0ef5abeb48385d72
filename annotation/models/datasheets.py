"""The answers of a manager in a campaign's datasheet; all others come from the record."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from annotation.models.accounts import SURVIVES_USER
from annotation.models.campaigns import Campaign


class Datasheet(models.Model):
    """Answers by number of the question, such as ``4.3.2``, or number and criterion, such as ``4.3.2:relevance``."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="datasheet")
    answers = models.JSONField(default=dict, blank=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, **SURVIVES_USER)
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"datasheet of {self.campaign_id}"
