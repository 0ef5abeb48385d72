"""Synthetic data can be imported, depends on its seed alone, and has the requested size."""

import json

import numpy as np
import pytest

from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.synthetic import SyntheticSize, synthetic_files
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.options import RatingOptions

SMALL = SyntheticSize(items=30, references=4, systems=3, pairs=2, raters=6, ratings=5, seed=1)


def test_the_bytes_depend_on_the_seed() -> None:
    assert synthetic_files(SMALL) == synthetic_files(SMALL)
    assert synthetic_files(SMALL) != synthetic_files(SyntheticSize(**{**vars(SMALL), "seed": 2}))


def test_the_files_have_the_requested_size() -> None:
    files = synthetic_files(SMALL)
    content, _ = read_dataset(files["items.jsonl"], filename="i.jsonl", file_format="jsonl")
    counts = content.counts("exact")
    assert (counts["items"], counts["systems"], counts["references"], counts["outputs"]) == (30, 3, 120, 90)
    assert counts["identical_references"] == 0
    for file, responses in ((files["reference-ratings.csv"], 120), (files["output-ratings.csv"], 90)):
        ratings = read_ratings(file, filename="r.csv", file_format="csv", options=RatingOptions())
        judged = {
            (judgement.item, judgement.system or judgement.text, judgement.rater) for judgement in ratings.judgements
        }
        assert len(judged) == len(ratings.judgements) == 5 * responses
    assert len(json.loads(files["design.json"])["compare"]) == 2


def test_a_more_skilful_system_is_rated_higher() -> None:
    files = synthetic_files(SMALL)
    ratings = read_ratings(files["output-ratings.csv"], filename="r.csv", file_format="csv", options=RatingOptions())
    means = [
        np.mean([judgement.values[0] for judgement in ratings.judgements if judgement.system == name])
        for name in ("System01", "System02", "System03")
    ]
    assert means == sorted(means)


def test_the_default_size_is_that_of_galley_2015() -> None:
    # Galley et al. 2015: a test set of 2,114 triples, 7 systems, 12 pairs of them, 5 raters on a 5-point scale.
    size = SyntheticSize()
    assert (size.items, size.references, size.ratings, size.systems, size.pairs) == (2114, 16, 5, 7, 12)


@pytest.mark.parametrize(("name", "value"), [("items", 0), ("ratings", 7), ("pairs", 4)])
def test_an_impossible_size_is_refused_by_name(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name}: found {value}; accepted: at "):
        SyntheticSize(**{**vars(SMALL), name: value})
