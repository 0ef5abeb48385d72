"""Which styles of texts have enough contrast, shared by the processes of a run."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path


class PassedStyles:
    """The styles that passed, for each look: a size of the window and a theme.

    With a file, what one process measured is known to the others: each appends lines to it, and reads what is new.
    """

    def __init__(self) -> None:
        self._styles: dict[str, set[str]] = defaultdict(set)
        self._file: Path | None = None
        self._read = 0  # bytes of the file

    def share(self, file: Path) -> None:
        self._file, self._read = file, 0

    def of(self, look: str) -> set[str]:
        if self._file and self._file.exists():
            with self._file.open("rb") as stream:
                stream.seek(self._read)
                new, _, _unfinished = stream.read().rpartition(b"\n")
            self._read += len(new) + 1 if new else 0
            for line in new.decode().splitlines():
                name, style = line.split("\t", 1)
                self._styles[name].add(style)
        return self._styles[look]

    def add(self, look: str, styles: Iterable[str]) -> None:
        new = [style for style in styles if style not in self._styles[look]]
        self._styles[look].update(new)
        if self._file and new:
            with self._file.open("ab", buffering=0) as stream:
                stream.write("".join(f"{look}\t{style}\n" for style in new).encode())
