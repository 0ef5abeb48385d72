"""Exclusion rules excluded raters."""

from django.urls import reverse

from annotation.core.numbers import counted
from annotation.notifications.kinds.base import Kind

RATERS_EXCLUDED = Kind(
    key="raters_excluded",
    label="Rules excluded a rater",
    when="Rules were applied and excluded someone: look at the evidence, and restore who was excluded by mistake.",
    title=lambda facts: f"{counted(facts['raters'], 'rater')} excluded from “{facts['campaign']}”",
    text=lambda facts: (
        f"Version {facts['rules']} of the rules excluded {counted(facts['raters'], 'rater')} from the campaign "
        f"“{facts['campaign']}”."
    ),
    link=lambda facts: reverse("annotation:campaign-quality", args=[facts["project"], facts["campaign_pk"]]),
)
