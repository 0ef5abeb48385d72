"""All responses to an item in one list."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotation.allocation.units import MAX_LIST, Plan, Source, plan_lists
from annotation.campaigns.presentations.base import PresentationKind


class AllInList(PresentationKind):
    key = "list"
    nouns = ("list of responses", "lists of responses")
    label = "List"
    choice = "All responses to an item in one list, up to 25"
    texts = (2, MAX_LIST)
    form_texts = 6
    sentence = "all responses to an item in one list"
    noun = "list"
    spoken_of = ("list of",)
    keeps_lists = True

    @property
    def invitation(self) -> str:
        return gettext("You read a list of texts and rate each of them.")

    def plan(self, sources: Sequence[Source], *, pairs: Sequence[Sequence[str]], seed: int) -> Plan:
        return plan_lists(sources, seed=seed)

    def shown(self, n_responses: int, n_items: int) -> float:
        return n_responses / max(n_items, 1)

    def after_stopping(self, system: str) -> str:
        return f"Lists go on showing {system}: without it the others would be judged in other company."
