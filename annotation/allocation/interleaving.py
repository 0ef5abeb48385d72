"""The order of a campaign's units, in which no system's outputs come in a run."""

from collections import deque
from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from annotation.allocation.handout import order_keys, systems_to_avoid
from annotation.allocation.units import PlannedUnit, System

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def interleaved(units: Sequence[PlannedUnit], *, seed: int) -> list[PlannedUnit]:
    """Put the units in a random order in which no system's outputs come in a run, as far as possible.

    The next unit is drawn at random among those that show none of :func:`systems_to_avoid`; a system that more than
    half of the remaining units show goes first, so that it does not pile up at the end. When every unit shows the
    output of one system only and no system has more than half of them (rounded up), no two neighbours share one.

    Parameters
    ----------
    units : sequence of PlannedUnit
    seed : int
        A bigint; decides every draw.

    Returns
    -------
    list of PlannedUnit
        The same units; the index in the list is the unit's position.

    Examples
    --------
    >>> units = [PlannedUnit(item, (item,), (system,)) for item, system in enumerate("AAABBC")]
    >>> "".join(unit.systems[0] for unit in interleaved(units, seed=4))
    'BABACA'
    """
    if not units:
        return []
    sets = list(dict.fromkeys(frozenset(unit.systems) for unit in units))
    column = {system: index for index, system in enumerate(dict.fromkeys(chain(*(unit.systems for unit in units))))}
    shows = np.array([[system in group for system in column] for group in sets], dtype=np.bool_)
    waiting, keys = _queues(units, sets, seed)
    head = np.array([keys[queue[0]] for queue in waiting])
    count = np.array([len(queue) for queue in waiting])
    order: list[PlannedUnit] = []
    for left in range(len(units), 0, -1):
        avoid = systems_to_avoid(
            [unit.systems for unit in order[:-3:-1]],
            n_responses=len(order[-1].responses) if order else 1,
            n_systems=len(column),
        )
        clash: BoolArray = np.any(shows[:, [column[system] for system in avoid]], axis=1)
        group = _draw(count, ~clash, head, shows, left)
        order.append(units[waiting[group].popleft()])
        count[group] -= 1
        if waiting[group]:
            head[group] = keys[waiting[group][0]]
    return order


def _draw(count: IntArray, allowed: BoolArray, head: IntArray, shows: BoolArray, left: int) -> int:
    choice = allowed & (count > 0)
    if not choice.any():
        choice = count > 0
    load = count @ shows
    if load.size and 2 * load.max() > left:
        pressing = choice & shows[:, load.argmax()]
        choice = pressing if pressing.any() else choice
    groups = np.flatnonzero(choice)
    return int(groups[head[groups].argmin()])


def _queues(
    units: Sequence[PlannedUnit], sets: Sequence[frozenset[System]], seed: int
) -> tuple[list[deque[int]], IntArray]:
    """Return the indices of the units that show each set of systems, in random order, and the random key of each."""
    keys = order_keys(seed, np.arange(len(units)))
    number = {group: index for index, group in enumerate(sets)}
    queues: list[deque[int]] = [deque() for _ in sets]
    for index in np.argsort(keys).tolist():
        queues[number[frozenset(units[index].systems)]].append(index)
    return queues, keys
