"""The first look at a file, whatever it holds."""

import json

import pytest

from annotation.datasets.services.looking import LEVELS, look_at


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_values_are_looked_at_however_deeply_they_are_nested(begin: str, end: str) -> None:
    line = f'{{"question": "Hi", "other": {begin * 700} 1 {end * 700}}}'
    look = look_at(line.encode(), filename="d", file_format="jsonl")
    assert (look.n_rows, look.mapping["question"]) == (1, "message")
    assert json.dumps(look.as_json()).count("[") < LEVELS * 20
