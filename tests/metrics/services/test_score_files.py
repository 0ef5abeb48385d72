"""Files of scores made elsewhere: every shape that is read, and the errors for the others."""

import io
import json
import tarfile
import zipfile

import numpy as np
import pytest

from annotation.core.errors import ImportRefused
from annotation.core.problems import Problems
from metrics.services.score_files import FileScores, Known, read_scores

KNOWN = Known(["Echo", "Parrot"], ["1", "2", "3"])
NAN = np.nan
EXPECTED = [[0.5, NAN, 1e-3], [-1.0, 0.1, 0.30000000000000004]]
LONG = [
    ("Parrot", "3", "0.30000000000000004"),
    ("Echo", "1", "0.5"),
    ("Echo", "3", "1e-3"),
    ("Parrot", "1", "-1"),
    ("Parrot", "2", ".1"),
    ("Echo", "2", ""),
]
SEGMENTS = "Echo\t0.5\nEcho\tNone\nEcho\t0.001\nParrot\t-1\nParrot\t0.1\nParrot\t0.30000000000000004\n"


def read(text: str | bytes, filename: str, known: Known = KNOWN, **options: int) -> list[FileScores]:
    content = text.encode() if isinstance(text, str) else text
    problems = Problems(filename)
    scores = read_scores(content, filename, known, problems, **options)
    problems.refuse()
    return scores


def refusal(text: str | bytes, filename: str, **options: int) -> ImportRefused:
    with pytest.raises(ImportRefused) as raised:
        read(text, filename, **options)
    return raised.value


