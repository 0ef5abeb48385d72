"""Two systems' responses side by side."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotation.allocation.units import Plan, Source, all_pairs, plan_pairs
from annotation.campaigns.presentations.base import PresentationKind
from annotation.core.errors import AnnotationError


class Pair(PresentationKind):
    key = "pair"
    nouns = ("pair of responses", "pairs of responses")
    label = "Pair, side by side"
    choice = "Two systems' responses side by side"
    texts = (2, 2)
    form_texts = 2
    sentence = "two responses side by side"
    noun = "pair"
    spoken_of = ("two possible replies", "two texts", "A and B")
    compares_systems = True
    refused_targets = {
        "references": "Pairs compare systems: rate system outputs, or show references singly or as a list.",
        "listed": "Pairs compare systems, and a list names responses: show them singly or as lists.",
    }

    @property
    def invitation(self) -> str:
        return gettext("You read two texts and compare or rate them.")

    def plan(self, sources: Sequence[Source], *, pairs: Sequence[Sequence[str]], seed: int) -> Plan:
        systems = sorted({str(source.system) for source in sources})
        if sources and len(systems) < 2:
            raise AnnotationError(f"A pair needs two systems; there are outputs of {systems[0]} only.")
        compared = [(first, second) for first, second in pairs] or all_pairs(systems)
        if missing := sorted({str(system) for pair in compared for system in pair} - set(systems)):
            raise AnnotationError(f"Pairs name systems without outputs to rate: {', '.join(missing)}.")
        return plan_pairs(sources, compared)

    def shown(self, n_responses: int, n_items: int) -> float:
        return 2.0

    def after_stopping(self, system: str) -> str:
        return f"A pair goes on where its text of {system} is also that of a system that is not stopped."
