"""What must be settled with raters before recruitments can be deleted."""

from collections.abc import Iterator

from django.db.models import QuerySet

from annotation.core.numbers import counted
from annotation.models import Recruitment, RecruitmentState, Submission, SubmissionStatus
from annotation.recruitment.services.bonuses import batches_of

OPEN = (RecruitmentState.PUBLISHED, RecruitmentState.PAUSED)
UNPAID = (SubmissionStatus.ACTIVE, SubmissionStatus.AWAITING)


def unsettled(recruitments: QuerySet[Recruitment]) -> Iterator[str]:
    """Yield a sentence for each recruitment that is open, then for each whose raters wait for their pay.

    What was made by hand is settled at the provider's pages.
    """
    recruitments = recruitments.order_by("pk")
    for recruitment in recruitments.filter(state__in=OPEN):
        yield f"The recruitment “{recruitment}” is {recruitment.get_state_display().lower()}: stop it first."
    unpaid = Submission.objects.filter(recruitment__account__isnull=False, status__in=UNPAID)
    for recruitment in recruitments.filter(state=RecruitmentState.COMPLETED):
        if n := unpaid.filter(recruitment=recruitment).count():
            yield f"“{recruitment}” has {counted(n, 'submission')} neither approved nor ended: review first."
        if any(batch.open for batch in batches_of(recruitment)):
            yield f"A bonus payment of “{recruitment}” is neither paid nor discarded: settle it first."
