"""Which screens of a rater are quality checks: evenly mixed in, and not to be guessed.

Every decision follows from the rater's seed by SHA-256 alone, so that it can be replayed from the record and needs no
state; who does not know the seed learns nothing about the next check from all the earlier ones, except that a block
that has shown its check shows no other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from annotation.allocation.handout import order_keys
from annotation.allocation.seeds import derive_seed, permutation

CHECK_KINDS = ("gold", "attention", "repeat", "degraded", "anchor")
EVERY = (2, 1000)
MAX_DECK = 1000
PLAIN_SCREENS = 2  # a rater's first impression is of the work, and there is nothing to repeat yet


def check_at(rater_seed: int, place: int, *, every: int, mix: Mapping[str, int]) -> str | None:
    """Whether this screen of this rater is a check, and of which kind.

    A rater's screens are cut into blocks of ``every``, checks included. Each block holds one check, at a place drawn
    uniformly and independently of all others; only the first block spares the rater's first two screens (of two screens
    it then holds none). Kinds are dealt from a deck in which each kind stands as often as ``mix`` says, shuffled anew
    each time it is dealt out, so that over whole decks the proportions are exact.

    Parameters
    ----------
    rater_seed : int
        The rater's stored seed in this campaign.
    place : int
        Of the screen in the rater's own sequence, from 0.
    every : int
        Screens of a block: 2 to 1000.
    mix : mapping of kind to count
        Kinds among ``CHECK_KINDS``, at least one, each count 1 or more, at most 1000 in all. Their order is of no
        account.

    Returns
    -------
    str or None
        The kind; None where the screen is ordinary work. Time and memory do not grow with ``place``.

    Raises
    ------
    ValueError
        A number or kind outside what is accepted, named.

    Examples
    --------
    >>> [check_at(7, place, every=4, mix={"gold": 1, "repeat": 1}) for place in range(8)]
    [None, None, None, 'gold', None, None, 'repeat', None]
    """
    if place < 0:
        raise ValueError(f"place is {place}; accepted: 0 or more")
    if not EVERY[0] <= every <= EVERY[1]:
        raise ValueError(f"every is {every}; accepted: {EVERY[0]} to {EVERY[1]}")
    cards = _cards(mix)
    block, offset = divmod(place, every)
    if offset != _offset(rater_seed, block, every):
        return None
    dealt_before = block - (every == PLAIN_SCREENS)  # the first block of two screens deals no card
    deck, card = divmod(dealt_before, len(cards))
    return _shuffled(rater_seed, deck, cards)[card]


def checks_among(rater_seed: int, units: int, *, every: int, mix: Mapping[str, int], supply: Mapping[str, int]) -> int:
    """How many checks a rater meets on the way through so many units of work; none comes after the last unit.

    It does not depend on how far the rater has come, so that what is left goes down by one with every screen, whether
    work or check, and tells nobody which of them it was.

    Parameters
    ----------
    rater_seed, every, mix
        As for ``check_at``.
    units : int
        0 or more.
    supply : mapping of kind to count
        Prepared checks of a kind; those it does not name never run out. Where a kind runs out, work takes the place of
        its checks and blocks hold more of it; of the other kinds the number then allows for a few too many.

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
    bare = every == PLAIN_SCREENS  # the first block is two units and no check
    rest = units - PLAIN_SCREENS * bare
    if rest <= 0:
        return 0
    full, before_last = divmod(rest - 1, every - 1)  # blocks before the last unit's; units before it in its own
    offset = _offset(rater_seed, full + bare, every)
    dealt = full + (offset is not None and offset <= before_last)
    decks, part = divmod(dealt, len(cards))
    rest_of_deck = _shuffled(rater_seed, decks, cards)[:part]
    met = {kind: decks * cards.count(kind) + rest_of_deck.count(kind) for kind in set(cards)}
    return sum(min(n, supply.get(kind, n)) for kind, n in met.items())


def _offset(rater_seed: int, block: int, every: int) -> int | None:
    """Of the check within its block; None where the block has none."""
    spared = PLAIN_SCREENS if block == 0 else 0
    if every == spared:
        return None
    return spared + derive_seed(rater_seed, "check place", block) % (every - spared)


def _shuffled(rater_seed: int, deck: int, cards: Sequence[str]) -> list[str]:
    return [cards[card] for card in permutation(derive_seed(rater_seed, "check deck", deck), len(cards))]


