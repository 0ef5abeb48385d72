"""One response at a time."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotation.allocation.units import Plan, Source, plan_singles
from annotation.campaigns.presentations.base import PresentationKind


class Single(PresentationKind):
    key = "single"
    label = "Single response"
    choice = "One response at a time"
    texts = (1, 1)
    form_texts = 1
    sentence = "one response at a time"
    noun = "response"
    spoken_of = ("one possible reply", "one text")

    @property
    def invitation(self) -> str:
        return gettext("You read one text at a time and rate it.")

    def plan(self, sources: Sequence[Source], *, pairs: Sequence[Sequence[str]], seed: int) -> Plan:
        return plan_singles(sources)

    def shown(self, n_responses: int, n_items: int) -> float:
        return 1.0

    def after_stopping(self, system: str) -> str:
        return f"A text that another system wrote word for word goes on, credited to {system} as well."
