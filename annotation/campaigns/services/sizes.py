"""How many answers a draft would take with each presentation, before one is chosen."""

from annotation.allocation.units import Plan
from annotation.campaigns.presentations import KINDS
from annotation.campaigns.presentations.base import PresentationKind
from annotation.campaigns.selectors import rated_sources
from annotation.campaigns.services.launch import sources_to_rate
from annotation.core.errors import AnnotationError
from annotation.core.numbers import counted
from annotation.models import Campaign

MOST_SOURCES = 20_000  # a page plans so many for each presentation


def presentation_sizes(campaign: Campaign) -> list[str]:
    """Return a sentence for each presentation that the draft can have; none for a large data set, or without raters."""
    if campaign.writing or rated_sources(campaign)[: MOST_SOURCES + 1].count() > MOST_SOURCES:
        return []
    sources, found = sources_to_rate(campaign), []
    for kind in KINDS:
        if campaign.target in kind.refused_targets:
            continue
        try:
            plan = kind.plan(sources, pairs=campaign.pairs if kind.compares_systems else [], seed=campaign.seed)
        except AnnotationError:
            continue
        if plan.units:
            found.append(_sentence(kind, plan, campaign.ratings_per_unit))
    return found


def _sentence(kind: PresentationKind, plan: Plan, raters: int) -> str:
    n = len(plan.units)
    size = f"{kind.choice}: {counted(n, *kind.nouns)} × {counted(raters, 'rater')} = {counted(n * raters, 'answer')}"
    texts = sum(len(unit.responses) for unit in plan.units)
    size += f", in which {texts * raters:,} texts are judged." if kind.shows_several else "."
    if saved := plan.n_identical_pairs + plan.n_repeated_pairs:
        size += f" Of {n + saved:,} pairs {saved:,} need none: their texts are identical, or another pair shows them."
    return size
