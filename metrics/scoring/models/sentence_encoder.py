"""Models of the optional sentence-transformers library, identified by the hash of their files.

Nothing is ever downloaded: a model is a folder, is in an installed package, or in the cache of the Hugging Face hub.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from metrics.scoring.arrays import Float32s

LIBRARY = "sentence-transformers"
MODULES = "modules.json"  # in every model of the library: its parts, in their order
BATCH = 64


def unavailable() -> str:
    """Return why no sentence can be encoded here; empty if it can."""
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
        SHA-256 of the names and contents of its files, without hidden ones and README.
    """

    kind: ClassVar[str] = "sentence"

    path: Path
    digest: str

    @property
    def facts(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load(cls, path: Path) -> Self:
        """Open the model in a folder; the library is imported at the first text.

        Raises
        ------
        ValueError
            The folder has no such model.
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
        """Return a vector for each text (n, d); each distinct text is encoded once, in an order of its own.

        Raises
        ------
        ValueError
            The library is not installed.
        """
        distinct = sorted(set(texts))
        number = {text: index for index, text in enumerate(distinct)}
        vectors = self._model.encode(distinct, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, dtype=np.float32)[[number[text] for text in texts]]

    @cached_property
    def _model(self) -> Any:
        reason = unavailable()
        if reason:
            raise ValueError(f"model: {reason}")
        # By name, because the library is optional and takes seconds to import.
        library = importlib.import_module("sentence_transformers")
        return library.SentenceTransformer(str(self.path), local_files_only=True)


def located(reference: str) -> str:
    """Return the folder of a model named by its folder, by an installed package or by its hub name; or ``sha256:...``.

    Raises
    ------
    ValueError
        There is no model of that name: where it was looked for, and how to get it.

    Examples
    --------
    >>> located("sha256:0123456789ab")
    'sha256:0123456789ab'
    """
    if not reference or reference.startswith("sha256:") or Path(reference).exists():
        return reference
    folder = _in_package(reference) or _in_hub_cache(reference)
    if folder is None:
        raise ValueError(
            f"model: found no {LIBRARY} model {reference!r}; accepted: its folder, sha256:..., an installed package "
            f"that carries one, or a name in the Hugging Face cache (hf download {reference} puts it there)"
        )
    return str(folder)


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
        path = hub.try_to_load_from_cache(name, MODULES)
    except hub.errors.HFValidationError:
        return None
    return Path(path).parent if isinstance(path, str) else None


def _files(path: Path) -> list[Path]:
    """Return the files of the model, in the same order on every machine."""
    files = [file for file in path.rglob("*") if file.is_file() and not _is_ignored(file.relative_to(path).parts)]
    return sorted(files, key=lambda file: file.relative_to(path).parts)


def _is_ignored(parts: Sequence[str]) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in parts) or parts[-1].upper().startswith(
        "README"
    )


def _digest(path: Path) -> str:
    total = sha256()
    for file in _files(path):
        with file.open("rb") as stream:
            content = file_digest(stream, "sha256").hexdigest()
        total.update(f"{file.relative_to(path).as_posix()}\n{content}\n".encode())
    return total.hexdigest()
