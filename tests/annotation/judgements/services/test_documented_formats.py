"""The examples in docs/data-formats.md can be imported."""

import re

from annotation.core.normalisation import RULES
from annotation.datasets.services.files import COLUMNS, ITEM_NAMES, read_dataset
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.options import OWN_COLUMNS, SHAPES, RatingOptions
from annotation.models import SourceKind
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "data-formats.md").read_text()
BLOCKS = [text for kind, text in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE) if kind != "sh"]


def test_its_main_examples_are_read() -> None:
    dataset, dialogues, wide, long, lines, *_ = BLOCKS
    for text, n_responses in ((dataset, 4), (dialogues, 1)):
        content, _ = read_dataset(text.encode(), filename="x", file_format="jsonl")
        assert content.counts("exact")["responses"] == n_responses
    judgements = [
        read_ratings(text.encode(), filename="x", file_format=kind, options=RatingOptions()).judgements[0]
        for text, kind in ((wide, "csv"), (long, "csv"), (lines, "jsonl"))
    ]
    assert {(judgement.rater, judgement.item, judgement.system, judgement.values) for judgement in judgements} == {
        ("ann", "1", "SystemA", (4.0, 3.0))
    }


def test_its_examples_of_other_shapes_are_recognised_and_read() -> None:
    by_rater, medians, appraise, label_studio = BLOCKS[5:9]
    values = {}
    for text, kind in ((by_rater, "csv"), (medians, "csv"), (appraise, "csv"), (label_studio, "json")):
        read = read_ratings(text.encode(), filename="x", file_format=kind, options=RatingOptions())
        values[read.options.shape] = [judgement.values[0] for judgement in read.judgements]
    assert values == {"raters": [4, 5, 2, 1, 2.5], "aggregate": [4.5, 2], "appraise": [87], "label-studio": [4]}


def test_it_names_every_shape_and_column_of_ratings() -> None:
    for name in (*SHAPES, *OWN_COLUMNS):
        assert f"`{name}`" in PAGE, name


def test_it_names_every_field_column_rule_and_kind() -> None:
    for name in (*ITEM_NAMES, *COLUMNS, *RULES, *SourceKind.values):
        assert f"`{name}`" in PAGE, name
