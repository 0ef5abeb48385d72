"""Where trained models lie, and how one is found: by its path or by its content hash."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, ClassVar, Protocol, Self, TypeAlias

KEPT_IN_MEMORY = 8
SHOWN = 12  # hexadecimal digits of a hash in names of files and in signatures
DIGITS = re.compile(rf"[0-9a-f]{{{SHOWN},64}}")


class Model(Protocol):
    """A trained model."""

    kind: ClassVar[str]

    @property
    def digest(self) -> str:
        """SHA-256 of its content, in hexadecimal digits: equal models have equal ones."""

    def save(self, path: Path) -> None:
        """Write a file or a folder; equal models, equal bytes."""

    @classmethod
    def load(cls, path: Path) -> Self: ...


# Name, size, time and place on the disk of all that a model consists of: other content has another one.
Stamp: TypeAlias = tuple[tuple[str, int, int, int], ...]

# Each kind of model, filled where its class is defined (see `register`).
_KINDS: dict[str, type[Any]] = {}
_loaded: OrderedDict[tuple[str, Path, Stamp], Any] = OrderedDict()
_lock = Lock()


def register(model: type[Any]) -> type[Any]:
    """Class decorator: models of this class are found by its ``kind``."""
    _KINDS[model.kind] = model
    return model


class ModelStore:
    """Folders that hold models, each under ``<kind>-<first digits of its hash>``.

    Parameters
    ----------
    directories : paths
        Searched in this order; `add` writes into the first.
    """

    def __init__(self, directories: Iterable[Path | str] = ()) -> None:
        self.directories = tuple(Path(directory) for directory in directories)
        # Models that were named by a path, which a hash alone would not find again.
        self._elsewhere: dict[tuple[str, str], Path] = {}

    def path(self, kind: str, reference: str) -> Path:
        """Where the model is.

        Parameters
        ----------
        kind : str
        reference : str
            A path, or ``sha256:`` and at least the first 12 digits of its hash.

        Raises
        ------
        ValueError
            No model was named, none is there, or nobody knows the kind: what was looked for, and where.
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
        where = ", ".join(map(str, self.directories)) or "no folder"
        raise ValueError(f"model: found no {kind} model {reference} (looked in {where})")

    def load(self, kind: str, reference: str) -> Any:
        """The model; those used last stay in memory."""
        path = self.path(kind, reference).resolve()
        key = (kind, path, _stamp(path))
        with _lock:
            model = _loaded.get(key)
            if model is not None:
                _loaded.move_to_end(key)
        if model is None:
            model = _read(self._class(kind), path)
        if reference.startswith("sha256:") and not model.digest.startswith(reference.removeprefix("sha256:")):
            raise ValueError(f"model: {path} holds sha256:{model.digest}; accepted: {reference}")
        with _lock:
            _loaded[key] = model
            while len(_loaded) > KEPT_IN_MEMORY:
                _loaded.popitem(last=False)
        return model

    def reference(self, kind: str, reference: str) -> str:
        """The model's ``sha256:...`` in full, however it was named; this store finds it by that from then on."""
        digest: str = self.load(kind, reference).digest
        if not reference.startswith("sha256:"):
            self._elsewhere[kind, digest] = self.path(kind, reference)
        return f"sha256:{digest}"

    def references(self, kind: str) -> list[str]:
        """``sha256:`` and the first digits of each model of a kind that lies in the folders."""
        found = (path.name for directory in self.directories for path in directory.glob(f"{kind}-*"))
        names = (re.fullmatch(rf"{re.escape(kind)}-({DIGITS.pattern})", name) for name in found)
        return sorted({f"sha256:{match[1]}" for match in names if match})

    def add(self, model: Model) -> str:
        """Save a model in the first folder, unless it is there; returns its ``sha256:...``."""
        if not self.directories:
            raise ValueError("models: found no folder to write to; accepted: one or more")
        self.directories[0].mkdir(parents=True, exist_ok=True)
        path = self.directories[0] / model_name(model.kind, model.digest)
        if not path.exists():
            # In a folder of its own: who was killed at the same model, or is at it now, does not stand in the way.
            with TemporaryDirectory(prefix=".unfinished-", dir=self.directories[0]) as own:
                unfinished = Path(own) / path.name
                model.save(unfinished)
                try:
                    unfinished.rename(path)
                except OSError:
                    if not path.exists():  # else somebody was first: equal models, equal bytes
                        raise
        return f"sha256:{model.digest}"

    @staticmethod
    def _class(kind: str) -> type[Any]:
        if kind not in _KINDS:
            raise ValueError(f"model: found kind {kind!r}; accepted: {', '.join(sorted(_KINDS)) or 'none yet'}")
        return _KINDS[kind]


def _read(kind: type[Any], path: Path) -> Any:
    try:
        return kind.load(path)
    except (OSError, EOFError, KeyError) as error:
        said = f"no {error}" if isinstance(error, KeyError) else f"what cannot be read ({error})"
        raise ValueError(f"model: found {said} in {path}; accepted: a {kind.kind} model as it was saved") from error


def _stamp(path: Path) -> Stamp:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return tuple(
        (str(file.relative_to(path)), facts.st_size, facts.st_mtime_ns, facts.st_ino)
        for file in files
        for facts in [file.stat()]
    )


def model_name(kind: str, digest: str) -> str:
    """The name of a model's file or folder in a store."""
    return f"{kind}-{digest[:SHOWN]}"
