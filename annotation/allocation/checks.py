"""Which screens of a rater are quality checks: evenly mixed in, and unpredictable.

Every decision follows only from the rater's seed by SHA-256, so that it can be replayed from the record and needs no
state. Without the seed, earlier checks reveal nothing about the next one, except that a block that has shown its check
shows no other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from annotation.allocation.handout import order_keys
from annotation.allocation.seeds import derive_seed, permutation

CHECK_KINDS = ("gold", "attention", "repeat", "degraded", "anchor")
EVERY = (2, 1000)
MAX_DECK = 1000
PLAIN_SCREENS = 2  # a rater's first impression is of the work, and there is nothing to repeat yet


def check_at(rater_seed: int, position: int, *, every: int, mix: Mapping[str, int]) -> str | None:
    """Return the kind of check that this screen of this rater is; None for ordinary work.

    A rater's screens are cut into blocks of ``every``, checks included. Each block holds a check, at a position drawn
    uniformly and independently of all others; only the first block spares the rater's first two screens (a block of two
    screens then holds none). Kinds are dealt from a deck that has each kind as often as ``mix`` says, shuffled anew
    each time it is dealt out, so that over whole decks the proportions are exact.

    Parameters
    ----------
    rater_seed : int
        The rater's stored seed in this campaign.
    position : int
        Of the screen in the rater's sequence, from 0.
    every : int
        Screens of a block: 2 to 1000.
    mix : mapping of kind to count
        Kinds among ``CHECK_KINDS``, at least one, each count 1 or more, at most 1000 in all. Their order does not
        matter.

    Returns
    -------
    str or None
        Time and memory do not grow with ``position``.

    Raises
    ------
    ValueError
        A number or kind outside what is accepted, named.

    Examples
    --------
    >>> [check_at(7, position, every=4, mix={"gold": 1, "repeat": 1}) for position in range(8)]
    [None, None, None, 'gold', None, None, 'repeat', None]
    """
    if position < 0:
        raise ValueError(f"position is {position}; accepted: 0 or more")
    if not EVERY[0] <= every <= EVERY[1]:
        raise ValueError(f"every is {every}; accepted: {EVERY[0]} to {EVERY[1]}")
    cards = _cards(mix)
    block, offset = divmod(position, every)
    if offset != _offset(rater_seed, block, every):
        return None
    dealt_before = block - (every == PLAIN_SCREENS)  # the first block of two screens deals no card
    deck, card = divmod(dealt_before, len(cards))
    return _shuffled(rater_seed, deck, cards)[card]


def checks_among(rater_seed: int, units: int, *, every: int, mix: Mapping[str, int], supply: Mapping[str, int]) -> int:
    """Count the checks that a rater meets along so many units of work; none comes after the last unit.

    The number does not depend on the rater's progress: what is left goes down by one with every screen, and so does not
    reveal whether the screen was work or a check.

    Parameters
    ----------
    rater_seed, every, mix
        As for ``check_at``.
    units : int
        0 or more.
    supply : mapping of kind to count
        Prepared checks of a kind; kinds it does not name never run out. If a kind runs out, work replaces its checks
        and blocks hold more work; the number then allows for a few too many checks of the other kinds.

    Raises
    ------
    ValueError
        A number or kind outside what is accepted, named.

    Examples
    --------
    >>> checks_among(7, 6, every=4, mix={"gold": 1, "repeat": 1}, supply={})
    2
    >>> checks_among(7, 6, every=4, mix={"gold": 1, "repeat": 1}, supply={"gold": 0})
    1
    """
    if units < 0:
        raise ValueError(f"units is {units}; accepted: 0 or more")
    if not EVERY[0] <= every <= EVERY[1]:
        raise ValueError(f"every is {every}; accepted: {EVERY[0]} to {EVERY[1]}")
    cards = _cards(mix)
    no_first_check = every == PLAIN_SCREENS  # the first block is two units and no check
    rest = units - PLAIN_SCREENS * no_first_check
    if rest <= 0:
        return 0
    full, before_last = divmod(rest - 1, every - 1)  # blocks before the last unit's; units before it in its own
    offset = _offset(rater_seed, full + no_first_check, every)
    dealt = full + (offset is not None and offset <= before_last)
    decks, part = divmod(dealt, len(cards))
    rest_of_deck = _shuffled(rater_seed, decks, cards)[:part]
    met = {kind: decks * cards.count(kind) + rest_of_deck.count(kind) for kind in set(cards)}
    return sum(min(n, supply.get(kind, n)) for kind, n in met.items())


def _offset(rater_seed: int, block: int, every: int) -> int | None:
    """Return the check's offset in its block; None if the block has none."""
    spared = PLAIN_SCREENS if block == 0 else 0
    if every == spared:
        return None
    return spared + derive_seed(rater_seed, "check place", block) % (every - spared)


