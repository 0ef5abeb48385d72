"""Seeds that follow from one campaign seed: the same on every machine and with every library version."""

import hashlib
import json

SEED_LIMIT = 2**63  # fits PostgreSQL's bigint


def derive_seed(root: int, *labels: str | int) -> int:
    """Return a seed in [0, 2**63) for a label path, computed from the root with SHA-256.

    Seeds of different paths are unrelated; ``("a", "b")`` and ``("ab",)`` are different paths, and so are ``1`` and
    ``"1"``.

    Raises
    ------
    ValueError
        A root or label of another type.

    Examples
    --------
    >>> derive_seed(7, "unit", 12) == derive_seed(7, "unit", 12)
    True
    >>> derive_seed(7, "unit", 12) == derive_seed(7, "unit", 13)
    False
    """
    if isinstance(root, bool) or not isinstance(root, int):
        raise ValueError(f"root is {root!r}; accepted: a whole number")
    for number, label in enumerate(labels, start=1):
        if isinstance(label, bool) or not isinstance(label, int | str):
            raise ValueError(f"label {number} is {label!r}; accepted: a whole number or text")
    path = json.dumps([root, *labels]).encode()
    return int.from_bytes(hashlib.sha256(path).digest()[:8]) % SEED_LIMIT


def permutation(seed: int, size: int) -> tuple[int, ...]:
    """Return a random order of ``0..size-1`` that only the seed decides.

    >>> sorted(permutation(3, 4))
    [0, 1, 2, 3]
    """
    if size < 0:
        raise ValueError(f"size is {size}; accepted: 0 or more")
    return tuple(sorted(range(size), key=lambda number: derive_seed(seed, number)))
