"""Trained models, and their form on disk: a folder with a header in JSON, words in UTF-8, and arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

SHOWN = 12  # hexadecimal digits of a hash in names of files and in signatures

_HEADER, _WORDS = "model.json", "words.txt"


class Model(Protocol):
    """A trained model."""

    kind: ClassVar[str]

    @property
    def digest(self) -> str:
        """Return the SHA-256 of its content in hexadecimal digits; equal models have equal ones."""

    @property
    def facts(self) -> dict[str, Any]:
        """Return what the model is like, in plain values."""

    def save(self, path: Path) -> None:
        """Write a file or a folder; equal models, equal bytes."""

    @classmethod
    def load(cls, path: Path) -> Self: ...


def model_name(kind: str, digest: str) -> str:
    """Return the name of a model's file or folder in a store."""
    return f"{kind}-{digest[:SHOWN]}"


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a model; ``header`` has plain values, ``words`` no line breaks. Equal content, equal bytes."""

    kind: str
    header: Mapping[str, Any]
    words: Sequence[str]
    arrays: Mapping[str, NDArray[Any]]

    def digest(self) -> str:
        """Return the SHA-256 over everything, arrays with type and shape."""
        total = sha256(self._header_bytes())
        total.update(self._word_bytes())
        for name, array in sorted(self.arrays.items()):
            total.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(np.ascontiguousarray(array).data)
        return total.hexdigest()

    def save(self, path: Path) -> None:
        """Write a new folder."""
        path = Path(path)
        path.mkdir(parents=True)
        (path / _HEADER).write_bytes(self._header_bytes())
        (path / _WORDS).write_bytes(self._word_bytes())
        for name, array in self.arrays.items():
            np.save(path / f"{name}.npy", np.asarray(array, order="C"), allow_pickle=False)

    @classmethod
    def load(cls, path: Path, kind: str, *layouts: int) -> Content:
        """Read a folder of one of these layouts; arrays stay on disk until they are read.

        Raises
        ------
        ValueError
            It is no model, or one of another kind or layout.
        """
        path = Path(path)
        if not (path / _HEADER).is_file():
            raise ValueError(f"model: found no {_HEADER} in {path}; accepted: the folder of a {kind} model")
        header = json.loads((path / _HEADER).read_bytes())
        stored_kind, stored_layout = header.pop("kind", None), header.get("layout")
        if stored_kind != kind or stored_layout not in layouts:
            accepted = " or ".join(map(repr, layouts))
            raise ValueError(
                f"model: found kind {stored_kind!r}, layout {stored_layout!r}; accepted: {kind!r}, {accepted}"
            )
        words = (path / _WORDS).read_bytes().decode().split("\n")
        arrays = {file.stem: _opened(file) for file in sorted(path.glob("*.npy"))}
        return cls(kind, header, words, arrays)

    def array(self, name: str) -> NDArray[Any]:
        """Return the array of that name, or raise an error that says that its file is missing."""
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
