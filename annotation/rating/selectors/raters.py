"""Read how a rater came."""

from collections.abc import Sequence

from annotation.models import Campaign, Rater, RaterIdentity, Submission


def is_recruited(rater: Rater, campaign: Campaign) -> bool:
    """Return whether the rater came to this campaign through a provider."""
    return Submission.objects.filter(rater=rater, recruitment__campaign=campaign).exists()


def imported_names(rater_ids: Sequence[int]) -> dict[int, str]:
    """Return what files of ratings call these raters, for managers; raters who came otherwise are left out."""
    rows = RaterIdentity.objects.filter(rater__in=rater_ids, provider=RaterIdentity.IMPORT)
    return {row.rater_id: row.shown_id for row in rows}
