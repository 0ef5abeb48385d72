"""Draws and splits depend on the seed and the names alone; recomputed from their description with hashlib."""

import hashlib
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from annotation.allocation.splits import assign_splits, draws, split_sizes

HALVES = {"dev": 0.5, "test": 0.5}


def splits_by_description(names: list[str], sizes: list[tuple[str, int]], seed: int) -> dict[str, str]:
    """Follow the description in the docstring of ``assign_splits``."""

    def key(index: int) -> int:
        digest = hashlib.sha256(f"[{seed}, {index}]".encode()).digest()
        return int.from_bytes(digest[:8], "big") % 2**63

    ordered = sorted(names)
    shuffled = [ordered[index] for index in sorted(range(len(ordered)), key=key)]
    splits: dict[str, str] = {}
    for split, size in sizes:
        splits |= dict.fromkeys(shuffled[:size], split)
        shuffled = shuffled[size:]
    return splits


def test_the_papers_seeds_are_split_into_reproducible_halves() -> None:
    """Galley et al. (2015), section 4.1: 4,232 triples were kept and binned at random."""
    names = [f"triple-{number}" for number in range(4232)]
    splits = assign_splits(names, HALVES, 20150726)
    assert Counter(splits.values()) == {"dev": 2116, "test": 2116}
    assert splits == splits_by_description(names, [("dev", 2116), ("test", 2116)], 20150726)
    assert assign_splits(names[::-1], dict(reversed(HALVES.items())), 20150726) == splits
    # Splits do not follow the corpus order: about half of the first 2,116 seeds are in each.
    first = sum(splits[name] == "dev" for name in sorted(names)[:2116])
    assert abs(first - 1058) < 4 * (2116 * 0.25) ** 0.5
    assert assign_splits(names, HALVES, 20150727) != splits


@pytest.mark.parametrize(
    ("total", "shares", "sizes"),
    [  # worked by hand
        (7, HALVES, {"dev": 4, "test": 3}),
        (0, HALVES, {"dev": 0, "test": 0}),
        (10, {"train": 0.8, "dev": 0.1, "test": 0.1}, {"dev": 1, "test": 1, "train": 8}),
        (11, {"train": 0.8, "dev": 0.1, "test": 0.1}, {"dev": 1, "test": 1, "train": 9}),
        (4, {"a": 0.3, "b": 0.7}, {"a": 1, "b": 3}),
        (5, {"all": 1}, {"all": 5}),
    ],
)
def test_sizes_are_the_shares_rounded_to_whole_numbers(
    total: int, shares: dict[str, float], sizes: dict[str, int]
) -> None:
    assert split_sizes(total, shares) == sizes
    assert list(split_sizes(total, shares)) == sorted(shares)


@given(st.integers(0, 5000), st.lists(st.integers(1, 100), min_size=1, max_size=6))
def test_sizes_add_up_and_none_is_off_by_one_or_more(total: int, parts: list[int]) -> None:
    total_parts = sum(parts)
    shares = {f"s{index}": part / total_parts for index, part in enumerate(parts)}
    sizes = split_sizes(total, shares)
    assert sum(sizes.values()) == total
    assert all(abs(sizes[name] - total * share) < 1 + 1e-6 * total for name, share in shares.items())
    if len(set(parts)) == 1:
        assert max(sizes.values()) - min(sizes.values()) <= 1


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ({}, "found no split"),
        ({"a": 0.5, "b": 0.6}, "the shares add up to 1.1; accepted: 1"),
        ({"a": 1, "b": 0}, "the share of 'b' is 0; accepted: a number above 0"),
        ({"a": -0.5, "b": 1.5}, "the share of 'a' is -0.5"),
        ({"a": float("nan")}, "the share of 'a' is nan"),
        ({"a": True}, "the share of 'a' is True"),
    ],
)
def test_invalid_shares_are_refused(shares: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_sizes(10, shares)


def test_duplicate_names_are_refused() -> None:
    with pytest.raises(ValueError, match="a name twice"):
        assign_splits(["a", "a"], HALVES, 1)


@given(st.integers(0, 2**63 - 1), st.integers(0, 60))
def test_each_number_is_drawn_once(seed: int, size: int) -> None:
    assert sorted(draws(seed, size)) == list(range(size))


def test_draws_equal_a_full_shuffle_without_storing_all_numbers() -> None:
    """Durstenfeld's algorithm as published, on the full list of numbers."""
    row = list(range(1000))
    for index in range(1000):
        digest = hashlib.sha256(f'[7, "draw", {index}]'.encode()).digest()
        target = index + int.from_bytes(digest[:8], "big") % 2**63 % (1000 - index)
        row[index], row[target] = row[target], row[index]
    assert list(draws(7, 1000)) == row
    few = list(islice(draws(7, 29_000_000), 1000))
    assert len(set(few)) == 1000
    assert max(few) < 29_000_000


def test_every_number_is_equally_likely_to_be_drawn() -> None:
    drawn = Counter(number for seed in range(4000) for number in islice(draws(seed, 20), 3))
    assert chisquare([drawn[number] for number in range(20)]).pvalue > 0.001


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match="size is -1"):
        list(draws(1, -1))
