"""Read the published files in plain Python, without the product: texts, judgements, weights as fractions."""

import gzip
from collections import defaultdict
from fractions import Fraction
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "demo" / "dstc7"
REFERENCE_NAMES = ("Human", "TeamB", "TeamF", "Random")
HYPOTHESIS_NAMES = ("Baseline", "Constant", "TeamA", "TeamCE", "TeamD", "TeamG")
ORIGINAL = "Human"
SAME_OUTPUTS = {"TeamEC": "TeamCE"}  # rated under two names, submitted once
SUBSETS = {
    "original": lambda weight, original: original,
    "w>0": lambda weight, original: weight > 0,
    "w>=0.6": lambda weight, original: weight >= Fraction(6, 10),
    "all": lambda weight, original: True,
}

Key = tuple[str, str]  # item and text: equal texts of several systems are rated once


def lines(name: str) -> list[list[str]]:
    """Return the cells of every line but the first."""
    text = gzip.decompress((FOLDER / f"dstc7-task2-{name}.tsv.gz").read_bytes()).decode("utf-8-sig")
    return [line.split("\t") for line in text.split("\n")[1:] if line]


@cache
def item_names() -> tuple[str, ...]:
    """Return item names in the order of the file."""
    return tuple(row[0] for row in lines("context"))


@cache
def outputs() -> dict[tuple[str, str], str]:
    """Map (system, item) to the text, with white space collapsed."""
    return {(system, item): " ".join(text.split()) for system, item, text in lines("system_responses")}


@cache
def judgements(names: tuple[str, ...]) -> dict[Key, list[tuple[str, Fraction]]]:
    """Map (item, text) to judge and mean of both criteria, for every judgement under the given names."""
    judgements_by_text: dict[Key, list[tuple[str, Fraction]]] = defaultdict(list)
    for judge, item, name, relevance, informativeness in lines("human-eval-per-judge"):
        system = SAME_OUTPUTS.get(name, name)
        if system in names:
            value = Fraction(int(relevance) + int(informativeness), 2)
            judgements_by_text[item, outputs()[system, item]].append((judge, value))
    return dict(judgements_by_text)


@cache
def mean_rating(names: tuple[str, ...]) -> dict[Key, Fraction]:
    return {key: sum(value for _, value in rows) / len(rows) for key, rows in judgements(names).items()}


@cache
def references() -> dict[str, list[tuple[str, Fraction, bool]]]:
    """Map an item to its distinct references: text, weight 2 (m - 1) / (5 - 1) - 1, whether it is the original."""
    means = mean_rating(REFERENCE_NAMES)
    references_by_item = {}
    for item in item_names():
        texts = dict.fromkeys(outputs()[name, item] for name in REFERENCE_NAMES)
        references_by_item[item] = [
            (text, 2 * (means[item, text] - 1) / 4 - 1, text == outputs()[ORIGINAL, item]) for text in texts
        ]
    return references_by_item


@cache
def usable_items() -> tuple[str, ...]:
    """Return items with a reference of positive weight."""
    return tuple(item for item in item_names() if max(weight for _, weight, _ in references()[item]) > 0)


def chosen(item: str, subset: str) -> list[tuple[str, Fraction]]:
    """Return the references of an item in a subset."""
    keep = SUBSETS[subset]
    return [(text, weight) for text, weight, original in references()[item] if keep(weight, original)]
