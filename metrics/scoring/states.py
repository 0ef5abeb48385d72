"""Corpus states as bytes, so that a part scored elsewhere knows of the whole. No code is stored, and none is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any

import numpy as np

from metrics.scoring.metric import CorpusState

TOLD = "told"


def state_to_bytes(state: CorpusState) -> bytes:
    """A NumPy archive of the fields of a state: arrays, whole numbers, texts, and tuples of these two.

    Parameters
    ----------
    state : CorpusState
        A dataclass.

    Raises
    ------
    ValueError
        Something else than that in a field.
    """
    if not is_dataclass(state):
        raise ValueError(f"state: found {type(state).__name__}; accepted: a dataclass")
    given: dict[str, Any] = {field.name: getattr(state, field.name) for field in fields(state)}
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in given.items() if name not in arrays}
    for name, value in rest.items():
        parts = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(part, int | float | str) for part in parts):
            raise ValueError(f"{name}: found {value!r}; accepted: an array, a number, a text, or a tuple of these two")
    told = json.dumps({"kind": _kind(type(state)), "rest": rest}).encode()
    out = BytesIO()
    np.savez(out, **{TOLD: np.frombuffer(told, dtype=np.uint8)}, **arrays)
    return out.getvalue()


def state_from_bytes(content: bytes) -> CorpusState:
    """What `state_to_bytes` was given, if its class is loaded here.

    Raises
    ------
    ValueError
        A state of a class that nothing here has defined.

    Examples
    --------
    >>> from metrics.scoring.statistics import WeightScale
    >>> state_from_bytes(state_to_bytes(WeightScale((10, 1000))))
    WeightScale(fitting=(10, 1000))
    """
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        told = json.loads(archive[TOLD].tobytes())
        arrays = {name: archive[name] for name in archive.files if name != TOLD}
    kinds = {_kind(kind): kind for kind in _below(CorpusState)}
    if told["kind"] not in kinds:
        raise ValueError(f"state: found one of {told['kind']}; accepted: {', '.join(sorted(kinds))}")
    rest = {name: tuple(value) if isinstance(value, list) else value for name, value in told["rest"].items()}
    state: CorpusState = kinds[told["kind"]](**rest, **arrays)
    return state


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _below(derived)


def _kind(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
