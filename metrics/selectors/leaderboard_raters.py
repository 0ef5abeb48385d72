"""The columns of raters on a leaderboard: a column for each criterion, marked as the results mark it."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from annotation.core.numbers import finite_or_none
from annotation.models import System
from annotation.results.selectors.leading import TIED, leading
from annotation.results.selectors.verdicts import CriterionVerdict
from metrics.selectors.leaderboard_table import Cell, Column
from metrics.selectors.run_items import ItemSet
from metrics.selectors.system_ratings import LEAST_SYSTEMS, CampaignRatings


def rater_columns(ratings: Sequence[CampaignRatings], shown: AbstractSet[str]) -> list[Column]:
    """Return a column for each criterion on which raters compared two or more of these systems."""
    made = [
        (each, verdict)
        for each in ratings
        for verdict in each.criteria
        if sum(not shown.isdisjoint(system.names) for system in verdict.systems) >= LEAST_SYSTEMS
    ]
    campaigns = {each.campaign for each, _ in made}
    return [_column(each, verdict, place, is_one=len(campaigns) == 1) for place, (each, verdict) in enumerate(made)]


def _column(ratings: CampaignRatings, verdict: CriterionVerdict, place: int, *, is_one: bool) -> Column:
    found = leading(verdict)
    items = ItemSet(ratings.results.items, 0, f"rated in {ratings.name}")
    column = Column(
        f"h{ratings.campaign}-{place}",
        "Raters",
        True,
        True,
        ratings=ratings,
        verdict=verdict,
        items=items,
        digits=2,
        is_tested=bool(found.first and len(found.apart) < len(verdict.systems) - 1),
        best=[found.first] if found.first else [],
        tied=[*found.tied, *found.ahead],
        apart=found.apart,
        is_beaten=bool(found.ahead),
    )
    of = [verdict.criterion] if len(ratings.criteria) > 1 else []
    told_by = [*of, *([] if is_one else [f"“{ratings.name}”"])]
    column.name = f"Raters: {', '.join(told_by)}" if told_by else "Raters"
    return column


def rater_cells(column: Column, systems: Sequence[System]) -> dict[int, Cell]:
    """Return what the raters say of these systems, each with its standing in the results."""
    if column.verdict is None:
        return {}
    return dict(_cells(column.verdict, {system.name: system.pk for system in systems}))


def _cells(verdict: CriterionVerdict, ids: Mapping[str, int]) -> Iterator[tuple[int, Cell]]:
    found = leading(verdict)
    for each in verdict.systems:
        for name in each.names:
            if name not in ids:
                continue
            pair, standing = verdict.pair(found.first, each.name), found.standing(each.name)
            yield (
                ids[name],
                Cell(
                    finite_or_none(each.estimate),
                    finite_or_none(each.low),
                    finite_or_none(each.high),
                    reason=verdict.reason or "not all of these systems can be compared" * bool(verdict.parts),
                    p_best=finite_or_none(pair.adjusted) if pair else None,
                    standing="" if standing == TIED and each.first_rank > 1 else standing,
                    items=each.items,
                    first_place=each.first_rank,
                ),
            )
