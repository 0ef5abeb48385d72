"""Reading rows from bytes: errors are refused with their line, harmless oddities are counted."""

from collections.abc import Callable

import pytest

from annotation.core.errors import ImportRefused
from annotation.core.problems import Problems, grouped, unlisted
from annotation.core.rows import Oddities, Table, csv_delimiter, read_csv, read_jsonl, read_tsv, square


def read(reader: Callable[[bytes, Problems], Table], content: bytes) -> None:
    problems = Problems("a.txt")
    square(reader(content, problems), problems)
    problems.refuse()


def refused(reader: Callable[[bytes, Problems], Table], content: bytes) -> list[dict]:
    with pytest.raises(ImportRefused) as refusal:
        read(reader, content)
    return refusal.value.rows


def test_a_byte_order_mark_is_skipped_and_counted() -> None:
    table = read_tsv(b"\xef\xbb\xbfid\ttext\r\n1\tHi\r\n", Problems("a.tsv"))
    assert table.header == ["id", "text"]
    assert [row.cells for row in table.rows] == [["1", "Hi"]]
    assert table.oddities.counts() == {"byte_order_mark": 1, "windows_line_ends": 2}


def test_invalid_utf8_is_named_by_line_and_byte_on_every_line() -> None:
    rows = refused(read_csv, b"id\nok\na\xff\n\xc3(\n")
    assert [(row["line"], row["found"]) for row in rows] == [
        (3, "byte 0xFF at byte 2 of the line"),
        (4, "byte 0xC3 at byte 1 of the line"),
    ]


def test_utf16_is_recognised() -> None:
    assert refused(read_tsv, "id\n".encode("utf-16"))[0]["found"] == "UTF-16 text"


def test_a_quote_character_in_tsv_is_a_character() -> None:
    table = read_tsv(b'id\ttext\n1\t"Hi" he said\n2\t"\n', Problems("a.tsv"))
    assert [row.cells[1] for row in table.rows] == ['"Hi" he said', '"']
    assert table.oddities.quote_cells == 2


def test_csv_quotes_as_in_rfc_4180_and_counts_lines_of_the_file() -> None:
    # The records are those of RFC 4180, section 2, rules 6 and 7.
    table = read_csv(b'aaa,bbb,ccc\r\n"aaa","b\r\nbb","ccc"\r\n"aaa","b""bb","ccc"\r\n', Problems("a.csv"))
    assert [row.cells for row in table.rows] == [["aaa", "b\r\nbb", "ccc"], ["aaa", 'b"bb', "ccc"]]
    assert [row.line for row in table.rows] == [2, 4]


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("id;text", ";"),
        ("\n id;text", ";"),
        ('"a, b";text', ";"),
        ("id,text;more", ","),
        ('"id;text"', ","),
        ("id", ","),
    ],
)
def test_the_header_says_what_separates_the_cells_of_csv(header: str, delimiter: str) -> None:
    assert csv_delimiter(f"{header}\n1;2,5") == delimiter


def test_an_unclosed_quote_is_reported_at_the_start_of_its_row() -> None:
    rows = refused(read_csv, b'id,text\n1,fine\n2,"open\n3,more\n')
    assert (rows[0]["line"], rows[0]["field"]) == (3, "quoting")


def test_short_rows_are_filled_and_counted_but_long_rows_are_refused() -> None:
    problems = Problems("a.tsv")
    table: Table = read_tsv(b"a\tb\tc\n1\n1\t2\t3\n", problems)
    square(table, problems)
    assert [row.cells for row in table.rows] == [["1", "", ""], ["1", "2", "3"]]
    assert table.oddities.short_rows == 1
    rows = refused(read_tsv, b"a\tb\n1\t2\n1\t2\t3\n")
    assert (rows[0]["line"], rows[0]["field"], rows[0]["found"]) == (3, "number of cells", "3")


def test_unicode_line_separators_do_not_end_a_line_of_json() -> None:
    lines = list(read_jsonl('{"id": "a\u2028b"}\n\n{"id": "\x85"}'.encode(), Problems("a.jsonl"), Oddities()))
    assert lines == [(1, {"id": "a\u2028b"}), (3, {"id": "\x85"})]


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "column 2"),
        ("[1]", "line"),
        ('{"id": 1, "id": 2}', "id"),
        ('{"score": NaN}', "line"),
    ],
)
def test_lines_that_are_not_json_objects_are_refused(line: str, field: str) -> None:
    problems = Problems("a.jsonl")
    assert list(read_jsonl(f"{{}}\n{line}\n".encode(), problems, Oddities())) == [(1, {})]
    assert [(row["line"], row["field"]) for row in problems.rows] == [(2, field)]


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ('{"score": -Infinity}', "-Infinity"),
        ('{"rank": ' + "1" * 4301 + "}", "a whole number of more than 4,300 digits"),
        ("[" * 99999, "lists or objects nested too deep to read"),
    ],
)
def test_values_that_python_cannot_read_get_our_own_message(line: str, reported: str) -> None:
    problems = Problems("a.jsonl")
    assert list(read_jsonl(f"{{}}\n{line}\n".encode(), problems, Oddities())) == [(1, {})]
    assert [(row["line"], row["found"]) for row in problems.rows] == [(2, reported)]


def test_the_first_hundred_problems_are_kept_in_full_and_all_are_counted() -> None:
    problems = Problems("a.csv")
    for line in range(250):
        problems.add(line, "id", f"x{line}", "an id")
    with pytest.raises(ImportRefused, match=r"a\.csv, line 0, field id: found x0.* 249 more") as refusal:
        problems.refuse()
    assert (len(refusal.value.rows), refusal.value.total) == (100, 250)
    assert unlisted(refusal.value.rows, refusal.value.total) == 150
    assert {group["n"] for group in grouped(refusal.value.rows)} == {1}


def test_problems_with_the_same_words_leave_room_for_others() -> None:
    problems = Problems("a.csv")
    for line in range(250):
        problems.add(line, "system", "TeamEC", "a system")
    problems.add(250, "id", "", "an id")
    with pytest.raises(ImportRefused) as refusal:
        problems.refuse()
    rows, total = refusal.value.rows, refusal.value.total
    assert ([row["line"] for row in rows], total) == ([*range(10), 250], 251)
    assert unlisted(rows, total) == 0
    assert [(group["found"], group["line"], group["n"]) for group in grouped(rows)] == [
        ("TeamEC", 0, 250),
        ("nothing", 250, 1),
    ]


def test_words_that_take_time_are_found_only_for_errors_that_are_kept() -> None:
    asked: list[int] = []
    problems = Problems("a.csv")
    for line in range(250):
        problems.add(line, "id", f"x{line}", lambda line=line: f"an id {asked.append(line) or ''}")
    assert (problems.total, len(problems.rows), len(asked)) == (250, 100, 100)
