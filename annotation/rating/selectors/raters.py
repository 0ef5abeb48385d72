"""Read how a rater came."""

from annotation.models import Campaign, Rater, Submission


def is_recruited(rater: Rater, campaign: Campaign) -> bool:
    """Return whether the rater came to this campaign through a provider."""
    return Submission.objects.filter(rater=rater, recruitment__campaign=campaign).exists()
