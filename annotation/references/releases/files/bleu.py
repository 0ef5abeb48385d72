"""The layout that BLEU tools read: one file for each reference number, a line for each item, as a zip."""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.core.one_line import escaped
from annotation.core.zips import zip_chunks
from annotation.models import Release
from annotation.references.releases.files.reading import ReleasedItem, released_items
from annotation.references.releases.selectors.releases import release_name

BUFFER = 256 * 1024
PIECE = 64 * 1024


def multi_reference_zip(release: Release) -> Iterator[bytes]:
    """The zip in pieces. The files are gathered on disk first, since each item has a line in every one of them."""
    with tempfile.TemporaryDirectory() as folder:
        spool = _Spool(Path(folder))
        n_items, most = 0, 0
        for n_items, item in enumerate(released_items(release), start=1):
            _write(spool, item, n_items - 1)
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


def _write(spool: "_Spool", item: ReleasedItem, place: int) -> None:
    spool.add("items.txt", escaped(item.external_id), place)
    spool.add("messages.txt", escaped(item.message), place)
    for number, reference in enumerate(item.references):
        spool.add(f"references.ref{number}", escaped(reference.text), place)
        spool.add(f"weights.{number}", repr(reference.weight), place)


class _Spool:
    """Many growing text files on disk, each with few bytes in memory and none held open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waiting: dict[str, list[str]] = {}
        self.lines: dict[str, int] = {}
        self.held = 0

    def add(self, name: str, line: str, place: int) -> None:
        """``line`` becomes the line of number ``place``, from 0; those before it that have none are empty."""
        missing = place - self.lines.get(name, 0)
        piece = "\n" * missing + line + "\n"
        self.waiting.setdefault(name, []).append(piece)
        self.lines[name] = place + 1
        self.held += len(piece)
        if self.held >= BUFFER:
            self.flush()

    def pad(self, name: str, lines: int) -> None:
        """Empty lines up to this many."""
        if self.lines[name] < lines:
            self.add(name, "", lines - 1)

    def flush(self) -> None:
        for name, pieces in self.waiting.items():
            with (self.folder / name).open("a", encoding="utf-8", newline="") as file:
                file.write("".join(pieces))
        self.waiting, self.held = {}, 0

    def pieces(self, name: str) -> Iterable[bytes]:
        path = self.folder / name
        if not path.exists():
            return
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece


README = """\
# {name} in the multi-reference layout

{n_items} items with at most {most} references each. Content hash of the release (SHA-256): {content_hash}

- `items.txt`: the item of each line.
- `messages.txt`: what each item answers.
- `references.ref0` ... `references.ref{last}`: references of the items, highest weight first. An item with fewer
  references has empty lines in the later files, which BLEU tools take for no reference.
- `weights.0` ... `weights.{last}`: the weight of the reference on the same line, empty where there is none. BLEU itself
  reads no weights: choose what counts by them, or use a metric that takes them.

Put the hypotheses into a file with a line for each line of `items.txt`, then for example

    sacrebleu references.ref* -i hypotheses.txt
    multi-bleu.perl references < hypotheses.txt

Negative references are in the files, too: to plain BLEU they are as good as any other. Leave them out by their weights.

A text is one line: a backslash is written \\\\, a tab \\t, a line feed \\n, a carriage return \\r, other characters
that end lines as \\u and four hexadecimal digits.
"""
