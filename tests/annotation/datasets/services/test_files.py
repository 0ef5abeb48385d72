"""All three formats give the same data set; every bad row is named."""

import csv
import io
import json
import time
from pathlib import Path

import pytest

from annotation.core.errors import ImportRefused
from annotation.datasets.services.content import DatasetContent
from annotation.datasets.services.files import COLUMNS, read_dataset
from tests.conftest import ROOT

EXAMPLES: Path = ROOT / "demo" / "examples"


def read(text: str | bytes, file_format: str) -> DatasetContent:
    content = text.encode() if isinstance(text, str) else text
    return read_dataset(content, filename=f"a.{file_format}", file_format=file_format)[0]


def refusal(text: str, file_format: str) -> list[tuple[int | None, str]]:
    with pytest.raises(ImportRefused) as refused:
        read(text, file_format)
    return [(row["line"], row["field"]) for row in refused.value.rows]


def facts(content: DatasetContent) -> list[object]:
    """Everything but the lines, and references before outputs, as in the tables."""
    return [
        (
            item.external_id,
            item.context,
            item.message,
            item.split,
            [(s.text, s.kind, s.system, s.rank, s.score, s.source_context, s.source_message) for s in item.sources],
        )
        for item in content.items.values()
    ]


def test_the_three_example_files_hold_the_same_data() -> None:
    by_format = {kind: read((EXAMPLES / f"dataset.{kind}").read_bytes(), kind) for kind in ("jsonl", "csv", "tsv")}
    assert facts(by_format["jsonl"]) == facts(by_format["csv"]) == facts(by_format["tsv"])
    with_semicolons = io.StringIO(newline="")
    with (EXAMPLES / "dataset.csv").open(encoding="utf-8", newline="") as file:
        csv.writer(with_semicolons, delimiter=";").writerows(csv.reader(file))
    assert facts(read(with_semicolons.getvalue().encode(), "csv")) == facts(by_format["csv"])
    # Counted by hand in dataset.jsonl.
    counts = by_format["tsv"].counts("nfc-space")
    assert (counts["items"], counts["systems"], counts["outputs"], counts["references"]) == (3, 2, 6, 7)
    assert (counts["responses"], counts["identical_outputs"]) == (12, 1)


def test_empty_references_are_left_out_and_empty_outputs_are_kept() -> None:
    content = read('{"id": "1", "references": ["", " ", "Hi"], "outputs": {"A": ""}}', "jsonl")
    counts = content.counts("nfc-space")
    assert (counts["references"], counts["empty_references"]) == (1, 2)
    assert (counts["outputs"], counts["empty_outputs"]) == (1, 1)


def test_identical_texts_are_counted_under_the_normalisation_rule() -> None:
    content = read('{"id": "1", "references": ["Yes"], "outputs": {"A": "yes", "B": "yes ", "C": "no"}}', "jsonl")
    loose, strict = content.counts("nfkc-casefold"), content.counts("exact")
    assert (loose["responses"], loose["identical_outputs"], loose["output_equals_reference"]) == (2, 1, 1)
    assert (strict["responses"], strict["identical_outputs"], strict["output_equals_reference"]) == (4, 0, 0)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"message": "no id"}, "id"),
        ({"id": ""}, "id"),
        ({"id": "1"}, "id"),  # taken by the first line
        ({"id": "2", "mesage": "typo"}, "mesage"),
        ({"id": "2", "context": "not a list"}, "context"),
        ({"id": "2", "context": ["fine", 3]}, "context[1]"),
        ({"id": "2", "references": [{"kind": "human"}]}, "references[0]"),
        ({"id": "2", "references": [{"text": "x", "kind": "gold"}]}, "references[0].kind"),
        ({"id": "2", "references": [{"text": "x", "score": "high"}]}, "references[0].score"),
        ({"id": "2", "outputs": ["x"]}, "outputs"),
        ({"id": "2", "outputs": {"A": None}}, "outputs.A"),
        ({"id": "2", "message": "a\x00b"}, "message"),
        ({"id": "2", "message": "\ud800"}, "message"),
        ({"id": "x" * 201}, "id"),
        ({"id": "2", "references": [{"text": "x", "score": 10**400}]}, "references[0].score"),
    ],
)
def test_a_bad_line_of_json_is_named_with_its_field(line: dict, field: str) -> None:
    assert refusal('{"id": "1"}\n' + json.dumps(line), "jsonl") == [(2, field)]


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ("1,A,,Hi\n1,A,,Ho", (3, "system")),  # a second output of one system
        ("1,,gold,Hi", (2, "kind")),
        ("1,A,human,Hi", (2, "kind")),
        (",A,,Hi", (2, "item_id")),
        ("1,A,,Hi,more", (2, "number of cells")),
    ],
)
def test_a_bad_row_of_a_table_is_named_with_its_field(rows: str, where: tuple[int, str]) -> None:
    assert refusal(f"item_id,system,kind,text\n{rows}\n", "csv") == [where]


