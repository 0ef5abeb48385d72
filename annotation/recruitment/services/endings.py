"""How a stay ends, told to the provider by a completion code. Ratings are committed long before."""

from collections.abc import Mapping

from django.db import transaction
from django.db.models.functions import Now

from annotation.models import Campaign, Rater, Submission
from annotation.rating.selectors.endings import Ending, Stay
from annotation.recruitment.providers.base import Arrival, Completion, Outcome
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.arrivals import LET_GO, current_submission
from annotation.recruitment.services.terms import terms_of

OUTCOMES: Mapping[Ending, Outcome] = {
    Ending.COMPLETED: Outcome.COMPLETED,
    Ending.FAILED_QUALIFICATION: Outcome.FAILED_QUALIFICATION,
    Ending.EXCLUDED: Outcome.FAILED_ATTENTION,
    Ending.RAN_OUT: Outcome.OUT_OF_WORK,
}


def stay_end(*, campaign: Campaign, rater: Rater, stay: Stay) -> tuple[Submission, Completion] | None:
    """The rater has reached the last page. None where the rater did not come through a provider.

    Whoever stops too early gets no code: there is more to do, or the submission is returned at the provider.
    """
    submission = current_submission(rater, campaign.pk)
    if submission is None:
        return None
    outcome = OUTCOMES.get(stay.ending)
    if outcome is None or submission.status in LET_GO:
        return submission, Completion()
    return submission, _end(submission, outcome)


def stay_decline(*, campaign: Campaign, rater: Rater) -> tuple[Submission, Completion] | None:
    """The rater does not agree to take part."""
    submission = current_submission(rater, campaign.pk)
    return None if submission is None else (submission, _end(submission, Outcome.NO_CONSENT))


def stay_turned_away(*, submission: Submission, outcome: Outcome) -> Completion:
    """Nothing can be done here, through no fault of the rater's."""
    return _end(submission, outcome)


@transaction.atomic
def _end(submission: Submission, outcome: Outcome) -> Completion:
    """Write down which code was given, then say where to go with it."""
    submission = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("recruitment", "rater__identity")
        .get(pk=submission.pk)
    )
    recruitment = submission.recruitment
    identity = getattr(submission.rater, "identity", None)
    arrival = Arrival(
        rater=identity.external_id if identity else "",
        study=recruitment.external_id,
        session=submission.external_id,
        return_to=submission.submit_to,
    )
    completion = provider_of(recruitment.provider).completion(arrival, outcome, terms_of(recruitment).codes)
    if (submission.outcome, submission.code) != (outcome.value, completion.code):
        submission.outcome, submission.code = outcome.value, completion.code
        submission.save(update_fields=["outcome", "code"])
        Submission.objects.filter(pk=submission.pk).update(updated_at=Now())
    return completion
