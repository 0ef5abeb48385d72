"""The first look at a file, whatever it holds."""

import json

import pytest

from annotation.datasets.forms import MappingForm
from annotation.datasets.services.looking import LEVELS, Look, look_at, numbers_left_out, preview_items


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_values_are_looked_at_however_deeply_they_are_nested(begin: str, end: str) -> None:
    line = f'{{"question": "Hi", "other": {begin * 700} 1 {end * 700}}}'
    look = look_at(line.encode(), filename="d", file_format="jsonl")
    assert (look.n_rows, look.mapping["question"]) == (1, "message")
    assert json.dumps(look.as_json()).count("[") < LEVELS * 20


PAIRS = [(item, system) for item in range(1, 4) for system in ("A", "B")]


def looked(*columns: str) -> Look:
    rows = [
        {
            "row": f"r{number}",
            "dialogue": f"d0{item}",
            "topic": "travel",
            "history": f"Where to, traveller {item}?",
            "system": system,
            "answer": f"{system} knows {item}.",
        }
        for number, (item, system) in enumerate(PAIRS)
    ]
    lines = [json.dumps({name: row[name] for name in columns}) for row in rows]
    return look_at("\n".join(lines).encode(), filename="d", file_format="jsonl")


def test_labels_that_repeat_as_the_texts_do_are_proposed_as_the_id_of_the_item_whatever_their_name() -> None:
    look = looked("dialogue", "topic", "history", "system", "answer")
    assert (look.mapping["dialogue"], look.mapping["topic"], look.likely_id) == ("id", "ignore", "dialogue")
    assert (look.mapping["history"], look.mapping["system"]) == ("dialogue", "system")
    assert looked("topic", "history", "system", "answer").likely_id == ""  # one topic for all names no item
    assert looked("dialogue", "system", "answer").likely_id == ""  # no text repeats with it


def test_fields_of_responses_are_known_by_their_values_where_names_say_nothing() -> None:
    """Rows of a table in any order: an id, a question, who answers it, and the answer."""
    rows = [
        {"qid": f"Q{item}", "ask": f"How do I do thing {item}?", "who": system, "says": f"{system} does {item} so."}
        for system in ("aurora", "birch", "dune")
        for item in (19, 13, 30)
    ]
    table = "\n".join(json.dumps(row) for row in rows).encode()
    look = look_at(table, filename="d", file_format="jsonl")
    assert look.mapping == {"qid": "id", "ask": "message", "who": "system", "says": "text"}
    once = "\n".join(json.dumps(row) for row in rows[:3]).encode()
    assert look_at(once, filename="d", file_format="jsonl").mapping["says"] == "ignore"  # no item has two responses


def test_numbers_left_out_are_named_and_a_reference_of_several_rows_is_previewed_once() -> None:
    rows = [
        {"id": f"d{item}", "message": "Why?", "reference": f"So {item}.", "system": name, "text": name, "judge": "4.5"}
        for item in (1, 2)
        for name in ("A", "B")
    ]
    table = "\n".join(json.dumps(row) for row in rows).encode()
    look = look_at(table, filename="d", file_format="jsonl")
    assert numbers_left_out(look.fields, look.mapping) == ["judge"]
    form = MappingForm(None, fields=look.fields, mapping=look.mapping)
    left_out = [dict(meaning.field.choices)["ignore"] for field, meaning, _ in form.rows() if field["name"] == "judge"]
    assert left_out == ["Imported next"]
    first, _ = preview_items(look.rows, look.mapping, filename="d").items
    assert [(source.kind, source.text) for source in first.sources if not source.system] == [("human", "So 1.")]
    assert [source.text for source in first.sources if source.system] == ["A", "B"]


def test_no_score_names_an_item_though_it_repeats_as_the_text_does() -> None:
    """As in tables of outputs with metrics' scores and medians of ratings."""
    rows = [
        f"{system},inform(name={item}),{system} is {item},-88.2{item},{0.5 + item},{item},{4 + item % 2}.5"
        for item in range(1, 4)
        for system in ("A", "B")
    ]
    text = "\n".join(["system,mr,sys_ref,parser.sc.mean,sys.ref.len,n.misspel,quality", *rows])
    look = look_at(text.encode(), filename="d.csv", file_format="csv")

    assert look.likely_id == "n.misspel"  # whole numbers may name items
    scores = ("parser.sc.mean", "sys.ref.len", "quality")
    assert {look.mapping[name] for name in scores} == {"ignore"}
    assert (look.mapping["mr"], look.mapping["sys_ref"]) == ("meaning_representation", "text")
