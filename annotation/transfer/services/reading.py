"""Read an archive of a project. It is not trusted: every limit and every hash is checked before a row is stored."""

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.core import file_limits
from annotation.core.file_limits import Allowance, TooLarge
from annotation.core.problems import Problems
from annotation.core.progress import Beat, noop
from annotation.core.rows import decoded_line, json_document, json_object
from annotation.core.zips import DAMAGED, ENTRY, PACKINGS
from annotation.transfer.services.export import FORMAT, MANIFEST

BLOCK = 1024 * 1024
MEMBERS = 500
LINE_BYTES = file_limits.DOCUMENT_BYTES  # the arrays of a part of a score run take some twenty MiB
EXAMPLE = '{"name": "A"}'
DIGITS = frozenset("0123456789abcdef")


class Archive:
    """An archive whose files are those of its manifest, with the hashes that it names."""

    def __init__(self, content: bytes, problems: Problems, beat: Beat = noop) -> None:
        self.problems, self.beat = problems, beat
        self._allowance = Allowance(file_limits.UNPACKED_BYTES)
        self._packed = len(content)
        self.lines: dict[str, int] = {}  # of each file
        try:
            file_limits.check("files in the archive", content.count(ENTRY), MEMBERS)
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            self.manifest = self._manifest()
            self._check_files(self.manifest["files"])
        except TooLarge as limit:
            problems.add(None, limit.field, limit.found, limit.accepted)
        except (*DAMAGED, ValueError, LookupError, OverflowError) as error:
            problems.add(None, "archive", f"{type(error).__name__}: {error}", "a zip that Assay wrote")
        problems.refuse()

    def rows(self, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield line and object of each line of a file; a line that is none is an error."""
        within = Problems(name)
        with self._zip.open(name) as member:
            for number, content in enumerate(self._lines(member), start=1):
                line = decoded_line(content, number, within)
                row = None if line is None else json_object(line, number, within, example=EXAMPLE, most=LINE_BYTES)
                if row is not None:
                    yield number, row
                if within.total:
                    self.problems.include(within)
                    self.problems.refuse()

    def _lines(self, member: Any) -> Iterator[bytes]:
        while line := member.readline(LINE_BYTES + 1):
            file_limits.check("line", len(line), LINE_BYTES, " bytes")
            yield line

    def _manifest(self) -> dict[str, Any]:
        for entry in self._zip.infolist():
            if entry.compress_type not in PACKINGS:
                raise zipfile.BadZipFile(f"{entry.filename[:100]} is packed by method {entry.compress_type}")
        with self._zip.open(MANIFEST) as member:
            content = member.read(file_limits.LINE_CHARACTERS + 1)
        file_limits.check(MANIFEST, len(content), file_limits.LINE_CHARACTERS, " bytes")
        manifest = json_document(content.decode(), self.problems)
        self._check_shape(manifest)
        return dict(manifest)

    def _check_shape(self, manifest: Any) -> None:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        if found != FORMAT:
            self.problems.add(None, "format", found, FORMAT)
            self.problems.refuse()
        shapes = {"project": dict, "files": dict, "hashes": list, "missing": list}
        for name, shape in shapes.items():
            if not isinstance(manifest.get(name), shape):
                self.problems.add(None, name, manifest.get(name), "an object" if shape is dict else "a list")
        self.problems.refuse()
        for name, about in manifest["files"].items():
            if not isinstance(about, dict) or not _is_digest(about.get("sha256")):
                self.problems.add(None, f"files.{name}", about, "an object with the file's sha256")
        for name in ("hashes", "missing"):
            for about in manifest[name]:
                if not isinstance(about, dict) or not all(
                    isinstance(about.get(key), str) for key in ("kind", "name", "digest")
                ):
                    self.problems.add(None, name, about, "objects with kind, name and digest")
        self.problems.refuse()

    def _check_files(self, files: Mapping[str, Any]) -> None:
        present = [entry.filename for entry in self._zip.infolist() if entry.filename != MANIFEST]
        for name in sorted({*present, *files}):
            if present.count(name) != 1 or name not in files:
                found = f"{present.count(name)} times, {'' if name in files else 'not '}in the manifest"
                self.problems.add(None, name, found, "each file once, as the manifest names it")
        self.problems.refuse()
        for name, about in files.items():
            digest = self._digest(name)
            if digest != about["sha256"]:
                self.problems.add(None, name, f"SHA-256 {digest}", about["sha256"])

    def _digest(self, name: str) -> str:
        digest, self.lines[name] = hashlib.sha256(), 0
        with self._zip.open(name) as member:
            while block := member.read(BLOCK):
                self._allowance.take(len(block), self._packed)
                digest.update(block)
                self.lines[name] += block.count(b"\n")
                self.beat()
        return digest.hexdigest()


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= DIGITS
