"""Report to the provider, by a completion code, how a submission ends. Ratings are committed before."""

from collections.abc import Mapping

import structlog
from django.db import transaction
from django.db.models.functions import Now

from annotation.models import Campaign, Rater, Submission
from annotation.models.identities import IdentityUnreadable
from annotation.rating.selectors.endings import Ending, Stay
from annotation.recruitment.providers.base import RELEASED, Arrival, Completion, Outcome
from annotation.recruitment.services.accounts import provider_of
from annotation.recruitment.services.arrivals import current_submission
from annotation.recruitment.services.terms import terms_of

log = structlog.get_logger()
OUTCOMES: Mapping[Ending, Outcome] = {
    Ending.COMPLETED: Outcome.COMPLETED,
    Ending.FAILED_QUALIFICATION: Outcome.FAILED_QUALIFICATION,
    Ending.EXCLUDED: Outcome.FAILED_ATTENTION,
    Ending.RAN_OUT: Outcome.OUT_OF_WORK,
}


def stay_end(*, campaign: Campaign, rater: Rater, stay: Stay) -> tuple[Submission, Completion] | None:
    """End the submission of a rater on the last page; None if the rater did not come through a provider.

    A rater who stops too early gets no code: they continue, or return the submission at the provider.
    """
    submission = current_submission(rater, campaign.pk)
    if submission is None:
        return None
    outcome = OUTCOMES.get(stay.ending)
    if outcome is None or submission.status in RELEASED:
        return submission, Completion()
    return submission, submission_end(submission=submission, outcome=outcome)


def stay_decline(*, campaign: Campaign, rater: Rater) -> tuple[Submission, Completion] | None:
    """End the submission of a rater who does not agree to take part."""
    submission = current_submission(rater, campaign.pk)
    if submission is None:
        return None
    return submission, submission_end(submission=submission, outcome=Outcome.NO_CONSENT)


@transaction.atomic
def submission_end(*, submission: Submission, outcome: Outcome) -> Completion:
    """Store the outcome and its code; return the rater's way back to the provider."""
    submission = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("recruitment", "rater__identity")
        .get(pk=submission.pk)
    )
    recruitment = submission.recruitment
    arrival = _arrival(submission)
    completion = provider_of(recruitment.provider).completion(arrival, outcome, terms_of(recruitment).codes)
    if (submission.outcome, submission.code) != (outcome.value, completion.code):
        submission.outcome, submission.code = outcome.value, completion.code
        submission.save(update_fields=["outcome", "code"])
        Submission.objects.filter(pk=submission.pk).update(updated_at=Now())
    return completion


def _arrival(submission: Submission) -> Arrival:
    """Return what the way back needs; if no key opens it, the way back that needs no id."""
    study, identity = submission.recruitment.external_id, getattr(submission.rater, "identity", None)
    try:
        rater = identity.external_id if identity else ""
        return Arrival(rater, study, submission.external_id, return_to=submission.submit_to)
    except IdentityUnreadable:
        log.error("no key opens a rater's ids: see SECRET_KEY_FALLBACKS", submission=submission.pk)
        return Arrival("", study, "")
