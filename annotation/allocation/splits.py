"""Random draws of rows and their splits, decided only by a seed and by names, the same everywhere."""

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from annotation.allocation.seeds import derive_seed, permutation

SHARES_OFF_BY = Fraction(1, 1000)  # thirds are written 0.333


def draws(seed: int, size: int) -> Iterator[int]:
    """Yield every number of ``0..size-1`` once, in a random order that only the seed decides.

    Fisher and Yates' shuffle by Durstenfeld (1964), on a row of numbers of which only those that moved are in memory:
    the first 33,000 of 29 million take no more memory than 33,000 of 40,000. The number swapped with the i-th is ``i +
    derive_seed(seed, "draw", i) mod (size - i)``.

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
    for step in range(size):
        other = step + derive_seed(seed, "draw", step) % (size - step)
        drawn = moved.get(other, other)
        moved[other] = moved.pop(step, step)
        yield drawn


def split_sizes(total: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Divide ``total`` among the splits, as near to their shares as whole numbers allow.

    Each gets its share rounded down; the rest goes, one each, to the largest remainders (Hamilton's method), among
    equal remainders to the first by name. So equal shares differ by at most one.

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
    quotas = {name: total * share / whole for name, share in exact.items()}
    sizes = {name: int(quota) for name, quota in quotas.items()}
    for name in sorted(quotas, key=lambda name: (sizes[name] - quotas[name], name))[: total - sum(sizes.values())]:
        sizes[name] += 1
    return sizes


def assign_splits(names: Collection[str], shares: Mapping[str, float], seed: int) -> dict[str, str]:
    """Assign every name to a split at random, in the sizes of ``split_sizes``.

    To repeat it elsewhere: sort the names by code point; number them from 0; sort the numbers p by their keys, the key
    being the first 8 bytes, as a big-endian number, modulo 2**63, of the SHA-256 of the JSON text ``[seed, p]`` (with a
    blank after the comma). The first numbers of that order belong to the first split by name, the next to the second,
    and so on.

    Parameters
    ----------
    names : different texts, in any order
    shares : as in ``split_sizes``
    seed : int

    Raises
    ------
    ValueError
        A name given twice, or shares as in ``split_sizes``.

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
    shuffled = (ordered[index] for index in permutation(seed, len(ordered)))
    return dict(zip(shuffled, labels, strict=True))
