"""A streamed zip has the same bytes as one that the standard library writes to a pipe."""

import io
import zipfile

from annotation.core.zips import zip_chunks

MEMBERS = [("README.md", [b"One.\n", b"Two.\n"]), ("rows.parquet", [b"PAR1" * 50]), ("empty.txt", [])]


class Pipe(io.RawIOBase):
    """A file that can only be written to."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:
        self.content += bytes(data)
        return len(data)


def test_the_bytes_equal_those_of_the_standard_library() -> None:
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, chunks in MEMBERS:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as member:
                member.write(b"".join(chunks))
    assert b"".join(zip_chunks(MEMBERS)) == pipe.content


def test_members_are_read_lazily() -> None:
    turns: list[str] = []

    def members():
        for name in ("first", "second"):
            turns.append(name)
            yield name, (turns.append(f"{name} read") or b"x" for _ in range(1))

    with zipfile.ZipFile(io.BytesIO(b"".join(zip_chunks(members())))) as archive:
        assert archive.namelist() == ["first", "second"]
    assert turns == ["first", "first read", "second", "second read"]
