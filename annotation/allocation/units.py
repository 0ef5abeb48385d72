"""Plans of a campaign's units: single responses, pairs, lists, or items alone; identical texts once.

A response is a text of an item. Systems that wrote the same text share the response, so its id identifies the text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from annotation.allocation.seeds import derive_seed, permutation

MAX_LIST = 25

System = str | int  # a name or an id, one kind throughout


class Source(NamedTuple):
    """The response of a system (or another origin) to an item."""

    item: int
    system: System
    response: int


class PlannedUnit(NamedTuple):
    """A screen: the shown responses of an item, if any, and all systems that gave them."""

    item: int
    responses: tuple[int, ...]
    systems: tuple[System, ...]


@dataclass(frozen=True)
class Plan:
    """The units of a campaign, and what identical texts saved.

    Attributes
    ----------
    units : in the order in which their items were given; ``interleaving.interleaved`` mixes them.
    n_responses : different responses shown.
    n_shared : sources beyond the first of their response: outputs also rated under another system's name.
    n_identical_pairs : system pairs with identical outputs; they are tied without a unit.
    n_repeated_pairs : system pairs whose two texts another pair of the same item already shows.
    n_missing_pairs : system pairs of which a system has no response to the item.
    n_split_items : items whose responses needed more than one list.
    """

    units: tuple[PlannedUnit, ...]
    n_responses: int
    n_shared: int
    n_identical_pairs: int = 0
    n_repeated_pairs: int = 0
    n_missing_pairs: int = 0
    n_split_items: int = 0


class _Item:
    """The responses of one item, in the order given, with the systems that wrote them."""

    def __init__(self) -> None:
        self.systems_of: dict[int, list[System]] = {}
        self.responses_of: dict[System, list[int]] = {}

    def add(self, system: System, response: int) -> None:
        self.systems_of.setdefault(response, []).append(system)
        self.responses_of.setdefault(system, []).append(response)

    def unit(self, item: int, responses: Iterable[int]) -> PlannedUnit:
        chosen = tuple(responses)
        systems = dict.fromkeys(system for response in chosen for system in self.systems_of[response])
        return PlannedUnit(item, chosen, tuple(systems))


def plan_singles(sources: Iterable[Source]) -> Plan:
    """Plan a unit per different response.

    >>> plan = plan_singles([Source(1, "A", 10), Source(1, "B", 10), Source(1, "C", 11)])
    >>> plan.units[0]
    PlannedUnit(item=1, responses=(10,), systems=('A', 'B'))
    >>> len(plan.units), plan.n_shared
    (2, 1)
    """
    items = _by_item(sources)
    units = [entry.unit(item, [response]) for item, entry in items.items() for response in entry.systems_of]
    return _plan(items, units)


def plan_items(items: Iterable[int]) -> Plan:
    """Plan a unit per item that shows the item alone.

    >>> plan_items([1, 2]).units
    (PlannedUnit(item=1, responses=(), systems=()), PlannedUnit(item=2, responses=(), systems=()))
    """
    return Plan(tuple(PlannedUnit(item, (), ()) for item in items), 0, 0)


def plan_pairs(sources: Iterable[Source], pairs: Sequence[tuple[System, System]]) -> Plan:
    """Plan a unit per item and pair of systems, unless both texts are the same or another pair shows the same two.

    Parameters
    ----------
    sources : iterable of Source
    pairs : the system pairs to compare; :func:`all_pairs` gives every pair of some systems.

    Raises
    ------
    ValueError
        A pair of a system with itself, a pair given twice, a system without sources, or a system with several responses
        to an item.

    Examples
    --------
    >>> sources = [Source(1, "A", 10), Source(1, "B", 10), Source(1, "C", 11)]
    >>> plan = plan_pairs(sources, all_pairs(["A", "B", "C"]))
    >>> plan.units
    (PlannedUnit(item=1, responses=(10, 11), systems=('A', 'B', 'C')),)
    >>> plan.n_identical_pairs, plan.n_repeated_pairs
    (1, 1)
    """
    items = _by_item(sources)
    _check_pairs(items, pairs)
    units: list[PlannedUnit] = []
    identical = repeated = missing = 0
    for item, entry in items.items():
        planned: set[frozenset[int]] = set()
        for first, second in pairs:
            if first not in entry.responses_of or second not in entry.responses_of:
                missing += 1
                continue
            both = (_only_response(item, entry, first), _only_response(item, entry, second))
            if both[0] == both[1]:
                identical += 1
            elif frozenset(both) in planned:
                repeated += 1
            else:
                planned.add(frozenset(both))
                units.append(entry.unit(item, both))
    return _plan(items, units, n_identical_pairs=identical, n_repeated_pairs=repeated, n_missing_pairs=missing)


def plan_lists(sources: Iterable[Source], *, seed: int, max_size: int = MAX_LIST) -> Plan:
    """Plan a unit per item with all its different responses, split at random into even parts above ``max_size``.

    Parameters
    ----------
    sources : iterable of Source
    seed : int
        Decides which responses go together when a list is split.
    max_size : int
        1 to 25.

    Raises
    ------
    ValueError
        ``max_size`` outside its range.

    Examples
    --------
    >>> plan = plan_lists([Source(1, "mined", response) for response in range(6)], seed=3, max_size=4)
    >>> [len(unit.responses) for unit in plan.units], plan.n_split_items
    ([3, 3], 1)
    """
    if not 1 <= max_size <= MAX_LIST:
        raise ValueError(f"max_size is {max_size}; accepted: 1 to {MAX_LIST}")
    items = _by_item(sources)
    units: list[PlannedUnit] = []
    split = 0
    for item, entry in items.items():
        responses = list(entry.systems_of)
        parts = -(-len(responses) // max_size)
        if parts > 1:
            split += 1
            responses = [responses[index] for index in permutation(derive_seed(seed, "list", item), len(responses))]
        units.extend(entry.unit(item, responses[part::parts]) for part in range(parts))
    return _plan(items, units, n_split_items=split)


def all_pairs(systems: Sequence[System]) -> list[tuple[System, System]]:
    """Return every pair of the systems, each once.

    >>> all_pairs(["A", "B", "C"])
    [('A', 'B'), ('A', 'C'), ('B', 'C')]
    """
    return list(combinations(systems, 2))


def _by_item(sources: Iterable[Source]) -> dict[int, _Item]:
    items: dict[int, _Item] = {}
    seen: set[Source] = set()
    owner: dict[int, int] = {}
    for source in sources:
        if owner.setdefault(source.response, source.item) != source.item:
            raise ValueError(
                f"response {source.response} belongs to item {owner[source.response]} and to item {source.item}; "
                "accepted: responses of one item each"
            )
        if source not in seen:
            seen.add(source)
            items.setdefault(source.item, _Item()).add(source.system, source.response)
    return items


def _check_pairs(items: dict[int, _Item], pairs: Sequence[tuple[System, System]]) -> None:
    known = {system for entry in items.values() for system in entry.responses_of}
    seen: set[frozenset[System]] = set()
    for first, second in pairs:
        for system in (first, second):
            if system not in known:
                raise ValueError(
                    f"pair ({first}, {second}): no response of {system!r}; accepted: {sorted(known, key=str)}"
                )
        if first == second:
            raise ValueError(f"pair ({first}, {second}): accepted: two different systems")
        if frozenset((first, second)) in seen:
            raise ValueError(f"pair ({first}, {second}) is given twice; accepted: each pair once, in either order")
        seen.add(frozenset((first, second)))


def _only_response(item: int, entry: _Item, system: System) -> int:
    responses = entry.responses_of[system]
    if len(responses) > 1:
        raise ValueError(f"item {item}: {system!r} has {len(responses)} responses; accepted in pairs: one per system")
    return responses[0]


def _plan(items: dict[int, _Item], units: list[PlannedUnit], **counts: int) -> Plan:
    shown = {response for unit in units for response in unit.responses}
    systems_of = {response: systems for entry in items.values() for response, systems in entry.systems_of.items()}
    n_shared = sum(len(systems_of[response]) - 1 for response in shown)
    return Plan(tuple(units), len(shown), n_shared, **counts)
