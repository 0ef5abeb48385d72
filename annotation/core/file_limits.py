"""Limits of what a file may hold: one place for every reader, each limit with its reason.

They bound the memory and the time that a file of a few kilobytes can cost. A file within the size of an upload that
exceeds one is refused, with the limit, what was found and what is accepted.
"""

from dataclasses import dataclass
from typing import BinaryIO

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class TableLimits:
    """What a reader that keeps a whole table in memory accepts."""

    rows: int
    cells: int


# --- Tables and JSON --------------------------------------------------------------------------------------------------

# A column for each of a thousand raters and five criteria; more than that is another file read as a table.
COLUMNS = 5_000
# A judgement has a value on each criterion, also if its row names one alone.
CRITERIA = 200
# Names of columns and fields are repeated in messages and in reports.
NAME_CHARACTERS = 1_000
# A line is decoded at once, and its lists and objects take up to thirty times its size.
LINE_CHARACTERS = 4 * MIB
# Each row becomes objects of about half a kilobyte: a gigabyte of a worker.
WORKER = TableLimits(rows=2_000_000, cells=20_000_000)
# What a page reads of a file before it answers, at most: some seconds, and a hundred megabytes.
PAGE_BYTES = 4 * MIB
PAGE = TableLimits(rows=100_000, cells=1_000_000)
# Rows that are shorter than the header are filled with empty cells, which cost memory that the file did not.
FILLED_CELLS = 1_000_000
# Every value of a document of JSON takes some fifty bytes, even an empty list of two.
DOCUMENT_BYTES = 64 * MIB

# A page reads and checks the file of a campaign or of its prepared screens; the largest known have 200 kB.
DESIGN_BYTES = MIB
# Mistakes that a page lists before it stops reading.
PAGE_MISTAKES = 100

# --- Archives and compressed files ------------------------------------------------------------------------------------

# An archive of scores is read while a page waits: what it holds in files of scores, and in all files.
SCORES_PAGE_BYTES = 32 * MIB
ARCHIVE_BYTES = 512 * MIB
# Each entry is an object in memory, whether its file is read or skipped.
ARCHIVE_MEMBERS = 20_000
# A line of scores takes as long to read however short it is; lines have this many bytes on average, or more.
SCORE_LINE_BYTES = 16
# A member's name and attributes are read into memory at once.
MEMBER_HEADER_BYTES = 64 * KIB
# Texts compress to a tenth, logs that repeat themselves to a fiftieth.
RATIO = 100
# Small files may be more regular than that.
RATIO_FREE_BYTES = 8 * MIB
# An upload that is unpacked piece by piece: what the disk and the time of a worker allow.
UNPACKED_BYTES = 8 * 1024 * MIB

# --- Corpora ----------------------------------------------------------------------------------------------------------

# An index holds a thousand triples in memory at a time.
TRIPLE_CHARACTERS = 100_000
# Parquet is decoded in a process of its own, which may use this much memory.
PARQUET_MEMORY_BYTES = 512 * MIB

# --- Models -----------------------------------------------------------------------------------------------------------

# A line of a file of word vectors or n-grams: a word and some thousand numbers.
MODEL_LINE_BYTES = MIB
DIMENSIONS = 20_000


class TooLarge(ValueError):
    """A file exceeds a limit: ``field`` names the limit."""

    def __init__(self, field: str, found: str, accepted: str) -> None:
        super().__init__(f"{field}: found {found}; accepted: {accepted}")
        self.field, self.found, self.accepted = field, found, accepted


def check(field: str, found: int, most: int, unit: str = "") -> None:
    """Raise TooLarge if a number exceeds a limit."""
    if found > most:
        raise TooLarge(field, f"more than {most:,}{unit}", f"at most {most:,}{unit}")


class Counted:
    """A binary stream that counts what is read from it, for ``Allowance``."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.count = stream, 0

    def read(self, size: int = -1) -> bytes:
        part = self.stream.read(size)
        self.count += len(part)
        return part


class Allowance:
    """How much may still be unpacked: at most ``most`` bytes, and at most ``RATIO`` times what was read for it."""

    def __init__(self, most: int | None = None) -> None:
        self.most, self.unpacked = most, 0

    def take(self, unpacked: int, packed: int) -> None:
        """Count bytes that were unpacked; ``packed`` is what was read so far, in all."""
        self.unpacked += unpacked
        if self.most is not None:
            check("unpacked size", self.unpacked, self.most, " bytes")
        if self.unpacked > RATIO_FREE_BYTES + RATIO * packed:
            ratio = f"{self.unpacked:,} bytes unpacked from {packed:,}"
            accepted = f"at most {RATIO} times the packed size, and {RATIO_FREE_BYTES:,} bytes"
            raise TooLarge("compression", ratio, accepted)
