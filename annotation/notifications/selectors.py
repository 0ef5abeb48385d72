"""A member's notifications."""

from dataclasses import dataclass

from annotation.models import Delivery, DeliveryState, JobState, Membership
from annotation.notifications.kinds import KINDS

SHOWN = 20
BADGES = {
    DeliveryState.WAITING: JobState.QUEUED,
    DeliveryState.SENT: JobState.DONE,
    DeliveryState.FAILED: JobState.FAILED,
}


@dataclass(frozen=True)
class SentLine:
    """A delivery as the page shows it."""

    delivery: Delivery
    title: str
    link: str

    @property
    def status(self) -> str:
        """Return the state as badges name it."""
        return str(BADGES[DeliveryState(self.delivery.state)])


def deliveries_of(membership: Membership) -> list[SentLine]:
    """Return the member's last deliveries, newest first."""
    rows = Delivery.objects.filter(membership=membership).select_related("notification")[:SHOWN]
    lines = []
    for delivery in rows:
        kind, facts = KINDS.get(delivery.notification.kind), delivery.notification.facts
        title, link = (kind.title(facts), kind.link(facts)) if kind else (delivery.notification.kind, "")
        lines.append(SentLine(delivery, title, link))
    return lines
