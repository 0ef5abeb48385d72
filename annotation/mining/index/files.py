"""The files of an index, and the header that describes them."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.core.canonical import canonical_json
from annotation.core.progress import Beat, noop
from annotation.mining.index.parameters import INDEX_VERSION

FORMAT = "assay-triple-index"
HEADER = "index.json"
TRIPLES = "triples.arrow"
WORDS, WORD_ENDS = "words.npy", "word_ends.npy"
FIELDS = ("message", "response")
# One folder per field, in the layout of bm25s: a score for each word (column) in each text (row), column by column.
DATA, INDICES, INDPTR, PARAMETERS = (
    "data.csc.index.npy",
    "indices.csc.index.npy",
    "indptr.csc.index.npy",
    "params.index.json",
)
NAMES = (
    TRIPLES,
    WORDS,
    WORD_ENDS,
    *(f"{field}/{name}" for field in FIELDS for name in (DATA, INDICES, INDPTR, PARAMETERS)),
)
HASH_BYTES = 1 << 20


class UnreadableIndex(ValueError):
    """An index cannot be opened; the message names the file and the reason."""


def write_header(folder: Path, header: Mapping[str, Any]) -> None:
    body = {"format": FORMAT, "version": INDEX_VERSION, **header}
    body["checksum"] = hashlib.sha256(canonical_json(body)).hexdigest()
    (folder / HEADER).write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_header(folder: Path) -> dict[str, Any]:
    """Return the header, once every file is there with the right length."""
    path = folder / HEADER
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnreadableIndex(f"{path}: not found; an index is a whole folder with this file in it") from None
    except ValueError as error:
        raise UnreadableIndex(f"{path}: damaged, not JSON ({error}); build the index again") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UnreadableIndex(f"{path}: not the header of an index of triples")
    if header.get("version") != INDEX_VERSION:
        raise UnreadableIndex(
            f"{path}: found version {header.get('version')!r}; accepted: {INDEX_VERSION}; build the index again"
        )
    checksum = header.pop("checksum", None)
    if checksum != hashlib.sha256(canonical_json(header)).hexdigest():
        raise UnreadableIndex(f"{path}: damaged, it does not match its own checksum; build the index again")
    for name in NAMES:
        part, expected = folder / name, header["files"][name]["bytes"]
        if not part.is_file():
            raise UnreadableIndex(f"{part}: missing; build the index again")
        if (size := part.stat().st_size) != expected:
            raise UnreadableIndex(f"{part}: damaged, found {size:,} bytes, expected {expected:,}; build it again")
    return header


def verify_contents(folder: Path, header: Mapping[str, Any], *, beat: Beat = noop) -> None:
    """Compare every byte with the header's hashes; only this detects a changed file of the right length."""
    for name in NAMES:
        if file_hash(folder / name, beat=beat) != header["files"][name]["sha256"]:
            raise UnreadableIndex(f"{folder / name}: damaged, its contents have changed; build the index again")


def file_hash(path: Path, *, beat: Beat = noop) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(HASH_BYTES):
            digest.update(block)
            beat()
    return digest.hexdigest()


def describe_files(folder: Path, *, beat: Beat) -> dict[str, dict[str, Any]]:
    return {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_hash(folder / name, beat=beat)} for name in NAMES
    }


def sync(folder: Path) -> None:
    """Write a folder, with every file and folder in it, to the disk."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync_path(Path(parent) / name)
        sync_path(Path(parent))


def sync_path(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
