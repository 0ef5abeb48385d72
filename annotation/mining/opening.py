"""Recognise files by their first bytes, and decompress them piece by piece, also from a pipe."""

import gzip
import io
import zlib
from typing import Any, BinaryIO, NamedTuple, cast

import zstandard

from annotation.core.file_limits import Allowance, Counted
from annotation.core.rows import UTF8_MARK, format_of
from annotation.hygiene.refusal import refuse

FORMATS = {"jsonl": "JSON Lines", "tsv": "TSV", "parquet": "Parquet"}
COMPRESSIONS = {"": "not compressed", "gz": "gzip", "zst": "zstd"}
FORMAT_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "tsv",
    ".parquet": "parquet",
}
COMPRESSION_ENDINGS = {".gz": "gz", ".zst": "zst", ".zstd": "zst"}
GZIP_MAGIC, ZSTD_MAGIC, PARQUET_MAGIC = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
HEAD_BYTES = 256 * 1024  # more than a block of zstd, so that something can be decompressed
CHUNK_BYTES = 1024 * 1024
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError)  # raised by decompression
ZSTD_PART_BYTES = 1024  # small, to bound the decompressed size of a part: 32 MiB
UPLOAD_WINDOW = 2**27  # memory that decompressing an upload may take: what the program zstd allows by itself
ZSTD_WINDOW = 2**31  # for files written with --long=31, such as large public collections


class Shape(NamedTuple):
    """The format of a file, one of ``FORMATS``, and its compression, one of ``COMPRESSIONS``."""

    file_format: str
    compression: str


def recognise(head: bytes, filename: str = "") -> Shape:
    """Recognise a file by its first bytes or, if they do not tell, by its name.

    Parameters
    ----------
    head : bytes
        The first ``HEAD_BYTES`` of the file, or all of it.
    filename : str
        Empty for standard input.

    Raises
    ------
    ParameterRefused
        Neither the content nor the name shows a known format.

    Examples
    --------
    >>> recognise(b'{"message": "Hi"}')
    Shape(file_format='jsonl', compression='')
    >>> recognise(b"", "triples.tsv.gz")
    Shape(file_format='tsv', compression='gz')
    """
    name = filename.lower()
    ending = next((ending for ending in COMPRESSION_ENDINGS if name.endswith(ending)), "")
    inner = name.removesuffix(ending)
    compression = compression_of(head) if head else COMPRESSION_ENDINGS.get(ending, "")
    start = _beginning(head, compression)
    if start.startswith(PARQUET_MAGIC):
        return Shape("parquet", compression)
    by_name = format_of(inner, FORMAT_ENDINGS)
    if by_name is not None:
        return Shape(by_name, compression)
    if start.removeprefix(UTF8_MARK).lstrip()[:1] == b"{":
        return Shape("jsonl", compression)
    if b"\t" in start.split(b"\n", 1)[0]:
        return Shape("tsv", compression)
    accepted = "JSON Lines (.jsonl), TSV (.tsv) or Parquet (.parquet), each also as .gz or .zst"
    return refuse("file", filename or "a stream that is none of these", accepted)


def compression_of(head: bytes) -> str:
    """Return one of ``COMPRESSIONS`` by the first bytes of a file."""
    if head.startswith(GZIP_MAGIC):
        return "gz"
    # A skippable frame may come first: 0x184D2A50 to 5F.
    skippable = len(head) >= 4 and head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18"
    return "zst" if head.startswith(ZSTD_MAGIC) or skippable else ""


def _beginning(head: bytes, compression: str) -> bytes:
    """Return the first bytes of the content, or b"" for a damaged head: reading the file reports the damage."""
    if not compression:
        return head
    try:
        if compression == "gz":
            return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, HEAD_BYTES)
        with decompressed(io.BytesIO(head), compression) as content:
            return content.read1(HEAD_BYTES)
    except (EOFError, zlib.error, zstandard.ZstdError):
        return b""


def begin(stream: BinaryIO, filename: str = "") -> tuple[BinaryIO, Shape]:
    """Return a stream with all bytes of the given one, and what it is."""
    head = b""
    while len(head) < HEAD_BYTES and (part := stream.read(HEAD_BYTES - len(head))):
        head += part
    shape = recognise(head, filename)
    if stream.seekable():
        stream.seek(-len(head), io.SEEK_CUR)
        return stream, shape
    return cast(BinaryIO, io.BufferedReader(_Plain(stream, head), CHUNK_BYTES)), shape


class _Plain(io.RawIOBase):
    """A stream that its reader does not close; bytes that were read from it before come first."""

    def __init__(self, stream: BinaryIO, head: bytes = b"") -> None:
        self._stream = stream
        self._waiting = memoryview(head)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            self._waiting = memoryview(self._more(len(buffer)))
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size

    def _more(self, size: int) -> bytes:
        return self._stream.read(size)


class _Zstd(_Plain):
    """Decompress frame after frame. The library's reader does not notice that a file was cut off."""

    def __init__(self, stream: BinaryIO, window: int) -> None:
        super().__init__(stream)
        self._window = window
        self._frame: Any = None  # None between two frames

    def _more(self, size: int) -> bytes:
        while True:
            part: bytes = b""
            if self._frame is not None and self._frame.eof:
                part, self._frame = self._frame.unused_data, None
            part = part or self._stream.read(ZSTD_PART_BYTES)
            if not part and self._frame is None:
                return b""
            if not part:
                raise EOFError("the file ends inside a zstd frame")
            if self._frame is None:
                self._frame = zstandard.ZstdDecompressor(max_window_size=self._window).decompressobj()
            content: bytes = self._frame.decompress(part)
            if content:
                return content


class _Allowed(_Plain):
    """Content that is unpacked piece by piece, as far as is allowed."""

    def __init__(self, content: BinaryIO, packed: Counted, allowance: Allowance) -> None:
        super().__init__(content)
        self._packed, self._allowance = packed, allowance

    def _more(self, size: int) -> bytes:
        part = self._stream.read(size)
        self._allowance.take(len(part), self._packed.count)
        return part


def decompressed(stream: BinaryIO, compression: str, allowance: Allowance | None = None) -> io.BufferedReader:
    """Return the content of a stream; TooLarge is raised if it unpacks to more than is allowed."""
    if compression and allowance is not None:
        packed = Counted(stream)
        content = _raw(cast(BinaryIO, packed), compression, UPLOAD_WINDOW)
        return io.BufferedReader(_Allowed(cast(BinaryIO, content), packed, allowance), CHUNK_BYTES)
    return io.BufferedReader(_raw(stream, compression, ZSTD_WINDOW), CHUNK_BYTES)


def _raw(stream: BinaryIO, compression: str, window: int) -> io.RawIOBase:
    if compression == "gz":
        return cast(io.RawIOBase, gzip.GzipFile(fileobj=stream))
    return _Zstd(stream, window) if compression == "zst" else _Plain(stream)
