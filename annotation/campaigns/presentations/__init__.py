"""The kinds of presentations that a campaign can have."""

from annotation.campaigns.presentations.base import PresentationKind
from annotation.campaigns.presentations.lists import AllInList
from annotation.campaigns.presentations.pair import Pair
from annotation.campaigns.presentations.single import Single

KINDS: tuple[PresentationKind, ...] = (
    Single(),
    Pair(),
    AllInList(),
)
PRESENTATIONS = {kind.key: kind for kind in KINDS}
COMPARING = [kind.key for kind in KINDS if kind.compares_systems]


def presentation_choices() -> list[tuple[str, str]]:
    return [(kind.key, kind.label) for kind in KINDS]


__all__ = [
    "COMPARING",
    "KINDS",
    "PRESENTATIONS",
    "AllInList",
    "Pair",
    "PresentationKind",
    "Single",
    "presentation_choices",
]
