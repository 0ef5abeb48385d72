"""Pages of docs/screens and journeys through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Page

Act = Callable[[Page], object]


@dataclass(frozen=True)
class Shot:
    """A screenshot of the page ``of`` plus ``more``; without ``text`` it is not in the README."""

    area: str
    name: str
    title: str
    text: str
    of: str = ""
    more: str = ""
    act: Act | None = None

    def address(self, paths: dict[str, str]) -> str:
        return paths[self.of] + self.more


@dataclass(frozen=True)
class Journey:
    """A rater's path through a campaign; the act of each shot leads to it."""

    campaign: str
    shots: list[Shot] = field(default_factory=list)
    locale: str = ""
