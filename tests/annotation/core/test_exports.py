import csv
import io
import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.http import Http404
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import parquet
from annotation.core.exports import table_response

COLUMNS = ["system", "rho", "when"]


def body(**options: object) -> str:
    return b"".join(table_response(filename="study 1", **{"columns": COLUMNS, **options})).decode()  # type: ignore[arg-type]


def test_text_cells_cannot_run_as_formulas_and_numbers_stay_numbers() -> None:
    rows = [
        ["=1+1", -0.5, None],
        ["@SUM(A1)", 2, None],
        ["+1", 0, None],
        ["-x", 0, None],
        ["\tx", 0, None],
        ["a=b", 0, None],
        [" =1+1", 0, None],
        ["\ufeff\u200b-1", 0, None],
        ["＝1+1", 0, None],
        ["\n=1", 0, None],
        [["=1"], 0, None],
    ]
    table = list(csv.reader(io.StringIO(body(format="csv", rows=rows), newline="")))
    assert [row[0] for row in table] == [
        "system",
        "'=1+1",
        "'@SUM(A1)",
        "'+1",
        "'-x",
        "'\tx",
        "a=b",
        "' =1+1",
        "'\ufeff\u200b-1",
        "'＝1+1",
        "'\n=1",
        '["=1"]',
    ]
    assert table[1][1:] == ["-0.5", ""]


@pytest.mark.parametrize("undefined", [math.nan, math.inf, None, np.float64("nan")])
def test_undefined_is_null_in_json_and_empty_in_csv(undefined: float | None) -> None:
    rows = [["BLEU", undefined, datetime(2026, 1, 2, tzinfo=UTC)]]
    assert json.loads(body(format="json", rows=rows)) == [
        {"system": "BLEU", "rho": None, "when": "2026-01-02T00:00:00+00:00"}
    ]
    assert "BLEU,," in body(format="csv", rows=rows)


def test_each_json_line_holds_one_row_with_its_line_breaks_and_quotes() -> None:
    rows = [['he said "no"\nand left', np.int64(3), (1, 2)], ["ΔBLEU", 0.25, ""]]
    lines = body(format="jsonl", rows=iter(rows)).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"system": 'he said "no"\nand left', "rho": 3, "when": [1, 2]},
        {"system": "ΔBLEU", "rho": 0.25, "when": ""},
    ]
    assert list(csv.reader(io.StringIO(body(format="csv", rows=rows), newline="")))[1][0] == rows[0][0]


def test_an_empty_table_is_still_a_table() -> None:
    assert json.loads(body(format="json", rows=[])) == []
    assert body(format="csv", rows=[]) == "system,rho,when\r\n"
    assert body(format="jsonl", rows=[]) == ""


def test_file_names_are_safe_and_unknown_formats_are_404() -> None:
    response = table_response(format="csv", filename='a "b"/c', columns=COLUMNS, rows=[])
    assert response["Content-Disposition"] == 'attachment; filename="a_bc.csv"'
    named = table_response(format="csv", filename="run-系统", columns=COLUMNS, rows=[])
    assert named["Content-Disposition"] == "attachment; filename*=utf-8''run-%E7%B3%BB%E7%BB%9F.csv"
    with pytest.raises(Http404, match="'xlsx'; there are csv, json, jsonl, parquet"):
        table_response(format="xlsx", filename="x", columns=COLUMNS, rows=[])


# --- Parquet, read back with pyarrow ----------------------------------------------------------------------------------


def read_parquet(rows, columns=COLUMNS, **options) -> pa.Table:
    return pq.read_table(
        io.BytesIO(b"".join(table_response(format="parquet", filename="x", columns=columns, rows=rows, **options)))
    )