def pick_check(rater_seed: int, kind: str, candidates: Iterable[int], seen: Collection[int]) -> int | None:
    """The next prepared check of a kind for this rater, in the rater's own order.

    Parameters
    ----------
    rater_seed : int
    kind : str
        One of ``CHECK_KINDS``; each has an order of its own.
    candidates : iterable of int
        Ids of the prepared checks of that kind, in any order.
    seen : collection of int
        Ids the rater has met.

    Returns
    -------
    int or None
        None when the rater has met them all.

    Examples
    --------
    >>> first = pick_check(7, "gold", [11, 12, 13], seen=[])
    >>> pick_check(7, "gold", [13, 12, 11], seen=[]) == first, pick_check(7, "gold", [first], seen=[first])
    (True, None)
    """
    _check_kind(kind)
    met = set(seen)
    unseen = sorted({candidate for candidate in candidates if candidate not in met})
    if not unseen:
        return None
    keys = order_keys(derive_seed(rater_seed, "check order", kind), unseen)
    return unseen[int(keys.argmin())]


def pick_repeat(
    rater_seed: int, place: int, answered: Sequence[int], repeated: Collection[int], *, gap: int
) -> int | None:
    """An earlier unit of the rater to be shown again, drawn at random.

    Parameters
    ----------
    rater_seed : int
    place : int
        Of the screen that shall repeat a unit, in the rater's own sequence; decides the draw.
    answered : sequence of int
        Ids of the units the rater has answered as work, the earliest first.
    repeated : collection of int
        Ids of those that were shown again already.
    gap : int
        1 or more. The unit was answered at least so many units ago: with 1 the last one may come again. Checks in
        between make the distance on screen longer, never shorter.

    Returns
    -------
    int or None
        None when no unit is far enough back, or all such were repeated.

    Raises
    ------
    ValueError
        ``gap`` or ``place`` outside its range.

    Examples
    --------
    >>> pick_repeat(7, 5, [21, 22, 23, 24], [21], gap=3)
    22
    >>> pick_repeat(7, 5, [21, 22], [], gap=3) is None
    True
    """
    if gap < 1:
        raise ValueError(f"gap is {gap}; accepted: 1 or more")
    if place < 0:
        raise ValueError(f"place is {place}; accepted: 0 or more")
    far = len(answered) - gap + 1
    recent = set(answered[max(far, 0) :])
    used = set(repeated) | recent
    eligible = [unit for unit in dict.fromkeys(answered[: max(far, 0)]) if unit not in used]
    if not eligible:
        return None
    return eligible[derive_seed(rater_seed, "repeat", place) % len(eligible)]


def repeat_order(order: Sequence[int], *, seed: int) -> tuple[int, ...]:
    """In which order a unit's responses are shown the second time: each at another position than the first time.

    A rater who answers by position alone is then not taken for a consistent one. Drawn at random among all such orders;
    a single response stays where it is.

    Parameters
    ----------
    order : sequence of int
        The first order: every response once.
    seed : int

    Raises
    ------
    ValueError
        A response that stands in the order twice.

    Examples
    --------
    >>> repeat_order((0, 1), seed=3)
    (1, 0)
    """
    if len(set(order)) != len(order):
        raise ValueError(f"order is {tuple(order)}; accepted: every response once")
    if len(order) < 2:
        return tuple(order)
    attempt = 0
    while True:  # more than a third of all orders will do
        places = permutation(derive_seed(seed, "repeat order", attempt), len(order))
        if all(place != first for first, place in enumerate(places)):
            return tuple(order[place] for place in places)
        attempt += 1


def _cards(mix: Mapping[str, int]) -> list[str]:
    """Always in the order of ``CHECK_KINDS``: a mapping that went through JSON may come back in another."""
    for kind, count in mix.items():
        _check_kind(kind)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"mix has {count!r} of {kind!r}; accepted: a whole number, 1 or more")
    size = sum(mix.values())
    if not 1 <= size <= MAX_DECK:
        raise ValueError(f"mix holds {size} checks in all; accepted: 1 to {MAX_DECK}")
    return [kind for kind in CHECK_KINDS for _ in range(mix.get(kind, 0))]


def _check_kind(kind: str) -> None:
    if kind not in CHECK_KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(CHECK_KINDS)}")
