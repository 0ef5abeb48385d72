"""Verify that a record is complete and unchanged: compute every hash again from its files."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from annotation.core.errors import AnnotationError
from annotation.core.zips import DAMAGED
from annotation.quality.services.amendments import amendment_hash
from annotation.records.services.archive import FORMAT, content_hash

BLOCK = 1 << 20


class Finding(NamedTuple):
    ok: bool
    what: str


def record_verify(path: Path | IO[bytes]) -> list[Finding]:
    """Return a finding for each check; the record is sound if all are ``ok``. Raise if the file is not a record."""
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive)
            files = dict(_files(archive, manifest))
            sound = {name for name, finding in files.items() if finding.ok}
            return [*files.values(), *_hashes(archive, manifest, sound), *_amendments(manifest)]
    except DAMAGED as error:
        raise AnnotationError(f"This is not a record: {error}. Accepted: a zip that Assay wrote.") from error


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(archive.read("manifest.json"))
    except (KeyError, ValueError) as error:
        raise AnnotationError("This is not a record: it has no readable manifest.json.") from error
    file_format = manifest.get("format") if isinstance(manifest, dict) else None
    if file_format != FORMAT:
        raise AnnotationError(f"The record's format is {file_format!r}; accepted: {FORMAT!r}.")
    result: dict[str, Any] = manifest
    return result


def _files(archive: zipfile.ZipFile, manifest: dict[str, Any]) -> Iterator[tuple[str, Finding]]:
    present = [name for name in archive.namelist() if name != "manifest.json"]
    for name in sorted(set(present) - set(manifest["files"])):
        yield name, Finding(False, f"{name} is not a file of the record")
    for name, recorded in manifest["files"].items():
        if present.count(name) != 1:
            state = f"there {present.count(name)} times" if name in present else "missing"
            yield name, Finding(False, f"{name} is {state}")
        else:
            yield name, _unchanged(archive, name, recorded)


def _unchanged(archive: zipfile.ZipFile, name: str, recorded: dict[str, Any]) -> Finding:
    try:
        digest, size, lines = _measured(archive, name)
    except DAMAGED as error:
        return Finding(False, f"{name} cannot be unpacked: {error}")
    if digest != recorded["sha256"]:
        return Finding(False, f"{name} has SHA-256 {digest}; its manifest says {recorded['sha256']}")
    if size != recorded["bytes"] or (name.endswith(".jsonl") and lines != recorded["rows"]):
        return Finding(False, f"{name} has {size} bytes and {lines} rows; its manifest says otherwise")
    return Finding(True, f"{name} is unchanged")


def _measured(archive: zipfile.ZipFile, name: str) -> tuple[str, int, int]:
    digest, size, lines = hashlib.sha256(), 0, 0
    with archive.open(name) as member:
        while block := member.read(BLOCK):
            digest.update(block)
            size += len(block)
            lines += block.count(b"\n")
    return digest.hexdigest(), size, lines


def _hashes(archive: zipfile.ZipFile, manifest: dict[str, Any], sound: set[str]) -> Iterator[Finding]:
    """Check the hashes inside unchanged files; those of a damaged file mean nothing."""
    whole = content_hash(manifest["files"])
    yield Finding(whole == manifest["content_hash"], f"content hash {whole}")
    if "design.json" not in sound or not manifest["design_hash"]:
        return  # a draft has none
    written = archive.read("design.json")
    design_hash = hashlib.sha256(written).hexdigest()
    yield Finding(design_hash == manifest["design_hash"], f"design hash {design_hash}")
    design = json.loads(written)
    if "units_hash" in design and {"units.jsonl", "responses.jsonl"} <= sound:
        units = _units_hash(archive, design.get("units"))
        yield Finding(units == design["units_hash"], f"hash {units} of the items of the design")


def _units_hash(archive: zipfile.ZipFile, planned: int | None) -> str:
    """Compute the hash as at launch: over each unit's item and responses, in order; later units follow them."""
    keys = {row["response"]: row["text_key"] for row in _rows(archive, "responses.jsonl")}
    digest = hashlib.sha256()
    for row in _rows(archive, "units.jsonl"):
        if planned is not None and row["unit"] >= planned:
            break
        digest.update(json.dumps([row["item"], [keys.get(each) for each in row["responses"]]]).encode() + b"\n")
    return digest.hexdigest()


def _rows(archive: zipfile.ZipFile, name: str) -> Iterator[dict[str, Any]]:
    with archive.open(name) as member:
        for line in member:
            yield json.loads(line)


def _amendments(manifest: dict[str, Any]) -> Iterator[Finding]:
    """Check the chain: each hash covers the one before it, the first covers the design's."""
    before = manifest["design_hash"]
    for amendment in manifest["amendments"]:
        number, kind, data = amendment["number"], amendment["kind"], amendment["data"]
        computed = amendment_hash(before, number=number, kind=kind, data=data)
        yield Finding(computed == amendment["hash"], f"hash {computed} of amendment {number}")
        before = amendment["hash"]
