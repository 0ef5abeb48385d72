"""A model as a folder: header in JSON, words in UTF-8, arrays to map into memory. Equal models, equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER, _WORDS = "model.json", "words.txt"


@dataclass(frozen=True, eq=False)
class Content:
    """What a model consists of.

    Attributes
    ----------
    kind : str
    header : dict
        Plain values.
    words : sequence of str
        None holds a line break.
    arrays : dict of arrays
    """

    kind: str
    header: Mapping[str, Any]
    words: Sequence[str]
    arrays: Mapping[str, NDArray[Any]]

    def digest(self) -> str:
        """SHA-256 over everything, arrays with type and shape."""
        total = sha256(self._header_bytes())
        total.update(self._word_bytes())
        for name, array in sorted(self.arrays.items()):
            total.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(np.ascontiguousarray(array).data)
        return total.hexdigest()

    def save(self, path: Path) -> None:
        """Write a folder, which must not be there."""
        path = Path(path)
        path.mkdir(parents=True)
        (path / _HEADER).write_bytes(self._header_bytes())
        (path / _WORDS).write_bytes(self._word_bytes())
        for name, array in self.arrays.items():
            np.save(path / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)

    @classmethod
    def load(cls, path: Path, kind: str, layout: int) -> Content:
        """Read a folder; arrays stay on disk until they are looked at.

        Raises
        ------
        ValueError
            It is no model, one of another kind, or one written in another layout.
        """
        path = Path(path)
        if not (path / _HEADER).is_file():
            raise ValueError(f"model: found no {_HEADER} in {path}; accepted: the folder of a {kind} model")
        header = json.loads((path / _HEADER).read_bytes())
        found = (header.pop("kind", None), header.get("layout"))
        if found != (kind, layout):
            raise ValueError(f"model: found kind {found[0]!r}, layout {found[1]!r}; accepted: {kind!r}, {layout!r}")
        words = (path / _WORDS).read_bytes().decode().split("\n")
        arrays = {file.stem: _opened(file) for file in sorted(path.glob("*.npy"))}
        return cls(kind, header, words, arrays)

    def array(self, name: str) -> NDArray[Any]:
        """The array of that name, or an error that says that its file is missing."""
        if name not in self.arrays:
            raise ValueError(f"model: found no {name}.npy; accepted: the folder of a {self.kind} model as it was saved")
        return self.arrays[name]

    def _header_bytes(self) -> bytes:
        return json.dumps({"kind": self.kind, **self.header}, sort_keys=True, indent=1).encode()

    def _word_bytes(self) -> bytes:
        return "\n".join(self.words).encode()


def _opened(file: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"model: found {file} damaged ({error}); accepted: the file as it was saved") from error
    return array
