"""Reading triples from files written with the standard library, zstandard and pyarrow."""

import gzip
import io
import json
import struct
import tracemalloc
from collections.abc import Iterator
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import rows
from annotation.core.errors import ImportRefused
from annotation.hygiene.refusal import ParameterRefused
from annotation.mining.opening import Shape, begin, recognise
from annotation.mining.reading import Columns, ReadReport, read_triples
from annotation.mining.triples import Triple

GAME = Triple(("Did you see the game?",), "What a goal!", "It was offside.")
CAKE = Triple(("A.", "B."), "I baked a cake.", "Share it! 🍰")
PLAIN = Triple((), "Hi", "Hello")
TRIPLES = [GAME, CAKE, PLAIN]


def as_jsonl(triples: list[Triple]) -> bytes:
    return b"".join(json.dumps(triple._asdict()).encode() + b"\n" for triple in triples)


def as_tsv(triples: list[Triple]) -> bytes:
    rows = [["context", "message", "response"]]
    rows += [[" ||| ".join(triple.context), triple.message, triple.response] for triple in triples]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def as_parquet(triples: list[Triple], **options: object) -> bytes:
    table = pa.Table.from_pylist([{**triple._asdict(), "context": list(triple.context)} for triple in triples])
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


class Pipe(io.RawIOBase):
    """Standard input behind a pipe: it is not seekable, and a read may return less than requested."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._waiting:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._waiting = part
        size = min(len(buffer), len(self._waiting), 7000)
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size


def pipe(*parts: bytes) -> BinaryIO:
    return cast(BinaryIO, Pipe(iter(parts)))


def read(content: bytes, file_format: str, **options: object) -> tuple[list[Triple], ReadReport]:
    report = ReadReport("corpus")
    triples = list(read_triples(io.BytesIO(content), file_format=file_format, report=report, **options))  # type: ignore[arg-type]
    return triples, report


def refused(content: bytes, file_format: str, **options: object) -> list[tuple[int | None, str, str]]:
    with pytest.raises(ImportRefused) as caught:
        read(content, file_format, **options)
    assert caught.value.total == len(caught.value.rows)
    assert all(row["accepted"] for row in caught.value.rows)
    return [(row["line"], row["field"], row["found"]) for row in caught.value.rows]


@pytest.mark.parametrize("seekable", [True, False], ids=["file", "pipe"])
@pytest.mark.parametrize("compression", ["", "gz", "zst"])
@pytest.mark.parametrize(("file_format", "write"), [("jsonl", as_jsonl), ("tsv", as_tsv), ("parquet", as_parquet)])
def test_each_format_is_recognised_and_read_from_files_and_pipes(
    file_format: str, write: object, compression: str, seekable: bool
) -> None:
    content = write(TRIPLES)  # type: ignore[operator]
    if compression:
        content = gzip.compress(content) if compression == "gz" else zstandard.compress(content)
    given_stream: BinaryIO = io.BytesIO(content) if seekable else pipe(content)
    stream, shape = begin(given_stream)
    assert shape == Shape(file_format, compression)
    report = ReadReport("-")
    assert list(read_triples(stream, **shape._asdict(), report=report)) == TRIPLES
    assert report.triples == 3
    assert not given_stream.closed


@pytest.mark.parametrize(
    ("filename", "head", "shape"),
    [
        ("a.jsonl", b"", ("jsonl", "")),
        ("a.NDJSON.GZ", b"", ("jsonl", "gz")),
        ("a.tsv.zst", b"", ("tsv", "zst")),
        ("a.parquet", b"", ("parquet", "")),
        ("a.jsonl.gz", b'{"message": "not compressed after all"}', ("jsonl", "")),
        ("a.jsonl", gzip.compress(b"{}", mtime=0), ("jsonl", "gz")),
        ("a", b'\xef\xbb\xbf {"message": 1}', ("jsonl", "")),
        ("a", b"context\tmessage\tresponse\n", ("tsv", "")),
    ],
)
def test_the_content_decides_the_format_before_the_name(filename: str, head: bytes, shape: tuple[str, str]) -> None:
    assert recognise(head, filename) == shape


def test_a_file_of_another_kind_is_refused_with_the_accepted_formats() -> None:
    with pytest.raises(ParameterRefused, match=r"file: found 'notes.docx'; accepted: JSON Lines"):
        recognise(b"PK\x03\x04", "notes.docx")


def test_concatenated_frames_and_members_are_one_file() -> None:
    first, second = as_jsonl([GAME]), as_jsonl([CAKE])
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"abc"  # RFC 8878, section 3.1.2
    assert read(gzip.compress(first) + gzip.compress(second), "jsonl", compression="gz")[0] == [GAME, CAKE]
    framed = skippable + zstandard.compress(first) + zstandard.compress(second)
    assert read(framed, "jsonl", compression="zst")[0] == [GAME, CAKE]
    assert recognise(framed) == ("jsonl", "zst")


@pytest.mark.parametrize(("compression", "compress"), [("gz", gzip.compress), ("zst", zstandard.compress)])
@pytest.mark.parametrize(("file_format", "write"), [("jsonl", as_jsonl), ("parquet", as_parquet)])
def test_a_compressed_file_that_was_cut_off_is_refused(
    compression: str, compress: object, file_format: str, write: object
) -> None:
    compressed = compress(write(TRIPLES * 50))  # type: ignore[operator]
    ((_, field, problem),) = refused(compressed[:-20], file_format, compression=compression)
    assert field == "compression"
    assert "end" in problem


def test_damaged_compressed_data_is_refused() -> None:
    damaged = bytearray(zstandard.compress(as_jsonl(TRIPLES * 50)))
    damaged[20:40] = bytes(20)
    assert refused(bytes(damaged), "jsonl", compression="zst")[-1][1] == "compression"
    assert refused(b"\x1f\x8b not gzip", "jsonl", compression="gz")[0][1] == "compression"
    assert refused(as_parquet(TRIPLES)[:-30], "parquet")[0][1] == "file"


def test_a_context_is_a_list_or_one_text_with_separators_or_nothing() -> None:
    lines = b'{"context": "A. ||| B.", "message": "m", "response": "r"}\n'
    lines += b'{"context": null, "message": "m", "response": "r"}\n'
    triples, _ = read(lines + b'{"message": "m", "response": "r"}\n', "jsonl")
    assert [triple.context for triple in triples] == [("A.", "B."), (), ()]
    triples, _ = read(b'{"context": "A. EOS B.", "message": "m", "response": "r"}', "jsonl", turn_separator="EOS")
    assert triples[0].context == ("A.", "B.")


def test_columns_can_have_other_names_or_numbers() -> None:
    columns = Columns(context="history", message="prompt", response="reply")
    triples, report = read(b"id\tprompt\treply\thistory\n1\tm\tr\tc\n", "tsv", columns=columns)
    assert triples == [Triple(("c",), "m", "r")]
    assert report.other_columns == ["id"]
    _, report = read(b"i\0d\tprompt\treply\thistory\n1\tm\tr\tc\n", "tsv", columns=columns)
    assert report.other_columns == ["i\\x00d"]  # the report is stored, as JSON
    line = b'{"prompt": "m", "reply": "r", "history": ["c"], "score": 3}'
    triples, report = read(line, "jsonl", columns=columns)
    assert triples == [Triple(("c",), "m", "r")]
    assert report.other_columns == ["score"]
    table = pa.table({"prompt": ["m"], "reply": ["r"], "history": ["a|||b"], "x": [1]})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert read(sink.getvalue(), "parquet", columns=columns)[0] == [Triple(("a", "b"), "m", "r")]
    assert read(b"r\tm\n", "tsv", header=False, columns=Columns(None, 2, 1))[0] == [Triple((), "m", "r")]
    assert read(b"c\tm\tr\n", "tsv", header=False)[0] == [Triple(("c",), "m", "r")]
    assert read(b"x\ty\tz\nc\tm\tr\n", "tsv", columns=Columns(1, 2, 3))[0] == [Triple(("c",), "m", "r")]


def test_a_quote_in_tsv_is_an_ordinary_character() -> None:
    triples, report = read(b'message\tresponse\n"m\t"r" said\n', "tsv")
    assert triples == [Triple((), '"m', '"r" said')]
    assert report.quote_cells == 2


def test_oddities_are_counted_and_empty_texts_are_left_out() -> None:
    lines = [
        b'\xef\xbb\xbf{"message": "m", "response": "r"}\r\n',
        b"\r\n",
        b'{"message": "m", "response": "  "}\n',
        b'{"message": "", "response": "r"}\n',
        b'{"message": "line\\u2028two", "response": "r"}',
    ]
    triples, report = read(b"".join(lines), "jsonl")
    assert triples == [Triple((), "m", "r"), Triple((), "line\u2028two", "r")]
    assert report.counts() == {
        "lines": 5,
        "triples": 2,
        "empty_messages": 1,
        "empty_responses": 1,
        "byte_order_mark": 1,
        "windows_line_ends": 2,
        "blank_lines": 1,
    }


def test_every_bad_line_is_listed_and_nothing_is_yielded_after_the_first() -> None:
    lines = [
        b'{"message": "m", "response": "r"}',
        b'{"message": "m"}',
        b'{"response": "r", "message": null}',
        b'{"message": 3, "response": "r"}',
        b'{"message": "m", "response": "r", "context": {"a": 1}}',
        b'{"message": "m", "response": "r", "context": ["a", 2]}',
        b'{"message": "m\\u0000", "response": "\\ud83c"}',
        b'{"message": "m", "message": "m", "response": "r"}',
        b'{"message": "m" "response": "r"}',
        b"[1]",
        b'{"message": "\xff", "response": "r"}',
        b'{"message": "m", "response": "r"}',
    ]
    report = ReadReport("talk.jsonl")
    yielded = []
    with pytest.raises(
        ImportRefused, match=r"talk.jsonl, line 2, field response: found nothing; accepted: a text"
    ) as caught:
        yielded += read_triples(io.BytesIO(b"\n".join(lines)), file_format="jsonl", report=report)
    assert report.triples == 1
    assert [(row["line"], row["field"]) for row in caught.value.rows] == [
        (2, "response"),
        (3, "message"),
        (4, "message"),
        (5, "context"),
        (6, "context[1]"),
        (7, "message"),
        (7, "response"),
        (8, "message"),
        (9, "column 17"),
        (10, "line"),
        (11, "encoding"),
    ]


def test_of_equal_problems_ten_are_listed_and_all_are_counted() -> None:
    with pytest.raises(ImportRefused) as caught:
        read(b'{"message": "m"}\n' * 250, "jsonl")
    assert (len(caught.value.rows), caught.value.total) == (10, 250)


def test_tables_that_do_not_fit_their_header_are_refused() -> None:
    assert refused(b"context\tmessage\nc\tm\n", "tsv") == [(1, "response", "no such column")]
    assert refused(b"message\tresponse\tmessage\nm\tr\tm\n", "tsv") == [(1, "column 3", "message")]
    assert refused(b"message\tresponse\nm\tr\textra\nm\n", "tsv") == [
        (2, "number of cells", "3"),
        (3, "response", "nothing"),
    ]
    assert refused(b"a\tb\nm\tr\n", "tsv", columns=Columns(None, 1, 3)) == [(1, "column 3", "2 columns")]
    assert refused(b"m\n", "tsv", header=False, columns=Columns(None, 1, 2)) == [(1, "column 2", "nothing")]


def test_a_named_context_column_must_exist() -> None:
    columns = Columns(context="history")
    assert refused(b'{"message": "m", "response": "r"}', "jsonl", columns=columns) == [(1, "history", "nothing")]
    assert refused(b"message\tresponse\nm\tr\n", "tsv", columns=columns) == [(1, "history", "no such column")]
    sink = io.BytesIO()
    pq.write_table(pa.table({"message": ["m"], "response": ["r"]}), sink)
    assert refused(sink.getvalue(), "parquet", columns=columns) == [(None, "history", "no such column")]


def test_a_file_without_triples_is_refused() -> None:
    assert refused(b"", "jsonl") == [(None, "triples", "none")]
    assert refused(b"message\tresponse\n", "tsv") == [(None, "triples", "none")]
    assert refused(b'{"message": "m", "response": ""}', "jsonl") == [(None, "triples", "none")]


def test_utf16_is_recognised_by_its_byte_order_mark() -> None:
    assert refused("message\tresponse\n".encode("utf-16"), "tsv") == [(1, "encoding", "UTF-16 text")]


def test_a_line_of_more_than_4_mib_is_refused_and_the_rest_is_read() -> None:
    long_line = b'{"message": "m", "response": "' + b"x" * (5 * 1024 * 1024) + b'"}\n'
    assert refused(long_line + b'{"message": "m"}\n', "jsonl") == [
        (1, "line", "more than 4 MiB"),
        (2, "response", "nothing"),
    ]


def test_parquet_of_other_types_or_with_invalid_text_is_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"message": ["m"], "response": [1], "context": [[1]]}), sink)
    assert refused(sink.getvalue(), "parquet") == [
        (None, "context", "a column of type list<element: int64>"),
        (None, "response", "a column of type int64"),
    ]
    sink = io.BytesIO()
    broken = pa.array([b"ok", b"\xff", None], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"message": broken, "response": ["r", "r", "r"]}), sink)
    assert refused(sink.getvalue(), "parquet") == [
        (2, "message", "byte 0xFF, which is not UTF-8"),
        (3, "message", "null"),
    ]


def test_parquet_of_many_row_groups_and_other_string_types_is_read() -> None:
    expected = [Triple((str(i),), f"message {i}", f"response {i}") for i in range(10_000)]
    triples, report = read(as_parquet(expected, row_group_size=1000), "parquet")
    assert triples == expected
    assert report.lines == 10_000
    messages = pa.array(["m"], pa.large_string())
    table = pa.table({"message": messages, "response": pa.array(["r"]).dictionary_encode(), "context": pa.nulls(1)})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert read(sink.getvalue(), "parquet")[0] == [Triple((), "m", "r")]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"file_format": "csv"}, "file_format"),
        ({"compression": "bz2"}, "compression"),
        ({"turn_separator": " "}, "turn_separator"),
        ({"columns": Columns(1, 2, 3)}, "columns"),
        ({"file_format": "tsv", "header": False, "columns": Columns()}, "columns"),
    ],
)
def test_invalid_options_are_refused_by_name(options: dict[str, object], field: str) -> None:
    with pytest.raises(ParameterRefused) as caught:
        list(read_triples(io.BytesIO(), **{"file_format": "jsonl", "report": ReadReport("f"), **options}))  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ((None, "", "r"), "columns.message"),
        ((0, 1, 2), "columns.context"),
        (("a", "a", "b"), "columns"),
        ((1, "m", "r"), "columns"),
    ],
)
def test_invalid_columns_are_refused_by_name(columns: tuple[object, object, object], field: str) -> None:
    with pytest.raises(ParameterRefused) as caught:
        Columns(*columns)  # type: ignore[arg-type]
    assert caught.value.field == field


@pytest.mark.parametrize("compression", ["", "zst", "gz"])
def test_memory_does_not_grow_with_the_file(compression: str) -> None:
    """10,000 lines, 30 MB, are read from a pipe; less than 4 MB of memory is used."""
    line = json.dumps({"context": ["c" * 1000], "message": "m" * 1000, "response": "r" * 1000}).encode() + b"\n"
    block = line * 100
    if compression:
        block = gzip.compress(block) if compression == "gz" else zstandard.compress(block)
    report = ReadReport("-")
    stream = cast(BinaryIO, Pipe(block for _ in range(100)))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_triples(stream, file_format="jsonl", compression=compression, report=report))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 10_000
    assert peak < 4_000_000


def test_a_long_read_sends_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "INTERVAL_SECONDS", 0)
    beats = []
    content = b'{"message": "m"}\n' * 500  # every line is bad; heartbeats are sent all the same
    with pytest.raises(ImportRefused):
        list(
            read_triples(io.BytesIO(content), file_format="jsonl", report=ReadReport("f"), beat=lambda: beats.append(1))
        )
    assert len(beats) > 400


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(st.lists(TEXT).map(tuple), TEXT, TEXT).map(lambda parts: Triple(*parts)), min_size=1))
def test_any_triples_are_read_as_written(triples: list[Triple]) -> None:
    assert read(as_jsonl(triples), "jsonl")[0] == triples


def test_whatever_the_triples_say_they_come_back_from_parquet() -> None:
    triples = [
        Triple((), "m\t\r\n", "a\u2028b"),
        Triple(("", "\U0001f600"), '"', "|||"),
        Triple(("a",) * 50, "é" * 999, "\ufeff"),
    ]
    assert read(as_parquet(triples), "parquet")[0] == triples


@pytest.mark.parametrize("name", ["a\0", "\ud800"])
def test_a_column_name_that_cannot_be_stored_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the name of a column"):
        Columns(message=name)
