"""The order in which the responses of a unit are shown, balanced over the unit's slots."""

from annotation.allocation.seeds import derive_seed, permutation


def draw_order(unit_seed: int, slot_number: int, n_responses: int, k: int) -> tuple[int, ...]:
    """Return the response at each position when this slot of the unit is shown.

    Slots are taken in blocks of ``n_responses``; within a block every response is at every position exactly once. Over
    the first j slots of a unit, for any j, how often a response is at a position therefore differs by at most one
    between any two (response, position) cells: a pair shown k times is in either order floor(k/2) or ceil(k/2) times,
    and stays balanced when a campaign ends early. Which responses and slots get which row is drawn from the unit's
    seed. A complete block of an even number of responses, or two blocks of an odd number, also has each response
    directly after each other one equally often.

    Parameters
    ----------
    unit_seed : int
        The unit's stored seed.
    slot_number : int
        0..k-1.
    n_responses : int
        Responses the unit shows, 1 or more.
    k : int
        Slots of the unit, 1 or more. It bounds ``slot_number`` and changes nothing else: when k is raised later, the
        orders of the earlier slots stay the same.

    Returns
    -------
    tuple of int, length n_responses
        ``order[p]`` is the index (in the unit's stored order) of the response shown at position p.

    Raises
    ------
    ValueError
        A number outside its range, named.

    References
    ----------
    Williams, Experimental Designs Balanced for the Estimation of Residual Effects of Treatments, Australian Journal of
    Scientific Research A 1949: the rows of a block.

    Examples
    --------
    >>> orders = [draw_order(11, slot, 2, 4) for slot in range(4)]
    >>> sorted(orders)
    [(0, 1), (0, 1), (1, 0), (1, 0)]
    """
    if n_responses < 1:
        raise ValueError(f"n_responses is {n_responses}; accepted: 1 or more")
    if k < 1:
        raise ValueError(f"k is {k}; accepted: 1 or more")
    if not 0 <= slot_number < k:
        raise ValueError(f"slot_number is {slot_number}; accepted: 0 to {k - 1} for {k} slots")
    block, index = divmod(slot_number, n_responses)
    row = permutation(derive_seed(unit_seed, "rows", block), n_responses)[index]
    # Blocks 2j and 2j + 1 share names: only together do the rows of an odd number balance which response follows which.
    names = permutation(derive_seed(unit_seed, "names", block // 2), n_responses)
    sequence = [(step + row) % n_responses for step in _zigzag(n_responses)]
    if block % 2:
        sequence.reverse()
    return tuple(names[symbol] for symbol in sequence)


def _zigzag(n: int) -> list[int]:
    """Return 0, n-1, 1, n-2, ...: for even n every difference modulo n between neighbours occurs once."""
    return [step // 2 if step % 2 == 0 else n - (step + 1) // 2 for step in range(n)]
