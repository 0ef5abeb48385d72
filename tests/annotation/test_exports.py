import csv
import io
import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest
from django.http import Http404

from annotation.exports import table_response

COLUMNS = ["system", "rho", "when"]


def body(**options: object) -> str:
    return b"".join(table_response(filename="study 1", **{"columns": COLUMNS, **options})).decode()  # type: ignore[arg-type]


def test_a_spreadsheet_cannot_run_a_text_cell_and_numbers_stay_numbers() -> None:
    rows = [
        ["=1+1", -0.5, None],
        ["@SUM(A1)", 2, None],
        ["+1", 0, None],
        ["-x", 0, None],
        ["\tx", 0, None],
        ["a=b", 0, None],
    ]
    found = list(csv.reader(io.StringIO(body(format="csv", rows=rows))))
    assert [row[0] for row in found] == ["system", "'=1+1", "'@SUM(A1)", "'+1", "'-x", "'\tx", "a=b"]
    assert found[1][1:] == ["-0.5", ""]


@pytest.mark.parametrize("undefined", [math.nan, math.inf, None, np.float64("nan")])
def test_undefined_is_null_in_json_and_empty_in_csv(undefined: float | None) -> None:
    rows = [["BLEU", undefined, datetime(2026, 1, 2, tzinfo=UTC)]]
    assert json.loads(body(format="json", rows=rows)) == [
        {"system": "BLEU", "rho": None, "when": "2026-01-02T00:00:00+00:00"}
    ]
    assert "BLEU,," in body(format="csv", rows=rows)


def test_json_lines_hold_one_row_each_with_their_line_breaks_and_quotes() -> None:
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


def test_the_file_gets_a_safe_name_and_an_unknown_format_does_not_exist() -> None:
    response = table_response(format="csv", filename='a "b"/c', columns=COLUMNS, rows=[])
    assert response["Content-Disposition"] == 'attachment; filename="a_bc.csv"'
    named = table_response(format="csv", filename="run-系统", columns=COLUMNS, rows=[])
    assert named["Content-Disposition"] == "attachment; filename*=utf-8''run-%E7%B3%BB%E7%BB%9F.csv"
    with pytest.raises(Http404, match="'xlsx'; there are csv, json, jsonl"):
        table_response(format="xlsx", filename="x", columns=COLUMNS, rows=[])
