"""Arrays with their description as bytes: a NumPy archive without code."""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

ARRAY = "$array"  # replaces an array in the tree: {"$array": its number}
TREE = "tree"


def packed(tree: Any) -> bytes:
    """Pack dictionaries with text keys, lists, texts, numbers, booleans, None and arrays; tuples become lists.

    >>> unpacked(packed({"name": "linear", "weights": np.array([0.5, np.nan])}))["weights"].tolist()
    [0.5, nan]
    """
    arrays: list[np.ndarray] = []
    description = json.dumps(_hollow(tree, arrays)).encode()
    out = BytesIO()
    named = {f"array{number}": array for number, array in enumerate(arrays)}
    np.savez_compressed(out, **{TREE: np.frombuffer(description, dtype=np.uint8)}, **named)  # type: ignore[arg-type]
    return out.getvalue()


def unpacked(content: bytes) -> Any:
    with np.load(BytesIO(content), allow_pickle=False) as archive:
        return _filled(json.loads(archive[TREE].tobytes()), archive)


def _hollow(node: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(node, np.ndarray):
        arrays.append(node)
        return {ARRAY: len(arrays) - 1}
    if isinstance(node, Mapping):
        return {key: _hollow(part, arrays) for key, part in node.items()}
    if isinstance(node, list | tuple):
        return [_hollow(part, arrays) for part in node]
    return node.item() if isinstance(node, np.generic) else node


def _filled(node: Any, archive: Mapping[str, np.ndarray]) -> Any:
    if isinstance(node, dict):
        if ARRAY in node:
            return archive[f"array{node[ARRAY]}"]
        return {key: _filled(part, archive) for key, part in node.items()}
    return [_filled(part, archive) for part in node] if isinstance(node, list) else node
