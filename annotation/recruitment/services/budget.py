"""Record that most of a recruitment's planned rewards are paid."""

from annotation.models import Recruitment
from annotation.notifications.kinds.money_nearly_spent import MONEY_NEARLY_SPENT, SHARE
from annotation.notifications.services.recording import notification_record
from annotation.recruitment import selectors
from annotation.recruitment.services.terms import terms_of


def money_check(recruitment: Recruitment) -> None:
    """Record, in the transaction of a payment, that four fifths of the planned rewards are paid: once for each plan."""
    terms = terms_of(recruitment)
    paid = sum(selectors.spent(recruitment))
    if not terms.pay or paid < SHARE * terms.pay:
        return
    campaign = recruitment.campaign
    notification_record(
        kind=MONEY_NEARLY_SPENT.key,
        project=campaign.project,
        key=f"{recruitment.pk}:{terms.pay}",
        facts={
            "recruitment": recruitment.name,
            "recruitment_pk": recruitment.pk,
            "campaign_pk": campaign.pk,
            "spent": str(paid),
            "planned": str(terms.pay),
            "currency": terms.currency,
        },
    )