def zipped(files: dict[str, str], packing: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def lines(rows: list[tuple[str, ...]], separator: str) -> str:
    return "\n".join(separator.join(row) for row in rows)


JSON_LONG = "\n".join(
    json.dumps({"system": system, "item": int(item), "score": float(score) if score else None})
    for system, item, score in LONG
)
SHAPES = {
    "long.csv": lines([("system", "item", "score"), *LONG], ","),
    "long.tsv": lines([("system", "item", "score"), *LONG], "\t"),
    "long.jsonl": JSON_LONG,
    "nan.jsonl": JSON_LONG.replace("null", "NaN"),
    "wide.csv": "item,Parrot,Echo\n3,0.30000000000000004,1e-3\n1,-1,0.5\n2,.1,None\n",
    "wide.jsonl": '{"item": "1", "Echo": 0.5, "Parrot": -1}\n{"item": "2", "Parrot": 0.1}\n'
    '{"item": "3", "Echo": 0.001, "Parrot": 0.30000000000000004}\n',
    "COMET-22-refA.seg.score": SEGMENTS,
}


@pytest.mark.parametrize("filename", SHAPES)
def test_every_shape_gives_the_same_scores(filename: str) -> None:
    (file_scores,) = read(SHAPES[filename], filename)
    assert file_scores.systems == ["Echo", "Parrot"]
    assert file_scores.level == "segment"
    np.testing.assert_array_equal(file_scores.scores, EXPECTED)


@pytest.mark.parametrize("filename", ["systems.csv", "x-src.sys.score"])
def test_scores_of_systems_alone_are_read(filename: str) -> None:
    text = "system,score\nParrot,0.25\nEcho,nan\n" if filename.endswith("csv") else "Parrot\t0.25\nEcho None\n"
    (file_scores,) = read(text, filename)
    assert (file_scores.level, file_scores.systems) == ("system", ["Echo", "Parrot"])
    np.testing.assert_array_equal(file_scores.scores, [[NAN], [0.25]])


def test_a_name_of_mt_metrics_eval_names_the_metric() -> None:
    assert read(SEGMENTS, "COMET-22-refA.seg.score")[0].name == "COMET-22-refA"
    assert read(SHAPES["long.csv"], "long.csv")[0].name == ""


def test_each_column_of_numbers_is_a_metric_and_others_are_left_out() -> None:
    text = "system,item,text,TER,judge\nEcho,1,a,-0.5,4\nEcho,2,b 2,,5\nParrot,1,c,1e-3,3\n"

    ter, judge = read(text, "all.csv")

    assert [(each.name, each.level, each.systems) for each in (ter, judge)] == [
        ("TER", "segment", ["Echo", "Parrot"]),
        ("judge", "segment", ["Echo", "Parrot"]),
    ]
    np.testing.assert_array_equal(ter.scores, [[-0.5, np.nan, np.nan], [0.001, np.nan, np.nan]])
    np.testing.assert_array_equal(judge.scores, [[4, 5, np.nan], [3, np.nan, np.nan]])
    assert ter.left_out == judge.left_out == ["text"]
    assert [each.level for each in read("system,BLEU,chrF\nEcho,1,2\n", "systems.csv")] == ["system", "system"]


def test_tables_in_an_archive_name_their_metrics() -> None:
    files = {"judge.csv": COLUMN, "more/all.jsonl": '{"system": "Echo", "item": 1, "TER": 0.5, "LEPOR": 0.25}\n'}
    assert [(each.filename, each.name) for each in read(zipped(files), "all.zip")] == [
        ("judge.csv", "judge"),
        ("more/all.jsonl", "TER"),
        ("more/all.jsonl", "LEPOR"),
    ]


def test_a_table_with_too_many_cells_is_refused_with_the_cure() -> None:
    (row,) = refusal("system,item,score\n" + "Echo,1,1\n" * 1100, "a.csv").rows
    assert (row["field"], row["found"]) == ("rows", "more than 1,012")
    assert row["accepted"].endswith("a row for each output of the data set, without columns that hold no scores")


def test_systems_may_have_spaces_in_their_names_where_a_tab_follows() -> None:
    known = Known(["Team A"], ["1"])
    assert read("Team A\t0.5\n", "x.seg.score", known)[0].scores.tolist() == [[0.5]]


WIDE = ",".join(f"m{number}" for number in range(65))
COLUMN = "system,item,score\nEcho,1,1\n"


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_an_archive_gives_each_metric_at_each_level(pack) -> None:
    files = {
        "wmt22/metric-scores/en-de/COMET-refA.seg.score": SEGMENTS,
        "wmt22/metric-scores/en-de/COMET-refA.sys.score": "Echo\t0.1\nParrot\t0.2\n",
        "wmt22/metric-scores/en-de/COMET-refA.doc.score": "whatever",
        "wmt22/human-scores/en-de.mqm.seg.score": "whatever",
        "wmt22/metric-scores/en-de/._COMET-refA.sys.score": "whatever",
    }
    file_scores = read(pack(files), "wmt.zip" if pack is zipped else "wmt.tar.gz")
    assert [(entry.name, entry.level) for entry in file_scores] == [("COMET-refA", "segment"), ("COMET-refA", "system")]
    np.testing.assert_array_equal(file_scores[0].scores, EXPECTED)
    assert file_scores[1].scores.tolist() == [[0.1], [0.2]]


def test_columns_of_systems_and_items_are_known_by_what_stands_in_them() -> None:
    known = Known(["Echo", "Parrot"], ["d1", "d2"])
    (judge,) = read("dialog,model,gpt_judge\nd1,Echo,4\nd2,Parrot,3\n", "a.csv", known)
    assert (judge.name, judge.level, judge.read_as) == ("gpt_judge", "segment", {"dialog": "item", "model": "system"})
    assert np.array_equal(judge.scores, [[4, NAN], [NAN, 3]], equal_nan=True)
    # Numbers may be names of items and scores alike: the name of their column decides.
    (numbered,) = read("id,which,score\n1,Echo,2\n2,Parrot,3\n", "a.csv")
    assert numbered.read_as == {"id": "item", "which": "system"}
    (of_systems,) = read("which,score\nEcho,2\nParrot,3\n", "a.csv")
    assert (of_systems.level, of_systems.read_as) == ("system", {"which": "system"})
    (wide,) = read("dialog,Echo,Parrot\nd1,1,2\n", "a.csv", known)
    assert wide.read_as == {"dialog": "item"}
    assert "did you mean" not in str(refusal("who,Echo1,what\nx,y,z\n", "a.csv"))


@pytest.mark.parametrize(
    ("filename", "text", "line", "field", "found", "accepted"),
    [
        ("a.csv", "system,item,score\nNobody,1,0.5\n", 2, "system", "Nobody", "Echo, Parrot"),
        ("a.csv", "system,item,score\nEcho,9,0.5\n", 2, "item", "9", "an item of the data set: 1, 2, 3"),
        ("a.csv", "system,item,score\nEcho,1,good\n", 2, "score", "good", "a finite number"),
        ("a.csv", "system,item,score\nEcho,1,inf\n", 2, "score", "inf", "a finite number"),
        ("a.csv", "system,item,score\nEcho,1,1e999\n", 2, "score", "1e999", "a finite number"),
        ("a.csv", "system,item,score\nEcho,1,1_0\n", 2, "score", "1_0", "a finite number"),
        ("a.tsv", "system\titem\tscore\nEcho\t1\t0,5\n", 2, "score", "0,5", "a finite number"),
        ("a.jsonl", '{"system": "Echo", "item": 1, "score": true}', 1, "score", "True", "a finite number"),
        ("a.jsonl", '{"system": "Echo", "score": 1}\n{"sys": 1}', 2, "names", "sys", "system, score"),
        ("a.jsonl", "\n", 1, "line", "nothing", "a JSON object on each line"),
        ("a.csv", "system,item,score\nEcho,1,1\nEcho,1,1\n", 3, "score", "a second score", "the first is in line 2"),
        ("a.csv", "system,score\nEcho,1\nEcho,1\n", 3, "score", "a second score", "the first is in line 2"),
        ("a.csv", "item,Echo,Quill\n1,1,1\n", 1, "columns", "Quill", "Echo, Parrot"),
        ("a.csv", "system,item,score,note\nEcho,1,1,x\n", 1, "columns", "note", "system, item, score"),
        ("a.csv", "id,value\n1,2\n", 1, "columns", "id, value", "system, item and score"),
        ("a.csv", "item,Echo\n1,\n", None, "scores", "none", "at least one score"),
        ("a.txt", "Echo 1", None, "name of the file", "a.txt", "NAME.seg.score"),
        ("x.doc.score", "Echo 1", None, "name of the file", "x.doc.score", "NAME.seg.score or NAME.sys.score"),
        ("x.seg.score", "Echo\t1\nEcho\t1\n", None, "scores", "2 of system Echo", "3: one for each item"),
        ("x.sys.score", "Echo\t1\nEcho\t1\n", None, "scores", "2 of system Echo", "one"),
        ("x.sys.score", "Echo\n", 1, "line", "Echo", "the name of a system, a tab, and a score"),
        ("x.sys.score", "Nobody 1\nEcho 1\n", 1, "system", "Nobody", "Echo, Parrot"),
        ("x.zip", "no zip", None, "archive", "not a zip", "a whole .zip"),
        ("x.tgz", "no tar", None, "archive", "", "a whole .zip or .tar.gz"),
        ("x.zip", zipped({"readme.md": "x"}), None, "archive", "no file of scores", "NAME.seg.score files, or .csv"),
        ("a.csv", "system,item,note\nEcho,1,good\n", 1, "columns", "note", "at least one column of numbers"),
        ("a.csv", "system,id,bleu\nEcho,9,0.5\n", 1, "columns", "system, id, bleu", "did you mean item by id"),
        ("a.csv", "system,item,bleu\nEcho,1,1\nEcho,2,1\nEcho,3,x\n", 4, "bleu", "x", "a finite number"),
        (
            "a.csv",
            f"system,item,{WIDE}\nEcho,1{',1' * 65}\n",
            1,
            "columns",
            "65 columns of numbers: m0, m1",
            "up to 64",
        ),
        ("x.zip", zipped({"a/m.csv": COLUMN, "b/m.csv": COLUMN}), None, "archive", "m in two", "each metric in one"),
        ("x.zip", zipped({"a/x.sys.score": "Echo 1", "b/x.sys.score": "Echo 1"}), None, "folders", "a, b", "one"),
        ("x.zip", zipped({"metrics.json": "[]", "x.sys.score": "Echo 1"}), None, "metrics.json", "no JSON", "as it"),
    ],
)
def test_errors_name_the_line_and_the_field(filename, text, line, field, found, accepted) -> None:
    error = refusal(text, filename)
    assert error.rows[0]["line"] == line
    assert error.rows[0]["field"] == field
    assert found in error.rows[0]["found"]
    assert accepted in error.rows[0]["accepted"]


def test_every_bad_row_counts_and_the_file_of_an_archive_is_named() -> None:
    rows = "".join(f"Echo,{number},x\n" for number in range(500))
    assert refusal(f"system,item,score\n{rows}", "a.csv").total == 500 + 497
    error = refusal(zipped({"m/x.seg.score": "Echo 1\nEcho x\nEcho 1\n"}), "x.zip")
    assert [(row["file"], row["line"]) for row in error.rows] == [("m/x.seg.score", 2)]


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_however_it_is_packed(packing: int) -> None:
    content = bytearray(zipped({"x.seg.score": "".join(f"Echo {n / 7}\n" for n in range(500))}, packing))
    content[100] ^= 0x5A
    (row,) = refusal(bytes(content), "x.zip").rows
    assert (row["field"], row["accepted"]) == ("archive", "a whole .zip or .tar.gz without a password")


def test_an_archive_is_not_unpacked_beyond_what_is_allowed() -> None:
    error = refusal(zipped({"x.sys.score": "Echo 1\n" * 10_000}), "x.zip", max_bytes=1000)
    assert "more than 1,000 bytes, unpacked" in error.rows[0]["found"]
