"""Many sets of weights at once, against one at a time."""

import numpy as np
import pytest

from metrics.scoring.metric import Workspace
from metrics.scoring.registry import get_metric
from metrics.scoring.segments import Segments

WORDS = np.array(["the", "cat", "sat", "on", "a", "mat", "."])


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    """Return texts with repeated n-grams, an empty hypothesis, and a segment without a reference."""
    rng = np.random.default_rng(3)

    def text(n: int) -> str:
        return " ".join(rng.choice(WORDS, n))

    hypotheses = [[text(rng.integers(1, 9)) for _ in range(12)] for _ in range(3)]
    hypotheses[1][2] = ""
    references = [[text(rng.integers(1, 9)) for _ in range(rng.integers(1, 6))] for _ in range(12)]
    references[4] = []
    return Workspace(Segments(hypotheses, references, ["?"] * 12))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("delta_bleu", {"max_order": 3}),
        ("delta_bleu", {"semantics": "sacrebleu2018"}),
        ("bleu", {}),
        ("sbleu", {"smooth_brevity": True}),
        ("chrf", {}),
    ],
)
@pytest.mark.parametrize("steps", [10, 7, 0], ids=["tenths", "sevenths", "no-fractions"])
def test_each_set_of_weights_gives_what_it_gives_alone(
    workspace: Workspace, name: str, parameters: dict[str, object], steps: int
) -> None:
    rng = np.random.default_rng(steps)
    n_references = sum(map(len, workspace.segments.references))
    weights = rng.uniform(-1, 1, (6, n_references))
    if steps:
        weights = np.round(weights * steps) / steps
    masks = rng.random(weights.shape) < 0.7
    masks[0] = True
    metric = get_metric(name, **parameters)

    redrawn = workspace.redrawn(metric, weights=weights, reference_masks=masks)

    for each, own, mask in zip(redrawn, weights, masks, strict=True):
        needed = own if metric.needs_weights else None
        alone = workspace.statistics(metric, weights=needed, reference_mask=mask)
        assert np.array_equal(each.packed, alone.packed)
        assert np.array_equal(each.valid, alone.valid)
        assert np.array_equal(each.sentence_scores, alone.sentence_scores, equal_nan=True)
        assert each.aggregate.parameters() == alone.aggregate.parameters()
