"""Synthetic releases of any size, written by COPY, for benchmarks and tests of the browse page."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.models import Dataset, Project, Release

VOCABULARY_TEXT = (
    "i was about to text you and my two cousins got excited because they thought rain was coming so we play inside "
    "today nobody wants soup or trains when the guitar is out of tune my kitten sleeps on the budget no idea why the "
    "thunder was late but the snow is beautiful and quiet"
)
WORDS = VOCABULARY_TEXT.split()
RARE = "zephyr"  # in every thousandth reference
SPLITS = ("dev", "test")


WEIGHT_COLUMNS = [
    "release_id",
    "item_id",
    "item_position",
    "response_id",
    "is_original",
    "weight",
    "rating_mean",
    "n_ratings",
    "standard_error",
    "low",
    "high",
    "rating_spread",
    "histogram",
]


def made_release(project: Project, n_items: int, per_item: int = 16, *, seed: int = 1) -> Release:
    """Create a finished release of ``n_items`` times ``per_item`` references: originals and mined ones."""
    from django.utils import timezone

    from annotation.core.copying import copy_rows
    from annotation.models import Dataset, JobState, ReferenceSet, Release, ReleaseWeight
    from annotation.models.releases import IMPORTED

    draw = random.Random(seed)
    n = n_items * per_item
    names = {"name": f"{n} references", "slug": f"references-{n}"}
    dataset = Dataset.objects.create(project=project, **names)
    items, responses = _written_texts(dataset, n_items, per_item, draw)
    reference_set = ReferenceSet.objects.create(
        project=project, dataset=dataset, **names, source_kinds=["seed", "mined"], original_kinds=["seed"]
    )
    release = Release.objects.create(
        reference_set=reference_set, number=1, method=IMPORTED, signature="made up", content_hash="0" * 64
    )
    rows = list(_weights(draw, items, responses, per_item))
    copy_rows(ReleaseWeight, WEIGHT_COLUMNS, ((release.pk, *row) for row in rows))
    release.state, release.finished_at = JobState.DONE, timezone.now()
    release.report = _report([row[4] for row in rows], per_item)
    release.save()
    return release


def _written_texts(dataset: Dataset, n_items: int, per_item: int, draw: random.Random) -> tuple[list[int], list[int]]:
    """Write items, references and their sources; return the ids of items and references."""
    from annotation.core.copying import allocate_ids, copy_rows
    from annotation.models import Item, Response, ResponseSource

    items, responses = allocate_ids(Item, n_items), allocate_ids(Response, n_items * per_item)
    copy_rows(
        Item,
        ["id", "dataset_id", "external_id", "position", "context", "message", "meaning_representation", "split"],
        (
            (pk, dataset.pk, f"c{at:06d}", at, [random_text(draw)], random_text(draw) + " ?", "", SPLITS[at % 2])
            for at, pk in enumerate(items)
        ),
    )
    copy_rows(
        Response,
        ["id", "item_id", "text", "text_key"],
        (
            (pk, items[at // per_item], random_text(draw) + (f" {RARE}" if at % 1000 == 7 else ""), f"{at:064x}")
            for at, pk in enumerate(responses)
        ),
    )
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "rank", "score", "source_context", "source_message", "raw_text"],
        (
            (pk, items[at // per_item], "seed", None, None, [], "", "")
            if at % per_item == 0
            else (
                pk,
                items[at // per_item],
                "mined",
                at % per_item,
                20 - at % per_item,
                [random_text(draw)],
                random_text(draw),
                "",
            )
            for at, pk in enumerate(responses)
        ),
    )
    return items, responses


def _report(weights: list[float], per_item: int) -> dict[str, Any]:
    n, n_items = len(weights), len(weights) // per_item
    best = [max(weights[at : at + per_item]) for at in range(0, n, per_item)]
    return {
        "campaigns": [],
        "criteria": ["quality"],
        "scale": [1, 5],
        "last_rating_id": 0,
        "histogram": {"kind": "points", "labels": ["1", "2", "3", "4", "5"]},
        "references": {
            "all": n,
            "weighted": n,
            "originals": n_items,
            "without_weight": {},
            "positive": sum(weight > 0 for weight in weights),
            "zero": sum(weight == 0 for weight in weights),
            "negative": sum(weight < 0 for weight in weights),
            "interval_spans_zero": 0,
            "without_interval": 0,
        },
        "ratings": {
            "read": 5 * n,
            "kept": 5 * n,
            "excluded": [],
            "judgements": 5 * n,
            "incomplete_judgements": 0,
            "repeated_judgements": 0,
            "raters": 50,
        },
        "items": {
            "all": n_items,
            "with_reference": n_items,
            "with_weight": n_items,
            "without_positive": sum(weight <= 0 for weight in best),
            "without_positive_listed": [],
            "tied_best": 0,
            "best_interval_spans_zero": 0,
        },
    }


def random_text(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(5, 14)))


def _weights(draw: random.Random, items: list[int], responses: list[int], per_item: int) -> Iterator[tuple[Any, ...]]:
    """Yield weights from four to six ratings of each reference, around its latent quality."""
    for at, pk in enumerate(responses):
        original = at % per_item == 0
        quality = draw.betavariate(5, 2) if original else draw.betavariate(1.6, 2)
        n = draw.choice((4, 5, 5, 5, 6))
        values = [min(5, max(1, round(1 + 4 * quality + draw.gauss(0, 0.8)))) for _ in range(n)]
        mean = sum(values) / n
        spread = (sum((value - mean) ** 2 for value in values) / (n - 1)) ** 0.5
        weight, error = (mean - 3) / 2, spread / n**0.5 / 2
        yield (
            items[at // per_item],
            at // per_item,
            pk,
            original,
            weight,
            mean,
            n,
            error,
            max(-1.0, weight - 1.96 * error),
            min(1.0, weight + 1.96 * error),
            spread,
            [values.count(point) for point in range(1, 6)],
        )
