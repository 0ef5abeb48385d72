"""The file of a backup: a tar archive whose last member lists every other with its size and SHA-256 hash.

An archive that was cut off has no list, and is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from annotation.core.errors import AnnotationError
from annotation.core.progress import Progress, Throttle, noop

FORMAT = 1
LIST = "backup.json"
BLOCK = 1024 * 1024  # bytes


@dataclass(frozen=True)
class Member:
    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Contents:
    """What a backup says of itself."""

    product: str  # version of Assay
    created: str  # ISO 8601
    postgresql: str  # version of the server
    migrations: list[str]  # "app.name", all that the database has
    key: str  # a digest that equal secret keys share
    format: int = FORMAT
    members: dict[str, Member] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(member.size for member in self.members.values())


class Writer:
    """Adds files to an archive and remembers their hashes."""

    def __init__(self, archive: tarfile.TarFile, total: int, progress: Progress = noop) -> None:
        self._archive, self._progress, self._total = archive, progress, total
        self._done, self._throttle = 0, Throttle()
        self.members: dict[str, Member] = {}

    def add(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            info = self._archive.gettarinfo(arcname=name, fileobj=file)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            hashed = _Hashed(file, lambda count: self._report(name, count))
            self._archive.addfile(info, hashed)
        self.members[name] = Member(info.size, hashed.digest.hexdigest())

    def close(self, contents: Contents) -> None:
        """Add the list of all members, with which the archive is complete."""
        document = json.dumps({**asdict(contents), "members": _documents(self.members)}, indent=1).encode()
        info = tarfile.TarInfo(LIST)
        info.size = len(document)
        self._archive.addfile(info, io.BytesIO(document))

    def _report(self, name: str, count: int) -> None:
        self._done += count
        if self._throttle.due():
            self._progress(self._done, max(self._total, self._done), name)


class _Hashed:
    """A file that is hashed as it is read."""

    def __init__(self, file: IO[bytes], beat: Any = noop) -> None:
        self._file, self._beat, self.digest = file, beat, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        self._beat(len(block))
        return block


def checked_contents(path: Path, progress: Progress = noop) -> Contents:
    """Read a whole archive and return what it says of itself.

    Raises
    ------
    AnnotationError
        It is no backup, was cut off, or a member is missing, unlisted or changed: which.
    """
    found: dict[str, Member] = {}
    contents: Contents | None = None
    total, throttle = path.stat().st_size, Throttle()
    with _opened(path) as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() else None
            if file is None:
                raise AnnotationError(f"{path}: found {info.name}, which is no plain file; accepted: plain files.")
            if info.name == LIST:
                contents = _contents(path, file.read())
                continue
            hashed = _Hashed(file)
            while hashed.read(BLOCK):
                if throttle.due():
                    progress(min(info.offset_data + file.tell(), total), total, info.name)
            found[info.name] = Member(info.size, hashed.digest.hexdigest())
    if contents is None:
        raise AnnotationError(
            f"{path}: found no {LIST} at its end; accepted: a whole backup. It was cut off, or is another kind of file."
        )
    _require_same(path, found, contents.members)
    return contents


def _contents(path: Path, text: bytes) -> Contents:
    try:
        document = json.loads(text)
        if document["format"] == FORMAT:
            members = {name: Member(**member) for name, member in document["members"].items()}
            return Contents(**{**document, "members": members})
        version = document["format"]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AnnotationError(f"{path}: found a damaged {LIST} ({error}); accepted: the one of a backup.") from error
    raise AnnotationError(f"{path}: found format {version!r} of backups; accepted: {FORMAT}.")


def _require_same(path: Path, found: dict[str, Member], listed: dict[str, Member]) -> None:
    for name in sorted(listed.keys() | found.keys()):
        if not _is_below(name):
            raise AnnotationError(f"{path}: found a file named {name!r}; accepted: paths below the archive.")
        if name not in found:
            raise AnnotationError(f"{path}: found no {name}, which its list names; accepted: every listed file.")
        if name not in listed:
            raise AnnotationError(f"{path}: found {name}, which its list does not name; accepted: listed files.")
        if found[name] != listed[name]:
            raise AnnotationError(
                f"{path}: found {name} with SHA-256 {found[name].sha256} and {found[name].size:,} bytes; accepted: "
                f"{listed[name].sha256} and {listed[name].size:,} bytes. The file was changed or damaged."
            )


def extract(path: Path, into: Path, progress: Progress = noop) -> None:
    """Write every member of a checked archive below a folder."""
    total, throttle = path.stat().st_size, Throttle()
    with _opened(path) as archive:
        for info in archive:
            if throttle.due():
                progress(info.offset, total, info.name)
            archive.extract(info, into, filter="data")


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:") as archive:
            yield archive
    except (tarfile.TarError, EOFError) as error:
        raise AnnotationError(f"{path}: found a file that ends early or is no archive; accepted: a backup.") from error


def _is_below(name: str) -> bool:
    parts = PurePosixPath(name)
    return not parts.is_absolute() and ".." not in parts.parts and name not in ("", ".")


def _documents(members: dict[str, Member]) -> dict[str, dict[str, Any]]:
    return {name: asdict(member) for name, member in sorted(members.items())}
