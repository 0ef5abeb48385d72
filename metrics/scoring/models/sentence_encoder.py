"""Models of the sentence-transformers library: found on this machine, known by the hash of their files.

The library is optional. Nothing is ever downloaded: a model is a folder, comes in an installed package, or lies in the
cache of the Hugging Face hub because somebody put it there.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from metrics.scoring.arrays import Float32s

LIBRARY = "sentence-transformers"
MODULES = "modules.json"  # in every model of the library: its parts, in their order
BATCH = 64
BLOCK = 2**20


def unavailable() -> str:
    """Why no sentence can be encoded here; empty where one can."""
    if importlib.util.find_spec("sentence_transformers") is not None:
        return ""
    return f"{LIBRARY} is not installed; python -m pip install {LIBRARY}"


@dataclass(frozen=True, eq=False)
class SentenceEncoder:
    """A model that makes a vector of a text.

    Attributes
    ----------
    path : Path
        Its folder.
    digest : str
        SHA-256 of the names and contents of its files; hidden ones and those for people (README) left out.
    """

    kind: ClassVar[str] = "sentence"

    path: Path
    digest: str

    @property
    def facts(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load(cls, path: Path) -> Self:
        """The model in a folder; the library is asked for at the first text.

        Raises
        ------
        ValueError
            There is no such model in it.
        """
        if not (path / MODULES).is_file():
            raise ValueError(f"model: found no {MODULES} in {path}; accepted: the folder of a {LIBRARY} model")
        return cls(path, _digest(path))

    def save(self, path: Path) -> None:
        """Copy its files into a new folder."""
        for file in _files(self.path):
            target = path / file.relative_to(self.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)

    def encode(self, texts: Sequence[str]) -> Float32s:
        """(n, d) a vector for each text; each distinct text is encoded once, and their order changes nothing.

        Raises
        ------
        ValueError
            The library is not installed.
        """
        distinct = sorted(set(texts))
        place = {text: index for index, text in enumerate(distinct)}
        vectors = self._model.encode(distinct, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)[[place[text] for text in texts]]

    @cached_property
    def _model(self) -> Any:
        reason = unavailable()
        if reason:
            raise ValueError(f"model: {reason}")
        # By name, because the library is optional and takes seconds to import.
        library = importlib.import_module("sentence_transformers")
        return library.SentenceTransformer(str(self.path), local_files_only=True)


def located(reference: str) -> str:
    """Where a model lies that was named by its folder, by ``sha256:...``, by an installed package or by its hub name.

    Raises
    ------
    ValueError
        Nothing of that name holds a model: what was looked for, and how to get it here.

    Examples
    --------
    >>> located("sha256:0123456789ab")
    'sha256:0123456789ab'
    """
    if not reference or reference.startswith("sha256:") or Path(reference).exists():
        return reference
    found = _in_package(reference) or _in_hub_cache(reference)
    if found is None:
        raise ValueError(
            f"model: found no {LIBRARY} model {reference!r}; accepted: its folder, sha256:..., an installed package "
            f"that carries one, or a name in the Hugging Face cache (hf download {reference} puts it there)"
        )
    return str(found)


def _in_package(name: str) -> Path | None:
    try:
        files = metadata.distribution(name).files or []
    except (metadata.PackageNotFoundError, ValueError):
        return None
    return next((Path(str(file.locate())).parent for file in files if file.name == MODULES), None)


def _in_hub_cache(name: str) -> Path | None:
    if importlib.util.find_spec("huggingface_hub") is None:
        return None
    hub = importlib.import_module("huggingface_hub")
    try:
        found = hub.try_to_load_from_cache(name, MODULES)
    except hub.errors.HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None


def _files(path: Path) -> list[Path]:
    """What the model is made of, in an order that is the same on every machine."""
    found = (file for file in path.rglob("*") if file.is_file())
    return sorted(
        (file for file in found if not _aside(file.relative_to(path))), key=lambda file: file.relative_to(path).parts
    )


def _aside(file: Path) -> bool:
    return (
        any(part.startswith(".") for part in file.parts)
        or file.name.upper().startswith("README")
        or "__pycache__" in file.parts
    )


def _digest(path: Path) -> str:
    total = sha256()
    for file in _files(path):
        own = sha256()
        with file.open("rb") as stream:
            while block := stream.read(BLOCK):
                own.update(block)
        total.update(f"{file.relative_to(path).as_posix()}\n{own.hexdigest()}\n".encode())
    return total.hexdigest()