def test_a_rank_too_large_to_store_is_refused() -> None:
    assert refusal(f"item_id,text,rank\n1,Hi,{'9' * 400}\n", "csv") == [(2, "rank")]


def test_every_bad_row_is_reported_not_only_the_first() -> None:
    assert refusal("item_id\tsystem\tkind\trank\n1\t\tgold\t\n\tA\t\t\n2\tA\t\t-1\n", "tsv") == [
        (2, "kind"),
        (3, "item_id"),
        (4, "rank"),
    ]


def test_an_unknown_column_is_refused_with_the_accepted_ones() -> None:
    with pytest.raises(ImportRefused) as refused:
        read("item_id,Text\n1,Hi\n", "csv")
    (row,) = refused.value.rows
    assert (row["line"], row["field"], row["found"]) == (1, "column 2", "Text")
    assert row["accepted"] == f"one of {', '.join(COLUMNS)} (did you mean text?)"


def test_an_item_described_in_two_ways_is_refused() -> None:
    assert refusal("item_id,message,text\n1,Hello,Hi\n1,,Ho\n1,Goodbye,Hm\n", "csv") == [(4, "message")]


def test_a_file_without_items_is_refused() -> None:
    assert refusal("", "csv") == [(1, "header")]
    assert refusal("item_id\n", "csv") == [(None, "items")]


@pytest.mark.parametrize(
    ("text", "file_format", "hint"),
    [
        ('{"id": "1", "mesage": "Hi"}', "jsonl", "(did you mean message?)"),
        ('{"id": "1", "target": "Hi"}', "jsonl", "(did you mean references?)"),
        ('{"id": "1", "weather": "fine"}', "jsonl", None),
        ("Item ID,text\n1,Hi\n", "csv", "a column named item_id (did you mean the column Item ID?)"),
        ("example_id,text\n1,Hi\n", "csv", "a column named item_id (did you mean the column example_id?)"),
    ],
)
def test_a_refusal_names_the_field_that_was_probably_meant(text: str, file_format: str, hint: str | None) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(text, file_format)
    accepted = refused.value.rows[-1]["accepted"]
    assert accepted.endswith(hint) if hint else "did you mean" not in accepted


@pytest.mark.parametrize("file_format", ["csv", "jsonl"])
def test_an_item_may_have_tens_of_thousands_of_references(file_format: str) -> None:
    """To count those before it for the rank of each took a minute of the processor."""
    texts = [f"Text {number}" for number in range(50_000)]
    began = time.process_time()
    if file_format == "csv":
        read_content = read("item_id,text\n" + "".join(f"a,{text}\n" for text in texts), "csv")
    else:
        line = json.dumps({"q": "Hi", "refs": texts}).encode()
        read_content, _ = read_dataset(
            line, filename="d", file_format="jsonl", mapping={"q": "message", "refs": "references"}
        )
    (item,) = read_content.items.values()
    assert [source.rank for source in item.sources] == list(range(1, 50_001))
    assert time.process_time() - began < 10
