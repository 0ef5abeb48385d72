"""A zip that is sent while it is written, in bounded memory."""

import lzma
import zipfile
import zlib
from collections.abc import Iterable, Iterator

from annotation.core.outbox import Outbox

STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: the same members give the same bytes
# What the standard library raises of zips that are cut off, damaged, encrypted or packed in a way it does not know.
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)
ENTRY = b"PK\x01\x02"  # begins each entry of a zip's directory
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # that are read
PACKED = (".parquet", ".gz", ".zst")  # compressed already


def zip_chunks(members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a zip of members, given by name and pieces; each member is read when it is written."""
    outbox = Outbox()
    with zipfile.ZipFile(outbox, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, chunks in members:
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as member:
                for chunk in chunks:
                    member.write(chunk)
                    if sent := outbox.take():
                        yield sent
            yield outbox.take()
    yield outbox.take()
