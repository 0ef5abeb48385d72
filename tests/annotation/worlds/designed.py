"""Campaigns with every option of a design, for tests of checks, qualification and scales."""

from typing import Any

from annotation.campaigns.services.lifecycle import campaign_launch
from annotation.models import Campaign, Criterion, Dataset
from tests.annotation.worlds.campaigns import make_campaign


def screen(text: str, low: float, high: float, *, criterion: str = "relevance", feedback: str = "") -> dict[str, Any]:
    """Return a prepared screen of one text with a known answer."""
    return {
        "item": "",
        "context": ["Hello."],
        "message": "How are you?",
        "feedback": feedback,
        "texts": [{"text": text, "expected": {criterion: [low, high]}}],
    }


QUALITY: dict[str, Any] = {
    "every": 4,
    "mix": {"gold": 1, "attention": 1, "repeat": 1, "degraded": 1, "anchor": 1},
    "repeat_gap": 2,
    "gold": [screen(f"Gold {number}", 4, 5) for number in range(3)],
    "attention": [screen("Please choose 1 here.", 1, 1)],
    "degraded": {"count": 3, "operations": ["drop", "swap", "foreign"]},
    "anchors": {"count": 3, "low": {"relevance": 4}},
}
QUALIFICATION: dict[str, Any] = {
    "training": [screen("Good.", 4, 5, feedback="It **answers** the question.")],
    "test": [screen("Fine, thanks!", 4, 5), screen("Bananas.", 1, 2)],
    "pass_mark": 1.0,
    "attempts": 2,
}


def make_designed(dataset: Dataset, *, criterion: dict[str, Any] | None = None, **columns: Any) -> Campaign:
    """Launch a campaign with the given columns, and the given columns of its criterion."""
    options = {name: columns.pop(name) for name in ("name", "presentation", "ratings_per_unit") if name in columns}
    campaign = make_campaign(dataset, launch=False, **options)
    Campaign.objects.filter(pk=campaign.pk).update(**columns)
    if criterion:
        Criterion.objects.filter(campaign=campaign).update(**criterion)
    campaign.refresh_from_db()
    return campaign_launch(campaign=campaign)
