"""Corpus states as bytes, for workers that score parts of a corpus. No code is stored, and none is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from io import BytesIO
from typing import Any

import numpy as np

from metrics.scoring.metric import CorpusState

_HEADER = "told"  # its name in the archive


def state_to_bytes(state: CorpusState) -> bytes:
    """Write a NumPy archive of the fields of a state: arrays, whole numbers, texts, and tuples of these two.

    Parameters
    ----------
    state : CorpusState
        A dataclass.

    Raises
    ------
    ValueError
        A field has another type.
    """
    if not is_dataclass(state):
        raise ValueError(f"state: found {type(state).__name__}; accepted: a dataclass")
    values: dict[str, Any] = {field.name: getattr(state, field.name) for field in fields(state)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in values.items() if name not in arrays}
    for name, value in rest.items():
        parts = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(part, int | float | str) for part in parts):
            raise ValueError(f"{name}: found {value!r}; accepted: an array, a number, a text, or a tuple of these two")
    header = json.dumps({"kind": _kind(type(state)), "rest": rest}).encode()
    out = BytesIO()
    np.savez(out, **{_HEADER: np.frombuffer(header, dtype=np.uint8)}, **arrays)
    return out.getvalue()


def state_from_bytes(content: bytes) -> CorpusState:
    """Read what `state_to_bytes` wrote, if the class of the state is loaded.

    Raises
    ------
    ValueError
        The class of the state is not defined.

    Examples
    --------
    >>> from metrics.scoring.statistics import WeightScale
    >>> state_from_bytes(state_to_bytes(WeightScale((10, 1000))))
    WeightScale(fitting=(10, 1000))
    """
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        header = json.loads(archive[_HEADER].tobytes())
        arrays = {name: archive[name] for name in archive.files if name != _HEADER}
    kinds = {_kind(kind): kind for kind in _below(CorpusState)}
    if header["kind"] not in kinds:
        raise ValueError(f"state: found one of {header['kind']}; accepted: {', '.join(sorted(kinds))}")
    rest = {name: tuple(value) if isinstance(value, list) else value for name, value in header["rest"].items()}
    state: CorpusState = kinds[header["kind"]](**rest, **arrays)
    return state


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for derived in kind.__subclasses__():
        yield derived
        yield from _below(derived)


def _kind(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
