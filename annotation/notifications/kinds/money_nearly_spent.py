"""Most of a recruitment's rewards are paid."""

from decimal import Decimal

from django.urls import reverse

from annotation.models import Role
from annotation.notifications.kinds.base import Kind

SHARE = Decimal("0.8")  # of the planned rewards

MONEY_NEARLY_SPENT = Kind(
    key="money_nearly_spent",
    label="Money is nearly spent",
    when="Four fifths of a recruitment's planned rewards are paid, bonuses included: add places, or let it end.",
    title=lambda facts: f"“{facts['recruitment']}” has spent {facts['spent']} of {facts['planned']}",
    text=lambda facts: (
        f"The recruitment “{facts['recruitment']}” has paid {facts['spent']} of {facts['planned']} "
        f"{facts['currency']}".rstrip()
        + ", without the provider's fees."
    ),
    link=lambda facts: reverse(
        "annotation:campaign-recruitment", args=[facts["project"], facts["campaign_pk"], facts["recruitment_pk"]]
    ),
    role=Role.MANAGER,
)
