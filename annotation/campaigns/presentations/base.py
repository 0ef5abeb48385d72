"""Kinds of presentations: what a screen shows, and what follows from it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.utils.translation import gettext

from annotation.allocation.units import Plan, Source


class PresentationKind(ABC):
    """A kind of presentation; each is a subclass in its own file.

    Attributes
    ----------
    nouns : what a rater answers at once, one and many.
    label, choice : its name in lists of campaigns, and in the form that designs one.
    texts : fewest and most responses on a screen.
    form_texts : how many fields for texts the form of a prepared screen offers.
    compares_systems : a screen shows two systems' responses side by side.
    keeps_lists : what an item's screen shows stays as it is, so that its ratings remain comparable.
    refused_targets : target of a campaign -> why it cannot be shown so.
    sentence : what a screen shows, in the methods paragraph and the datasheet.
    noun : what one screen shows, in the methods paragraph: "360 pairs".
    spoken_of : words by which instructions speak of such a screen, and of no other.
    """

    key: ClassVar[str]
    nouns: ClassVar[tuple[str, str]] = ("response", "responses")
    label: ClassVar[str]
    choice: ClassVar[str]
    texts: ClassVar[tuple[int, int]]
    form_texts: ClassVar[int]
    sentence: ClassVar[str]
    noun: ClassVar[str]
    spoken_of: ClassVar[tuple[str, ...]] = ()
    compares_systems: ClassVar[bool] = False
    keeps_lists: ClassVar[bool] = False
    refused_targets: ClassVar[Mapping[str, str]] = {}

    @property
    def shows_several(self) -> bool:
        """Whether the order on screen matters; it is then balanced over the slots of each unit."""
        return self.texts[1] > 1

    @property
    @abstractmethod
    def invitation(self) -> str:
        """What a rater will do, in the rater's language."""

    @property
    def invitation_to_write(self) -> str:
        """What a rater will do if texts are written."""
        return gettext("You read one item at a time and write a text about it.")

    @abstractmethod
    def plan(self, sources: Sequence[Source], *, pairs: Sequence[Sequence[str]], seed: int) -> Plan:
        """Return the screens that show the responses. Raise AnnotationError if they cannot be shown so."""

    @abstractmethod
    def shown(self, n_responses: int, n_items: int) -> float:
        """Return how many responses a screen shows on average."""

    @abstractmethod
    def after_stopping(self, system: str) -> str:
        """Return what screens that show a stopped system go on to do."""
