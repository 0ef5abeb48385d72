"""Folders of trained models: a model is loaded by its path or by its content hash."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, TypeAlias

from metrics.scoring.models.files import SHOWN, Model, model_name
from metrics.scoring.models.kinds import get_kind

IN_MEMORY = 8  # models
DIGITS = re.compile(rf"[0-9a-f]{{{SHOWN},64}}")

# Name, size, time and inode of each file of a model: other content has another stamp.
Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]

_loaded: OrderedDict[tuple[str, Path, Stamp], Any] = OrderedDict()
_lock = Lock()


class ModelStore:
    """Folders that hold models, each under ``<kind>-<first digits of its hash>``.

    Parameters
    ----------
    directories : paths
        Searched in this order; `add` writes into the first.
    """

    def __init__(self, directories: Iterable[Path | str] = ()) -> None:
        self.directories = tuple(Path(directory) for directory in directories)
        # Models named by a path: a hash alone would not find them again.
        self._elsewhere: dict[tuple[str, str], Path] = {}

    def path(self, kind: str, reference: str) -> Path:
        """Return the path of a model.

        Parameters
        ----------
        kind : str
        reference : str
            A path, or ``sha256:`` and at least the first 12 digits of its hash.

        Raises
        ------
        ValueError
            No model was named, or none is there: what was looked for, and where.
        """
        if not reference:
            raise ValueError(f"model: found none; accepted: a {kind} model, by its path or sha256:...")
        if not reference.startswith("sha256:"):
            path = Path(reference)
            if not path.exists():
                raise ValueError(f"model: found no file {reference}; accepted: the path of a {kind} model")
            return path
        digits = reference.removeprefix("sha256:")
        if not DIGITS.fullmatch(digits):
            raise ValueError(f"model: found {reference!r}; accepted: sha256: and {SHOWN} to 64 digits (0 to 9, a to f)")
        for directory in self.directories:
            path = directory / model_name(kind, digits)
            if path.exists():
                return path
        if (kind, digits) in self._elsewhere:
            return self._elsewhere[kind, digits]
        folders = ", ".join(map(str, self.directories)) or "no folder"
        raise ValueError(f"model: found no {kind} model {reference} (looked in {folders})")

    def load(self, kind: str, reference: str) -> Any:
        """Load a model; the last ones stay in memory."""
        path = self.path(kind, reference).resolve()
        key = (kind, path, _stamp(path))
        with _lock:
            model = _loaded.get(key)
            if model is not None:
                _loaded.move_to_end(key)
        if model is None:
            model = _read(kind, path)
        if reference.startswith("sha256:") and not model.digest.startswith(reference.removeprefix("sha256:")):
            raise ValueError(f"model: {path} holds sha256:{model.digest}; accepted: {reference}")
        with _lock:
            _loaded[key] = model
            while len(_loaded) > IN_MEMORY:
                _loaded.popitem(last=False)
        return model

    def reference(self, kind: str, reference: str) -> str:
        """Return the model's full ``sha256:...``, by which this store finds it from now on."""
        digest: str = self.load(kind, reference).digest
        if not reference.startswith("sha256:"):
            self._elsewhere[kind, digest] = self.path(kind, reference)
        return f"sha256:{digest}"

    def references(self, kind: str) -> list[str]:
        """Return ``sha256:`` and the first digits of each model of a kind in the folders."""
        paths = (path for directory in self.directories for path in directory.glob(f"{kind}-*"))
        matches = (re.fullmatch(rf"{re.escape(kind)}-({DIGITS.pattern})", path.name) for path in paths)
        return sorted({f"sha256:{match[1]}" for match in matches if match})

    def add(self, model: Model) -> str:
        """Save a model in the first folder, unless it is there; return its ``sha256:...``."""
        if not self.directories:
            raise ValueError("models: found no folder to write to; accepted: one or more")
        self.directories[0].mkdir(parents=True, exist_ok=True)
        path = self.directories[0] / model_name(model.kind, model.digest)
        if not path.exists():
            # In a separate folder: another process may save the same model now, or was killed while it did.
            with TemporaryDirectory(prefix=".unfinished-", dir=self.directories[0]) as folder:
                unfinished = Path(folder) / path.name
                model.save(unfinished)
                try:
                    unfinished.rename(path)
                except OSError:
                    if not path.exists():  # else another process was first: equal models, equal bytes
                        raise
        return f"sha256:{model.digest}"


def _read(kind: str, path: Path) -> Any:
    try:
        return get_kind(kind).model.load(path)
    except (OSError, EOFError, KeyError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else f"what cannot be read ({error})"
        raise ValueError(f"model: found {problem} in {path}; accepted: a {kind} model as it was saved") from error


def _stamp(path: Path) -> Stamp:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return tuple(
        (str(file.relative_to(path)), facts.st_size, facts.st_mtime_ns, facts.st_ino)
        for file in files
        for facts in [file.stat()]
    )