def _shuffled(rater_seed: int, deck: int, cards: Sequence[str]) -> list[str]:
    return [cards[card] for card in permutation(derive_seed(rater_seed, "check deck", deck), len(cards))]


def pick_check(rater_seed: int, kind: str, candidates: Iterable[int], seen: Collection[int]) -> int | None:
    """Return the next prepared check of a kind for this rater, in the rater's order; None after the last.

    Parameters
    ----------
    rater_seed : int
    kind : str
        One of ``CHECK_KINDS``; each has its own order.
    candidates : iterable of int
        Ids of the prepared checks of that kind, in any order.
    seen : collection of int
        Ids the rater has met.

    Examples
    --------
    >>> first = pick_check(7, "gold", [11, 12, 13], seen=[])
    >>> pick_check(7, "gold", [13, 12, 11], seen=[]) == first, pick_check(7, "gold", [first], seen=[first])
    (True, None)
    """
    _check_kind(kind)
    unseen = sorted(set(candidates) - set(seen))
    if not unseen:
        return None
    keys = order_keys(derive_seed(rater_seed, "check order", kind), unseen)
    return unseen[int(keys.argmin())]


def pick_repeat(
    rater_seed: int, position: int, answered: Sequence[int], repeated: Collection[int], *, gap: int
) -> int | None:
    """Draw an earlier unit of the rater to be shown again.

    Parameters
    ----------
    rater_seed : int
    position : int
        Of the screen that repeats a unit, in the rater's sequence; decides the draw.
    answered : sequence of int
        Ids of the units that the rater answered as work, the earliest first.
    repeated : collection of int
        Ids of those that were already shown again.
    gap : int
        1 or more. The unit was answered at least so many units ago: with 1 the last may come again. Checks in between
        make the distance on screen longer, never shorter.

    Returns
    -------
    int or None
        None if no unit is far enough back, or all such were repeated.

    Raises
    ------
    ValueError
        ``gap`` or ``position`` outside its range.

    Examples
    --------
    >>> pick_repeat(7, 5, [21, 22, 23, 24], [21], gap=3)
    22
    >>> pick_repeat(7, 5, [21, 22], [], gap=3) is None
    True
    """
    if gap < 1:
        raise ValueError(f"gap is {gap}; accepted: 1 or more")
    if position < 0:
        raise ValueError(f"position is {position}; accepted: 0 or more")
    far = len(answered) - gap + 1
    recent = set(answered[max(far, 0) :])
    used = set(repeated) | recent
    eligible = [unit for unit in dict.fromkeys(answered[: max(far, 0)]) if unit not in used]
    if not eligible:
        return None
    return eligible[derive_seed(rater_seed, "repeat", position) % len(eligible)]


def repeat_order(order: Sequence[int], *, seed: int) -> tuple[int, ...]:
    """Draw the order of a unit's responses for the second time: each at another position than the first time.

    A rater who answers only by position then does not look consistent. All such orders are equally likely; a single
    response keeps its position.

    Parameters
    ----------
    order : sequence of int
        The first order: every response once.
    seed : int

    Raises
    ------
    ValueError
        A response that is in the order twice.

    Examples
    --------
    >>> repeat_order((0, 1), seed=3)
    (1, 0)
    """
    if len(set(order)) != len(order):
        raise ValueError(f"order is {tuple(order)}; accepted: every response once")
    if len(order) < 2:
        return tuple(order)
    orders = (permutation(derive_seed(seed, "repeat order", attempt), len(order)) for attempt in count())
    # More than a third of all orders qualify.
    indices = next(indices for indices in orders if all(index != first for first, index in enumerate(indices)))
    return tuple(order[index] for index in indices)


def _cards(mix: Mapping[str, int]) -> list[str]:
    """Return the kinds of the mix in the order of ``CHECK_KINDS``, since JSON may change the order of a mapping."""
    for kind, number in mix.items():
        _check_kind(kind)
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise ValueError(f"mix has {number!r} of {kind!r}; accepted: a whole number, 1 or more")
    size = sum(mix.values())
    if not 1 <= size <= MAX_DECK:
        raise ValueError(f"mix holds {size} checks in all; accepted: 1 to {MAX_DECK}")
    return [kind for kind in CHECK_KINDS for _ in range(mix.get(kind, 0))]


def _check_kind(kind: str) -> None:
    if kind not in CHECK_KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(CHECK_KINDS)}")
