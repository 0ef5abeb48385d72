"""Dialogues in files: imported, refused with line and field, exported unchanged."""

import json
from typing import Any

import pytest

from annotation.core.errors import ImportRefused
from annotation.datasets.services.export import dataset_chunks, dataset_hash
from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.models import Project, Response
from tests.annotation.worlds.dialogues import dialogue, dialogues_file, make_dialogues

TURNS = dialogue("Hi", "Hello!\nHow are you?")


def read(*outputs: Any, **options: Any) -> Any:
    lines = [json.dumps({"id": str(number), "outputs": {"A": output}}) for number, output in enumerate(outputs)]
    return read_dataset("\n".join(lines).encode(), filename="talk.jsonl", file_format="jsonl", **options)[0]


@pytest.mark.parametrize(
    ("output", "field", "found", "accepted"),
    [
        ([], "outputs.A.text", "0 turns", "a dialogue of 1 to 100 turns"),
        (TURNS * 51, "outputs.A.text", "102 turns", "a dialogue of 1 to 100 turns"),
        (["Hi"], "outputs.A.text[0]", "Hi", 'a turn, such as {"speaker": "user", "text": "Hi"}'),
        ([*TURNS, {"speaker": "bot", "text": "x"}], "outputs.A.text[2].speaker", "bot", "user or system"),
        ([{"speaker": "system"}], "outputs.A.text[0].text", "None", "a text"),
        ([{"speaker": "system", "text": 3}], "outputs.A.text[0].text", "3", "a text"),
        ([{"speaker": "system", "text": "a\x00"}], "outputs.A.text[0].text", "a NUL", "text without NUL"),
        ([{**TURNS[1], "mood": "glad"}], "outputs.A.text[0].mood", "an unknown field", "only speaker and text"),
        (TURNS[:1], "outputs.A.text", "no turn of the system", "at least one turn whose speaker is system"),
    ],
)
def test_a_wrong_dialogue_is_refused_with_its_line_and_field(
    output: Any, field: str, found: str, accepted: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(TURNS, output)
    (row,) = refused.value.rows
    assert (row["file"], row["line"], row["field"]) == ("talk.jsonl", 2, field)
    assert row["found"].startswith(found)
    assert row["accepted"].startswith(accepted)


@pytest.mark.django_db
def test_dialogues_are_exported_as_they_came_with_the_same_hash(project: Project) -> None:
    dataset = make_dialogues(project)
    first = Response.objects.filter(item__dataset=dataset).earliest("pk")
    assert first.text.splitlines() == [
        "user: Table 0, please.",
        "system: Ada has it.",
        "user: For two.",
        "system: Ada booked table 0.",
    ]
    exported = b"".join(dataset_chunks(dataset))
    assert [json.loads(line) for line in exported.splitlines()] == [
        json.loads(line) for line in dialogues_file().splitlines()
    ]
    content, _ = read_dataset(exported, filename="again.jsonl", file_format="jsonl")
    assert dataset_hash(dataset_create(project=project, name="again", content=content)) == dataset_hash(dataset)


@pytest.mark.django_db
def test_other_turns_with_the_same_joined_text_are_refused_not_merged(project: Project) -> None:
    one = [{"speaker": "system", "text": "a\nsystem: b"}]
    two = [{"speaker": "system", "text": "a"}, {"speaker": "system", "text": "b"}]
    line = json.dumps({"id": "1", "outputs": {"A": one, "B": {"text": two, "rank": 1}}, "references": [two]})
    content, _ = read_dataset(line.encode(), filename="talk.jsonl", file_format="jsonl")
    with pytest.raises(ImportRefused, match=r"(?s)talk.jsonl, line 1, field A: .*joined, their texts are equal"):
        dataset_create(project=project, name="talk", content=content)


@pytest.mark.parametrize(
    ("record", "mapping"),
    [
        ({"n": "1", "bots": {"A": TURNS}}, {"n": "id", "bots": "outputs"}),
        ({"n": "1", "made": TURNS}, {"n": "id", "made": "output:A"}),
        ({"n": "1", "who": "A", "talk": TURNS}, {"n": "id", "who": "system", "talk": "text"}),
        ({"n": "1", "gold": [TURNS]}, {"n": "id", "gold": "references"}),
    ],
)
def test_a_file_with_other_names_can_hold_dialogues(record: dict[str, Any], mapping: dict[str, str]) -> None:
    content, _ = read_dataset(json.dumps(record).encode(), filename="talk.jsonl", file_format="jsonl", mapping=mapping)
    (source,) = content.items["1"].sources
    assert source.turns == TURNS
