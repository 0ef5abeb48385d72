"""Outputs that are added to a data set: layouts of files, identical texts, refusals."""

import hashlib
import json

import pytest

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.file_limits import TableLimits
from annotation.datasets.services.export import dataset_chunks
from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.datasets.services.outputs import SystemOutputs, outputs_add, outputs_preview
from annotation.models import AuditEntry, Dataset, Project, Response, ResponseSource, System, User
from annotation.results.selectors.verdicts import compute_results
from tests.annotation.worlds.datasets import example_dataset, example_ratings


@pytest.fixture
def dataset(project: Project) -> Dataset:
    """Return the example: three items; item 2 has "I do not know." of SystemA and SystemB."""
    return example_dataset(project)


def add(dataset: Dataset, text: str, filename: str = "new.csv", **options):
    return outputs_add(dataset=dataset, by=None, filename=filename, content=text.encode(), **options)


def rows(dataset: Dataset, text: str, filename: str = "new.csv", **options) -> list[tuple]:
    """Return line, field, found and accepted of each error, after checking that nothing was stored."""
    before = stored()
    with pytest.raises(ImportRefused) as refusal:
        add(dataset, text, filename, **options)
    assert stored() == before
    assert {row["file"] for row in refusal.value.rows} == {filename}
    assert refusal.value.total == len(refusal.value.rows)
    return [(row["line"], row["field"], row["found"], row["accepted"]) for row in refusal.value.rows]


def stored() -> tuple:
    hashes = list(Dataset.objects.values_list("content_hash", flat=True))
    counts = [model.objects.count() for model in (System, Response, ResponseSource, AuditEntry)]
    return hashes, counts


LONG = "item_id,system,text\n1,New,Hi.\n2,New,i do not  know.\n2,Old,I do not  know.\n3,New,Cold?\n"


def test_outputs_become_responses_and_identical_texts_get_a_further_source(dataset: Dataset, manager: User) -> None:
    n_responses, before = Response.objects.count(), dataset.content_hash
    preview = outputs_preview(dataset=dataset, filename="new.csv", content=LONG.encode())
    assert Response.objects.count() == n_responses
    added = outputs_add(dataset=dataset, by=manager, filename="new.csv", content=LONG.encode())

    assert added == preview
    assert (added.outputs, added.items, added.items_of_dataset) == (4, 3, 3)
    assert (added.new_responses, added.known_responses) == (3, 1)
    assert added.systems == [SystemOutputs("New", True, 3, 0), SystemOutputs("Old", True, 1, 1)]
    assert Response.objects.count() == n_responses + 3
    same = Response.objects.get(item__external_id="2", text="I do not know.")
    assert list(same.sources.order_by("system__name").values_list("system__name", "raw_text")) == [
        ("Old", "I do not  know."),
        ("SystemA", ""),
        ("SystemB", ""),
    ]
    dataset.refresh_from_db()
    export = b"".join(dataset_chunks(dataset))
    assert dataset.content_hash == hashlib.sha256(export).hexdigest() != before
    outputs = [json.loads(line)["outputs"].get("New") for line in export.splitlines()]
    assert outputs == ["Hi.", "i do not  know.", "Cold?"]
    entry = AuditEntry.objects.get(verb="dataset.add_outputs")
    assert (entry.data["dataset"], entry.data["file"], entry.data["outputs"]) == ("small", "new.csv", 4)


def test_the_content_is_that_of_an_import_with_all_outputs(project: Project) -> None:
    """Adding outputs and importing them give the same bytes, and so the same hash."""
    whole = '{"id": "1", "message": "Hi?", "references": ["Yes."], "outputs": {"A": "Yes.", "B": "No."}}\n'
    bare = '{"id": "1", "message": "Hi?", "references": ["Yes."]}\n'
    made = []
    for name, text in (("Whole", whole), ("Bare", bare)):
        content, _ = read_dataset(text.encode(), filename="d.jsonl", file_format="jsonl")
        made.append(dataset_create(project=project, name=name, content=content))
    add(made[1], "id\tB\tA\n1\tNo.\tYes.\n", "new.tsv")
    assert len({Dataset.objects.get(pk=each.pk).content_hash for each in made}) == 1