def test_parquet_holds_what_the_csv_holds_with_types() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
    columns = ["text", "whole", "number", "extra", "when", "day", "order", "money"]
    rows = [
        ["=1+1", np.int64(3), 0.5, True, moment, date(2026, 1, 2), (0, 2, 1), Decimal("0.1200")],
        ['he said "no"\nΔ', None, math.nan, False, None, None, [], None],
    ]
    table = read_parquet(rows, columns)
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "timestamp[us, tz=UTC]",
        "date32[day]",
        "list<element: int64>",
        "double",
    ]
    assert table.to_pylist()[0] == dict(
        zip(columns, ["=1+1", 3, 0.5, True, moment, date(2026, 1, 2), [0, 2, 1], 0.12], strict=True)
    )
    csv_rows = list(csv.DictReader(io.StringIO(body(format="csv", columns=columns, rows=rows), newline="")))
    for typed, text in zip(table.to_pylist(), csv_rows, strict=True):
        assert text["text"].removeprefix("'") == typed["text"]
        for name in ("whole", "number"):
            assert (float(text[name]) if text[name] else None) == typed[name]
        assert (datetime.fromisoformat(text["when"]) if text["when"] else None) == typed["when"]
        assert json.loads(text["order"]) == typed["order"]


def test_a_column_widens_if_a_later_batch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 2)
    rows = [[None, 1, 1], [None, 2, 2], [3, 2.5, "x"], [4, None, None], [5, 7, datetime(2026, 1, 2, tzinfo=UTC)]]
    table = read_parquet(iter(rows), ["late", "number", "mixed"])
    assert table.to_pydict() == {
        "late": [None, None, 3, 4, 5],
        "number": [1.0, 2.0, 2.5, None, 7.0],
        "mixed": ["1", "2", "x", None, "2026-01-02T00:00:00+00:00"],
    }
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "string"]


def test_a_long_table_is_sent_in_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 100)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = ([f"r{n}", n / 2, start + timedelta(seconds=n)] for n in range(1050))
    pieces = list(table_response(format="parquet", filename="x", columns=COLUMNS, rows=rows))
    file = pq.ParquetFile(io.BytesIO(b"".join(pieces)))
    assert (file.num_row_groups, file.metadata.num_rows) == (11, 1050)
    assert sum(bool(piece) for piece in pieces) > 10
    assert file.read().column("rho").to_pylist() == [n / 2 for n in range(1050)]


def test_a_column_without_values_has_the_given_type() -> None:
    table = read_parquet([["a", None, None]], types={"rho": "number", "when": "time"})
    assert [str(kind) for kind in table.schema.types] == ["string", "double", "timestamp[us, tz=UTC]"]
    assert read_parquet([]).num_rows == 0


def test_a_number_too_long_for_64_bits_becomes_text_and_a_row_too_short_is_refused() -> None:
    assert read_parquet([["a", 2**70, None], ["b", 1, None]]).column("rho").to_pylist() == [str(2**70), "1"]
    with pytest.raises(ValueError, match="not 3 values"):
        read_parquet([["a", 1]])


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"])) | st.none(),
            st.floats() | st.integers(-(2**40), 2**40) | st.none(),
            st.datetimes(timezones=st.just(UTC)) | st.none(),
        ),
        max_size=30,
    )
)
def test_parquet_and_json_lines_hold_the_same_rows(rows: list[tuple]) -> None:
    lines = [json.loads(line) for line in body(format="jsonl", rows=rows).split("\n") if line]
    records = read_parquet(rows).to_pylist()
    for record in records:
        record["when"] = record["when"] and record["when"].isoformat()
    assert records == lines


def test_the_download_menu_offers_every_format_of_a_table() -> None:
    menu = render_to_string("components/download_menu.html", {"csv_url": "/x.csv", "json_url": "/x.json"})
    assert all(f'href="/x.{ending}"' in menu for ending in ("csv", "json", "jsonl", "parquet"))
    menu = render_to_string("components/download_menu.html", {"csv_url": "?format=csv"})
    assert 'href="?format=parquet"' in menu
    assert "arquet" not in render_to_string("components/download_menu.html", {"svg_url": "/x.svg"})
