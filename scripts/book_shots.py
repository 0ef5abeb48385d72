"""What a page of the picture book is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Page

Act = Callable[[Page], object]


@dataclass(frozen=True)
class Shot:
    """``of`` names a page of the prepared world, ``more`` what follows its address; without ``text``, not shown."""

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
    """A rater's way through one campaign; each shot's act leads to it."""

    campaign: str
    shots: list[Shot] = field(default_factory=list)
    locale: str = ""