def test_an_output_like_a_rated_response_shares_its_ratings_and_no_other_system_changes(dataset: Dataset) -> None:
    campaign = example_ratings(dataset)
    before = {each.name: (each.estimate, each.ratings) for each in compute_results([campaign], {}).criteria[0].systems}
    add(dataset, 'item_id,system,text\n1,New,"Yes, it was brilliant."\n2,New,Hiking.\n')
    after = {each.name: each for each in compute_results([campaign], {}).criteria[0].systems}

    assert after["New"].items == 1
    assert after["New"].estimate == pytest.approx((5 + 4 + 5) / 3)  # ratings.csv: relevance of SystemA on item 1
    assert {name: (after[name].estimate, after[name].ratings) for name in before} == before


@pytest.mark.parametrize(
    ("text", "filename", "options"),
    [
        ("id,text\n1,Hi.\n3,Cold?\n", "new.csv", {"system": " New "}),
        ("text\titem\nHi.\t1\nCold?\t3\n", "new.tsv", {"system": "New"}),
        ('{"id": 1, "New": "Hi."}\n{"id": 2, "New": null}\n{"id": 3, "New": "Cold?"}\n', "new.jsonl", {}),
        (
            '{"item_id": "1", "system": "New", "text": "Hi."}\n{"item_id": "3", "system": "New", "text": "Cold?"}',
            "x",
            {},
        ),
    ],
)
def test_every_layout_is_read(dataset: Dataset, text: str, filename: str, options: dict) -> None:
    added = add(dataset, text, filename, **options, **({"file_format": "jsonl"} if filename == "x" else {}))
    assert added.systems == [SystemOutputs("New", True, 2, 0)]
    outputs = ResponseSource.objects.filter(system__name="New").order_by("item__position")
    assert list(outputs.values_list("item__external_id", "response__text")) == [("1", "Hi."), ("3", "Cold?")]


def test_a_dialogue_may_be_an_output_but_not_with_the_text_of_another(dataset: Dataset) -> None:
    turns = [{"speaker": "user", "text": "Hi"}, {"speaker": "system", "text": "Hi."}]
    line = json.dumps({"item_id": "1", "system": "New", "text": turns})
    plain = json.dumps({"item_id": "1", "system": "Other", "text": "user: Hi\nsystem: Hi."})
    [(number, _, _, accepted)] = rows(dataset, f"{line}\n{plain}\n", "new.jsonl")
    assert (number, accepted) == (2, "other turns, or the same as on line 1: joined, their texts are equal")
    add(dataset, line, "new.jsonl")
    assert Response.objects.get(sources__system__name="New").turns == turns
    [(_, _, _, accepted)] = rows(dataset, plain, "new.jsonl")
    assert "of the response that the item has" in accepted


def test_every_error_is_reported_at_once(dataset: Dataset) -> None:
    text = (
        "item_id,system,text\n"
        "9,New,Hi.\n"
        "1,SystemA,Again.\n"
        "1,New,Hi.\n"
        "1,New,Ho.\n"
        "2,New, \n"
        f"2,{'N' * 121},Hi.\n"
        "2,,Hi.\n"
        ",New,Hi.\n"
    )
    once = "one output of a system for an item; "
    assert rows(dataset, text) == [
        (2, "item_id", "9", "the id of an item of the data set, such as 1, 2, 3"),
        (3, "text", "a second output of SystemA for 1", f"{once}the data set has one already"),
        (5, "text", "a second output of New for 1", f"{once}the first is on line 4"),
        (6, "text", "nothing", "a text; a file with a row for each output can leave out what a system did not answer"),
        (7, "system", f"121 characters: {'N' * 40}…", "at most 120 characters"),
        (8, "system", "nothing", "the name of a system, in up to 120 characters"),
        (9, "item_id", "nothing", "the id of an item of the data set"),
    ]


