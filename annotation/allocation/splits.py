"""Which rows are drawn, and which split each falls into: decided by a seed and by names alone, the same everywhere."""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from annotation.allocation.seeds import derive_seed, permutation

SHARES_OFF_BY = Fraction(1, 1000)  # thirds are written 0.333


def draws(seed: int, size: int) -> Iterator[int]:
    """Every number of ``0..size-1`` once, in a random order that only the seed decides; drawn one by one.

    Fisher and Yates' shuffle as Durstenfeld (1964) gives it, on a row of numbers of which only those that moved are
    kept: the first 33,000 of 29 million take no more memory than 33,000 of 40,000. The number that changes places with
    the i-th is ``i + derive_seed(seed, "draw", i) mod (size - i)``.

    Parameters
    ----------
    seed : int
    size : int, 0 or more

    Raises
    ------
    ValueError
        A size below 0.

    References
    ----------
    R. Durstenfeld. Algorithm 235: Random permutation. Communications of the ACM 7(7), 1964.

    Examples
    --------
    >>> sorted(draws(7, 5))
    [0, 1, 2, 3, 4]
    """
    if size < 0:
        raise ValueError(f"size is {size}; accepted: 0 or more")
    moved: dict[int, int] = {}
    for place in range(size):
        other = place + derive_seed(seed, "draw", place) % (size - place)
        drawn = moved.get(other, other)
        moved[other] = moved.pop(place, place)
        yield drawn


def split_sizes(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """How many of ``total`` each split gets: as near to its share as whole numbers allow.

    Each gets its share rounded down; what is then left goes one by one to the largest remainders (Hamilton's method),
    of equal ones to the first by name. So equal shares differ by at most one.

    Parameters
    ----------
    total : int, 0 or more
    shares : mapping of a split's name to its share, above 0; together 1, or within 0.001 of it

    Returns
    -------
    dict
        In the order of the names by code point; the sizes add up to ``total``.

    Raises
    ------
    ValueError
        No share, a share that is not above 0, or shares that do not add up to 1.

    References
    ----------
    M. L. Balinski and H. P. Young. Fair Representation. Yale University Press, 1982; chapter 2.

    Examples
    --------
    >>> split_sizes(4232, {"dev": 0.5, "test": 0.5})
    {'dev': 2116, 'test': 2116}
    >>> split_sizes(10, {"a": 0.333, "b": 0.333, "c": 0.333})
    {'a': 4, 'b': 3, 'c': 3}
    """
    if not shares:
        raise ValueError("found no split; accepted: at least one, with its share")
    exact: dict[str, Fraction] = {}
    for name in sorted(shares):
        try:
            exact[name] = Fraction(str(shares[name]))
        except (ValueError, ZeroDivisionError):
            exact[name] = Fraction(0)
        if isinstance(shares[name], bool) or exact[name] <= 0:
            raise ValueError(f"the share of {name!r} is {shares[name]!r}; accepted: a number above 0")
    whole = sum(exact.values(), Fraction(0))
    if abs(whole - 1) > SHARES_OFF_BY:
        raise ValueError(f"the shares add up to {float(whole):g}; accepted: 1")
    wanted = {name: total * share / whole for name, share in exact.items()}
    sizes = {name: int(number) for name, number in wanted.items()}
    for name in sorted(wanted, key=lambda one: (sizes[one] - wanted[one], one))[: total - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


def assign_splits(names: Collection[str], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """A split for every name, at random, of the sizes that ``split_sizes`` gives.

    To do it again elsewhere: sort the names by code point; number them from 0; put number p at the place that its key
    has among all keys, the key being the first 8 bytes, as a big-endian number, modulo 2**63, of the SHA-256 of the
    JSON text ``[seed, p]`` (with a blank behind the comma). The first so many of that order are of the first split by
    name, the next of the second, and so on.

    Parameters
    ----------
    names : different texts, in any order
    shares : as in ``split_sizes``
    seed : int

    Raises
    ------
    ValueError
        A name that is there twice, or shares as in ``split_sizes``.

    Examples
    --------
    >>> assign_splits("ab", {"dev": 0.5, "test": 0.5}, 7) == assign_splits("ba", {"test": 0.5, "dev": 0.5}, 7)
    True
    """
    ordered = sorted(names)
    if len(set(ordered)) < len(ordered):
        raise ValueError("found a name twice; accepted: each once")
    sizes = split_sizes(len(ordered), shares)
    labels = [label for label, size in sizes.items() for _ in range(size)]
    shuffled = (ordered[place] for place in permutation(seed, len(ordered)))
    return dict(zip(shuffled, labels, strict=True))
