"""Read archives of files of scores in bounded memory and time, whatever their members are.

Everything that an archive unpacks to counts, also names and members that are skipped.
"""

import io
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Self

from annotation.core import file_limits, zips
from annotation.core.file_limits import Allowance, TooLarge, check
from annotation.core.rows import ENDINGS, format_of
from annotation.mining.opening import decompressed

DESCRIPTION = "metrics.json"  # in exported archives, beside the scores
MAX_FILES = 1000
GZIP_MAGIC = b"\x1f\x8b"
TAR_HEADERS = (*tarfile.GNU_TYPES, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
# Also of tar files, and what damaged directories and headers raise.
DAMAGED = (*zips.DAMAGED, tarfile.TarError, struct.error, ValueError, LookupError, OverflowError)


def is_score_file(name: str) -> bool:
    """Return whether it is a file of mt-metrics-eval, or the description beside such files."""
    base = PurePosixPath(name).name
    return not base.startswith(".") and (base.endswith(".score") or base == DESCRIPTION)


def is_table(name: str) -> bool:
    return not PurePosixPath(name).name.startswith(".") and format_of(name, ENDINGS) is not None


def members(
    content: bytes, filename: str, max_bytes: int, is_relevant: Callable[[str], bool] = is_score_file
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the relevant files, which may have ``max_bytes`` in all. Nothing is unpacked to disk.

    Raises
    ------
    TooLarge
        A limit that is exceeded.
    """
    remaining, lines = max_bytes, 0
    for number, (name, file) in enumerate(_entries(content, filename, is_relevant), start=1):
        check("files of scores", number, MAX_FILES)
        data = file.read(remaining + 1)
        remaining -= len(data)
        if remaining < 0:
            raise TooLarge("archive", f"more than {max_bytes:,} bytes, unpacked", f"up to {max_bytes:,}")
        lines += data.count(b"\n")
        check("lines of scores", lines, max_bytes // file_limits.SCORE_LINE_BYTES)
        yield name, data


def _entries(content: bytes, filename: str, is_relevant: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    unpack = _zip_entries if filename.lower().endswith(".zip") else _tar_entries
    yield from unpack(content, is_relevant)


def _zip_entries(content: bytes, is_relevant: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    check("files in the archive", content.count(zips.ENTRY), file_limits.ARCHIVE_MEMBERS)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if not is_relevant(entry.filename):
                continue
            if entry.compress_type not in zips.PACKINGS:
                raise RuntimeError(f"{entry.filename[:100]} is packed by method {entry.compress_type}")
            with archive.open(entry) as file:
                yield entry.filename, file


class _Member(tarfile.TarInfo):
    """A member whose name and attributes are not read if they are too long."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str | None, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type] # the stubs know no None
        if member.type in TAR_HEADERS and member.type != tarfile.GNUTYPE_SPARSE:
            check("name of a file", member.size, file_limits.MEMBER_HEADER_BYTES, " bytes")
        return member


def _tar_entries(content: bytes, is_relevant: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(fileobj=_unpacked(content), mode="r|", tarinfo=_Member) as archive:
        for number, member in enumerate(archive, start=1):
            check("files in the archive", number, file_limits.ARCHIVE_MEMBERS)
            if member.isfile() and is_relevant(member.name):
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name, file


def _unpacked(content: bytes) -> BinaryIO:
    """Return the bytes of a tar file, of which no more than allowed are unpacked."""
    if content.startswith(GZIP_MAGIC):
        return decompressed(io.BytesIO(content), "gz", Allowance(file_limits.ARCHIVE_BYTES))
    check("unpacked size", len(content), file_limits.ARCHIVE_BYTES, " bytes")
    return io.BytesIO(content)
