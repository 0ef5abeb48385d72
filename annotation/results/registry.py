"""What apps above this one offer on a campaign's results. They register it when they are ready."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from annotation.models import Campaign


class Companion(NamedTuple):
    """A page that goes on from the results: what it is, a sentence, and the button that leads there.

    ``for_managers``: what it leads to is not for viewers.
    """

    title: str
    text: str
    action: str
    url: str
    for_managers: bool = False


CompanionSource = Callable[[Campaign], Companion | None]  # None if there is nothing to offer for this campaign
COMPANIONS: list[CompanionSource] = []


def register(*sources: CompanionSource) -> None:
    COMPANIONS.extend(sources)


def companions(campaign: Campaign, *, manages: bool) -> Iterator[Companion]:
    """Yield what there is for a campaign."""
    for source in COMPANIONS:
        companion = source(campaign)
        if companion and (manages or not companion.for_managers):
            yield companion
