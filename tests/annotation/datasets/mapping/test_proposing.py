"""What fields probably mean: shapes of files as they are found elsewhere."""

import time

import pytest

from annotation.datasets.mapping.meanings import MEANINGS, NUMBER, OBJECT, OBJECTS, OTHER, TEXT, TEXTS
from annotation.datasets.mapping.proposing import Field, propose, system_of
from annotation.datasets.mapping.rules import checked_mapping


def proposed(**kinds: str) -> dict[str, str]:
    """Propose for fields of these kinds; ``__`` in a name stands for a dot, ``+`` after a kind for repeated values."""
    fields = [Field(name.replace("__", "."), kind.rstrip("+"), kind.endswith("+")) for name, kind in kinds.items()]
    return propose(fields)


@pytest.mark.parametrize("key", MEANINGS)
def test_every_name_in_the_registry_leads_to_its_meaning(key: str) -> None:
    meaning = MEANINGS[key]
    for name in meaning.names:
        for kind in meaning.kinds:
            others = {"item_id": "text+"} if key == "system" else {}
            others |= {"answer_text": TEXT, "text": TEXT} if key in ("system", "text") else {}
            if key == "text":
                continue  # means the row's response only if rows are responses
            found = proposed(**{name: kind}, **others)[name].split(":")[0]
            assert found == key or (key == "context" and found == "dialogue"), (name, kind)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        pytest.param(
            {"dialogue": TEXTS, "response": TEXT, "references": TEXTS, "model_a": TEXT, "model_b": TEXT},
            "dialogue original references output:model_a output:model_b",
            id="dialogue with models",
        ),
        pytest.param(
            {
                "id": TEXT,
                "title": TEXT,
                "context": TEXT,
                "question": TEXT,
                "answers__text": TEXTS,
                "answers__start": OTHER,
            },
            "id ignore context message references ignore",
            id="questions about a passage",
        ),
        pytest.param({"mr": TEXT, "ref": TEXT}, "meaning_representation references", id="data to text"),
        pytest.param(
            {"Example_ID": NUMBER, "mesage": TEXT, "system_rnn": TEXT, "output_gpt4": TEXT, "reference_2": TEXT},
            "id message output:rnn output:gpt4 references",
            id="slips and numbered columns",
        ),
        pytest.param(
            {"doc_id": f"{TEXT}+", "model": TEXT, "source": TEXT, "output": TEXT},
            "id system message text",
            id="a row for each response",
        ),
        pytest.param(
            {"item": f"{TEXT}+", "system": TEXT, "context": TEXT, "reference": TEXT, "response": TEXT},
            "id system dialogue references text",
            id="a row for each response, beside a reference",
        ),
        pytest.param(
            {"item": TEXT, "prompt": TEXT, "outputs": OBJECT}, "id message outputs", id="an object of outputs"
        ),
        pytest.param({"messages": OBJECTS, "completion": TEXT}, "dialogue output:completion", id="chat"),
        pytest.param({"history": TEXTS, "reply": TEXT}, "dialogue original", id="a history without a message"),
        pytest.param({"history": TEXTS, "utterance": TEXT}, "context message", id="a history and the message"),
        pytest.param({"dialogue": TEXTS, "query": TEXT}, "context message", id="a conversation beside the message"),
        pytest.param({"text": TEXT, "label": NUMBER}, "message ignore", id="texts only"),
        pytest.param({"conv_id": TEXT, "message": TEXT}, "id message", id="unique values, named like an id"),
        pytest.param({"user_id": f"{TEXT}+", "message": TEXT}, "ignore message", id="an id of something else"),
        pytest.param(
            {"conv_id": f"{TEXT}+", "model": f"{TEXT}+", "row_id": NUMBER, "output": TEXT},
            "id system ignore text",
            id="a row for each response of a conversation",
        ),
    ],
)
def test_shapes_of_files_as_they_are_found(kinds: dict[str, str], expected: str) -> None:
    mapping = proposed(**kinds)
    assert list(mapping.values()) == expected.split()
    assert checked_mapping(mapping) == mapping


def test_columns_of_texts_beside_a_message_are_outputs_of_systems_unless_their_names_say_otherwise() -> None:
    def wide(*names: str) -> dict[str, str]:
        return propose([Field(name, TEXT, is_prose=True) for name in names])

    assert list(wide("reddit_prompt", "seq2seq", "copy-net", "retrieve+edit", "notes").values()) == [
        "message",
        "output:seq2seq",
        "output:copy-net",
        "output:retrieve+edit",
        "ignore",
    ]
    assert wide("message", "remarkable")["remarkable"] == "ignore"  # one column alone may be anything
    assert wide("item_id", "seq2seq", "copy-net")["seq2seq"] == "ignore"  # nothing says what they answer
    assert propose([Field("message", TEXT), Field("en", TEXT), Field("de", TEXT)])["en"] == "ignore"  # no prose


@pytest.mark.parametrize(
    ("field", "system"),
    [
        ("system_rnn", "rnn"),
        ("model_a", "model_a"),
        ("system_b", "system_b"),  # "b" alone would name nothing
        ("gpt-4-output", "gpt-4"),
        ("prediction", "prediction"),
        ("outputs.T5 large", "T5 large"),
    ],
)
def test_a_system_is_named_after_its_field(field: str, system: str) -> None:
    assert system_of(field) == system


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"a": "mesage"}, r"a: found 'mesage'; accepted: one of .* \(did you mean message\?\)"),
        ({"a": "message:A"}, "a: found 'message:A'; accepted"),
        ({"a": "message", "b": "message"}, "Message: found a, b; accepted: one field with the meaning message"),
        ({"a": "output:A", "b": "output:A"}, "b: found 'A', as for a; accepted: another name"),
        ({"a": "output:" + "x" * 121}, "a system of 121 characters; accepted: up to 120"),
        ({"a": "id", "b": "ignore"}, "no field is a message, a reference or an output"),
        ({"a": "system", "b": "message"}, r"Name of the system \(a\) needs a field that is the response of the row"),
        ({"a": "text"}, "Which field is the same in all rows of an item"),
        ({"a": "dialogue", "b": "message"}, "Found a as the whole conversation and b as a part"),
        ({f"c{number}": "references" for number in range(201)}, "Found 201 fields; accepted: up to 200"),
    ],
)
def test_a_mapping_that_cannot_be_imported_is_refused(mapping: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_mapping(mapping)


@pytest.mark.parametrize("name", ["ref_2", "Ref 2", "reference-b", "refs 10", "target١"])
def test_numbered_columns_are_references(name: str) -> None:
    assert propose([Field("id", TEXT), Field("message", TEXT), Field(name, TEXT)])[name] == "references"


@pytest.mark.parametrize("letter", ["_", "1", "a", "_1"])
def test_names_of_kilobytes_are_proposed_at_once(letter: str) -> None:
    """A regular expression took seconds for a file of 600 kB, also in the page that looks at it."""
    fields = [Field(f"{letter * 1000}{number}.{letter * 1000}!", TEXT) for number in range(200)]
    began = time.process_time()
    propose(fields)
    assert time.process_time() - began < 5
