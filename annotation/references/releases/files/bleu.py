"""The layout that BLEU tools read: one file for each reference number, a line for each item, as a zip."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.core.one_line import escaped
from annotation.core.zips import zip_chunks
from annotation.models import Release
from annotation.references.releases.files.reading import released_items
from annotation.references.releases.selectors.releases import release_name

BUFFER = 256 * 1024
PIECE = 64 * 1024
README = Path(__file__).with_name("multi_reference_readme.md").read_text(encoding="utf-8")


def multi_reference_zip(release: Release) -> Iterator[bytes]:
    """Yield the zip in pieces. The files are written to disk first, because each item has a line in every file."""
    with tempfile.TemporaryDirectory() as folder:
        spool = _Spool(Path(folder))
        n_items, most = 0, 0
        for n_items, item in enumerate(released_items(release), start=1):
            spool.add("items.txt", escaped(item.external_id), n_items - 1)
            spool.add("messages.txt", escaped(item.message), n_items - 1)
            for number, reference in enumerate(item.references):
                spool.add(f"references.ref{number}", escaped(reference.text), n_items - 1)
                spool.add(f"weights.{number}", repr(reference.weight), n_items - 1)
            most = max(most, len(item.references))
        for number in range(most):
            spool.pad(f"references.ref{number}", n_items)
            spool.pad(f"weights.{number}", n_items)
        spool.flush()
        readme = README.format(
            name=release_name(release), content_hash=release.content_hash, n_items=n_items, most=most, last=most - 1
        )
        names = ["items.txt", "messages.txt"]
        names += [f"{stem}{number}" for number in range(most) for stem in ("references.ref", "weights.")]
        members = [("README.md", iter([readme.encode()])), *((name, spool.pieces(name)) for name in names)]
        yield from zip_chunks(members)


class _Spool:
    """Many growing text files on disk, with few bytes in memory and no open file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: dict[str, list[str]] = {}
        self.lines: dict[str, int] = {}
        self.size = 0

    def add(self, name: str, line: str, index: int) -> None:
        """Write the line with this index, from 0, after empty lines for the missing ones before it."""
        missing = index - self.lines.get(name, 0)
        piece = "\n" * missing + line + "\n"
        self.waiting.setdefault(name, []).append(piece)
        self.lines[name] = index + 1
        self.size += len(piece)
        if self.size >= BUFFER:
            self.flush()

    def pad(self, name: str, lines: int) -> None:
        """Add empty lines up to this number of lines."""
        if self.lines[name] < lines:
            self.add(name, "", lines - 1)

    def flush(self) -> None:
        for name, pieces in self.waiting.items():
            with (self.folder / name).open("a", encoding="utf-8", newline="") as file:
                file.write("".join(pieces))
        self.waiting, self.size = {}, 0

    def pieces(self, name: str) -> Iterable[bytes]:
        path = self.folder / name
        if not path.exists():
            return
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece
