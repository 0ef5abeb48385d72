"""Reads over one rater."""

from annotation.models import Campaign, Rater, Submission


def is_recruited(rater: Rater, campaign: Campaign) -> bool:
    """Whether the rater came to this campaign through a provider."""
    return Submission.objects.filter(rater=rater, recruitment__campaign=campaign).exists()
