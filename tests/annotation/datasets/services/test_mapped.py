"""Files with other people's fields become the same items; errors name their fields."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.core.errors import ImportRefused
from annotation.datasets.services import mapped
from annotation.datasets.services.content import DatasetContent, ItemDraft
from annotation.datasets.services.files import read_dataset

DIALOGUES = [
    {"dialogue": ["Hi", "Tea?"], "response": "Yes", "references": ["No", None, ""], "model_a": "Sure", "model_b": ""},
    {"dialogue": ["Bye"], "response": None, "references": [], "model_a": None, "model_b": "See you"},
]
MAPPING = {
    "dialogue": "dialogue",
    "response": "original",
    "references": "references",
    "model_a": "output:A",
    "model_b": "output:B",
}


def jsonl(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def parquet(records: list[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), file)
    return file.getvalue()


def read(content: bytes, mapping: dict[str, str], file_format: str = "jsonl") -> DatasetContent:
    return read_dataset(content, filename=f"d.{file_format}", file_format=file_format, mapping=mapping)[0]


def sources(item: ItemDraft) -> list[tuple[str | None, str, str]]:
    return [(source.system, source.kind, source.text) for source in item.sources]


@pytest.mark.parametrize(("write", "file_format"), [(jsonl, "jsonl"), (parquet, "parquet")])
def test_a_row_for_each_dialogue_with_a_column_for_each_model(write: Any, file_format: str) -> None:
    content = read(write(DIALOGUES), MAPPING, file_format)
    first, second = content.items.values()
    assert (first.external_id, first.context, first.message) == ("1", ["Hi"], "Tea?")
    assert sources(first) == [
        (None, "seed", "Yes"),
        (None, "human", "No"),
        ("A", "system", "Sure"),
        ("B", "system", ""),
    ]
    assert (second.context, second.message, sources(second)) == ([], "Bye", [("B", "system", "See you")])
    assert (content.empty_references, content.empty_outputs) == (1, 1)
    assert [source.rank for source in first.sources] == [1, 2, None, None] or first.sources[0].rank == 1


def test_a_row_for_each_response_joins_rows_of_an_item() -> None:
    table = b"doc,sys,src,out,r\n7,A,Hello,Hi,\n7,B,,Ho,\n7,,,Hey,2\n8,A,Bye,Ciao,\n"
    mapping = {"doc": "id", "sys": "system", "src": "message", "out": "text", "r": "rank"}
    content = read(table, mapping, "csv")
    assert {name: item.message for name, item in content.items.items()} == {"7": "Hello", "8": "Bye"}
    assert sources(content.items["7"]) == [("A", "system", "Hi"), ("B", "system", "Ho"), (None, "human", "Hey")]
    assert content.items["7"].sources[-1].rank == 2


def test_rows_of_responses_without_an_id_are_items_by_their_texts() -> None:
    table = b"sys,src,out\nA,Hello,Hi\nA,Bye,Ciao\nB,Hello,Ho\nA,Hello,Hey\nB,Hello,Hm\n,Bye,So long\n"
    content = read(table, {"sys": "system", "src": "message", "out": "text"}, "csv")
    assert {name: (item.message, sources(item)) for name, item in content.items.items()} == {
        "1": ("Hello", [("A", "system", "Hi"), ("B", "system", "Ho")]),
        "2": ("Bye", [("A", "system", "Ciao"), (None, "human", "So long")]),
        "3": ("Hello", [("A", "system", "Hey"), ("B", "system", "Hm")]),  # the second of each system
    }


def test_a_chat_that_ends_with_the_assistant_gives_the_original_response() -> None:
    turns = [("user", "Hi"), ("assistant", "Hello"), ("user", "Tea?"), ("assistant", "Yes")]
    chat = [{"role": role, "content": text} for role, text in turns]
    (item,) = read(jsonl([{"messages": chat}]), {"messages": "dialogue"}).items.values()
    assert (item.context, item.message, sources(item)) == (["Hi", "Hello"], "Tea?", [(None, "seed", "Yes")])


def test_fields_within_fields_and_texts_of_turns() -> None:
    record = {"qid": 5, "q": "Who?", "answers": {"text": ["Ann"], "start": [3]}, "out": {"T5": "Bob", "B": None}}
    mapping = {"qid": "id", "q": "message", "answers.text": "references", "answers.start": "ignore", "out": "outputs"}
    (item,) = read(jsonl([record]), mapping).items.values()
    assert (item.external_id, sources(item)) == ("5", [(None, "human", "Ann"), ("T5", "system", "Bob")])


@pytest.mark.parametrize(
    ("record", "where", "accepted"),
    [
        ({"nr": "1"}, "nr", "each id once; this one is on line 1 already"),
        ({"nr": ""}, "nr", "a text or whole number that names the item"),
        ({"nr": 2.5}, "nr", "a text"),
        ({"nr": "2", "Frage": ["a"]}, "Frage", "a text"),
        ({"nr": "2", "Antworten": [{"start": 1}]}, "Antworten[0]", "a text, or an object with a text"),
        ({"nr": "2", "Antworten": [{"text": "x", "kind": "gold"}]}, "Antworten[0].kind", "one of seed"),
        ({"nr": "2", "T5": 7}, "T5", "a text"),
        (
            {"nr": "2", "Fragen": "x"},
            "Fragen",
            "a field of the mapping: nr, Frage, Antworten, T5 (did you mean Frage?)",
        ),
        ({"nr": "2", "Frage": "a\x00b"}, "Frage", "text without NUL characters"),
    ],
)
def test_errors_name_the_line_and_the_persons_field(record: dict[str, Any], where: str, accepted: str) -> None:
    mapping = {"nr": "id", "Frage": "message", "Antworten": "references", "T5": "output:T5"}
    with pytest.raises(ImportRefused) as refused:
        read(jsonl([{"nr": 1, "Frage": "Who?"}, record]), mapping)
    (row,) = refused.value.rows
    assert (row["line"], row["field"]) == (2, where)
    assert row["accepted"].startswith(accepted)


def test_a_damaged_parquet_file_is_refused() -> None:
    with pytest.raises(ImportRefused, match="accepted: a Parquet file"):
        read(b"PAR1 and no more", MAPPING, "parquet")


def test_parquet_with_assays_names_needs_no_mapping() -> None:
    records = [{"id": "1", "message": "Hi", "references": [{"text": "Ho", "kind": "seed"}]}]
    content, _ = read_dataset(parquet(records), filename="d.parquet", file_format="parquet")
    assert sources(content.items["1"]) == [(None, "seed", "Ho")]


def test_fields_without_a_meaning_are_compared_with_the_mapping_only_while_errors_are_kept(monkeypatch) -> None:
    compared: list[str] = []
    monkeypatch.setattr(mapped, "did_you_mean", lambda name, known: str(compared.append(name) or ""))
    records = [{"q": "Hi", **{f"field {n}": 1 for n in range(20)}} for _ in range(50)]
    with pytest.raises(ImportRefused) as refused:
        read(jsonl(records), {"q": "message"})
    assert (refused.value.total, len(refused.value.rows), len(compared)) == (1000, 100, 100)