def test_wide_tables_are_checked_cell_by_cell(dataset: Dataset) -> None:
    found = rows(dataset, "item_id,SystemA,New\n9,Hi.,Ho.\n1,Hi.,\n")
    assert [row[:3] for row in found] == [
        (2, "item_id", "9"),
        (3, "New", "nothing"),
        (3, "SystemA", "a second output of SystemA for 1"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "field", "accepted"),
    [
        ("name,text\n1,Hi.\n", 1, "columns", "one column item_id"),
        (
            "itemid,text\n1,Hi.\n",
            1,
            "columns",
            "one column item_id with the items' ids (did you mean the column itemid?)",
        ),
        ("item_id,id,text\n1,1,Hi.\n", 1, "columns", "one column item_id"),
        ("item_id,system\n1,New\n", 1, "columns", "item_id, system and text; or"),
        ("item_id,system,txt,text\n1,New,,Hi.\n", 1, "txt", "only item_id, system, text"),
        ("item_id\n1\n", 1, "columns", "item_id, system and text; or"),
        ("item_id,New,message\n1,Hi.,Ho.\n", 1, "message", "a column named after a system"),
        (f"item_id,{'N' * 121}\n1,Hi.\n", 1, "N" * 40, "at most 120 characters"),
        ("item_id,New,New\n1,Hi.,Ho.\n", 1, "column 3", "each column once"),
        ("item_id,New,\n1,Hi.,Ho.\n", 1, "columns", "a column named after a system"),
        ("item_id,system,text\n", None, "outputs", "at least one output"),
        ("item_id,system,text\n1,New,Hi.,Ho.\n", 2, "number of cells", "3, as in the header"),
        ("item_id,text\n1,H\x00i.\n", 2, "text", "text without NUL characters"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(dataset: Dataset, text: str, line, field: str, accepted: str) -> None:
    [row] = rows(dataset, text, system="New" if text.startswith("item_id,text") else "")
    assert row[:2] == (line, field)
    assert row[3].startswith(accepted)


def test_json_lines_are_checked_strictly(dataset: Dataset) -> None:
    assert [
        row[:2] for row in rows(dataset, '{"id": "1", "text": 5}\n{"id": true, "text": "Hi."}', "n.jsonl", system="N")
    ] == [
        (1, "text"),
        (2, "id"),
    ]
    assert rows(dataset, "", "n.jsonl")[0][:2] == (1, "line")
    assert rows(dataset, '{"id": "1", "id": "2"}', "n.jsonl")[0][:2] == (1, "id")


@pytest.mark.parametrize(
    ("text", "options", "field"),
    [
        ("id,text\n1,Hi.\n", {}, "system"),
        ("id,system,text\n1,New,Hi.\n", {"system": "Other"}, "system"),
        ("id,New\n1,Hi.\n", {"system": "Other"}, "system"),
        ("id,text\n1,Hi.\n", {"system": "N" * 121}, "system"),
        ("id,text\n1,Hi.\n", {"system": "N\x00"}, "system"),
        ("id,text\n1,Hi.\n", {"filename": "new.txt", "system": "New"}, "file_format"),
    ],
)
def test_what_the_form_says_is_refused_at_its_field(dataset: Dataset, text: str, options: dict, field: str) -> None:
    before = stored()
    with pytest.raises(AnnotationError) as refusal:
        add(dataset, text, **options)
    assert set(refusal.value.fields) == {field}
    assert stored() == before


def test_a_file_above_the_limits_is_refused(dataset: Dataset) -> None:
    [(line, field, _, accepted)] = rows(dataset, LONG, limits=TableLimits(rows=3, cells=100))
    assert (line, field, accepted) == (4, "rows", "at most 3")
    wide = '{"id": "1", "A": "a", "B": "b"}\n{"id": "2", "A": "a", "B": "b"}\n'
    assert rows(dataset, wide, "w.jsonl", limits=TableLimits(rows=3, cells=5))[0][1] == "cells"
