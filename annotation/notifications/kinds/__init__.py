"""The registry of kinds of notifications; apps above add theirs when they are loaded."""

from annotation.models import Role
from annotation.notifications.kinds.base import Kind as Kind
from annotation.notifications.kinds.campaign_full import CAMPAIGN_FULL
from annotation.notifications.kinds.money_nearly_spent import MONEY_NEARLY_SPENT
from annotation.notifications.kinds.raters_excluded import RATERS_EXCLUDED
from annotation.notifications.kinds.trial import TRIAL

KINDS: dict[str, Kind] = {kind.key: kind for kind in (CAMPAIGN_FULL, RATERS_EXCLUDED, MONEY_NEARLY_SPENT, TRIAL)}


def kind_register(kind: Kind) -> None:
    """Add a kind of another app."""
    KINDS[kind.key] = kind


def offered_kinds(role: Role) -> list[Kind]:
    """Return the kinds that a member in this role can choose."""
    return [kind for kind in KINDS.values() if kind.offered and kind.role.rank <= role.rank]


def kind_of_job(label: str) -> Kind | None:
    """Return the kind that is about the end of such a job."""
    return next((kind for kind in KINDS.values() if label in kind.jobs), None)
