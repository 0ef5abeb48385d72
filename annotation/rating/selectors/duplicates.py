"""Systems whose outputs are all the same: one system in results, which is compared once."""

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.rating.selectors.outputs import Outputs

Groups = dict[str, list[str]]  # the name of systems that are one, and their own names


def joined(names: Sequence[str]) -> str:
    """Return the name of systems that are one.

    Examples
    --------
    >>> joined(["A", "B"])
    'A = B'
    """
    return " = ".join(names)


def same_outputs(outputs: Outputs, names: Mapping[int, str]) -> list[list[str]]:
    """Return the names of systems that gave the same texts for the same items, two or more together."""
    code = {name: number for number, name in enumerate(sorted(set(names.values())))}
    named = np.array([code[names[pk]] for pk in outputs.system.tolist()], dtype=np.int64)
    order = np.lexsort((outputs.response, named))
    response, ends = outputs.response[order], np.searchsorted(named[order], np.arange(len(code) + 1))
    alike: dict[bytes, list[str]] = {}
    for name, number in code.items():
        if own := response[ends[number] : ends[number + 1]].tobytes():
            alike.setdefault(own, []).append(name)
    return [of_these for of_these in alike.values() if len(of_these) > 1]


def as_one(outputs: Outputs, names: Mapping[int, str]) -> tuple[Outputs, dict[int, str], Groups]:
    """Return outputs and names in which systems of the same outputs are one, and the groups that were."""
    groups = {joined(same): same for same in same_outputs(outputs, names)}
    first = {same[0]: name for name, same in groups.items()}
    dropped = {name for same in groups.values() for name in same[1:]}
    if not groups:
        return outputs, dict(names), groups
    kept = np.array([names[pk] not in dropped for pk in outputs.system.tolist()], dtype=bool)
    named = {pk: first.get(name, name) for pk, name in names.items() if name not in dropped}
    return Outputs(*(column[kept] for column in outputs)), named, groups


def named_in(groups: Groups, name: str) -> str:
    """Return the name under which results have a system."""
    return next((joint for joint, names in groups.items() if name in names), name)
