"""The options of a quality estimator, by default those of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from metrics.scoring.models.options import Options
from metrics.scoring.parameters import choice, flag, real, whole

ESTIMATORS = ("network", "ridge")
SOURCES = ("dialogue act", "text")
PLANS = ("S1", "S2", "S3", "S4", "S5", "S6")
CELLS = ("gru", "lstm")
ENCODERS = ("separate", "shared")
PRECISIONS = ("float32", "bfloat16")
COMBINATIONS = ("joined", "apart")

# What folds and development parts keep together, and what follows for predictions.
INPUTS, TEXTS = "inputs", "texts"
FOLDS = {
    INPUTS: "No output was predicted by a model that had learnt from one that it reads alike.",
    TEXTS: "As in the paper, only equal texts stayed together: a model may have learnt from an output that it reads "
    "exactly like the one that it predicts, such as the same sentence with other values in its slots.",
}

# Ridge regression reads none of these.
OF_NETWORKS = (
    "cell",
    "layers",
    "encoders",
    "combination",
    "embedding",
    "tanh_layers",
    "dropout",
    "learning_rate",
    "batch",
    "passes",
    "synthetic_passes",
    "precision",
    "patience",
    "rank_weight",
)


@dataclass(frozen=True)
class QualityOptions(Options):
    """Options of a training; section numbers are of Dušek, Novikova and Rieser (2017)."""

    estimator: str = choice(
        "network",
        ESTIMATORS,
        label="Estimator",
        key="est",
        hint="A recurrent network, or ridge regression on hashed n-grams: seconds, and needs no library.",
    )
    source: str = choice(
        "dialogue act",
        SOURCES,
        label="Sources are",
        key="src",
        hint="Dialogue acts are read as triplets of act, slot and value; texts as words.",
    )
    delexicalise: bool = flag(
        True,
        label="Replace values by slots",
        key="delex",
        hint="A value of a dialogue act becomes X-slot, in the source and in the output.",
    )
    max_tokens: int = whole(
        100,
        low=1,
        high=1000,
        label="Longest source and output, in tokens",
        key="longest",
        hint="Of a longer source the end is read, of a longer output the beginning.",
    )
    plan: str = choice(
        "S1",
        PLANS,
        label="Training data",
        key="plan",
        hint="S1: rated outputs alone. S2: with synthetic errors. S3 to S6: also references, with synthetic errors.",
    )
    folds: str = choice(
        INPUTS,
        tuple(FOLDS),
        label="Folds keep together",
        key="folds",
        hint="A model reads slots in place of values. If equal texts alone are together, as in the paper, outputs that "
        "differ by their values only are learnt from and tested on as the same input.",
    )
    errors: int = whole(
        4, low=1, high=10, label="Most errors in an output", key="errors", hint="One copy for each number of errors."
    )
    error_points: float = real(
        1.0,
        low=0,
        high=1e6,
        label="Points lost by an error",
        key="lost",
        hint="The paper's 1 point is for a scale of 1 to 6.",
    )
    cell: str = choice("gru", CELLS, label="Cell", key="cell")
    layers: int = whole(1, low=1, high=4, label="Recurrent layers", key="layers")
    encoders: str = choice("separate", ENCODERS, label="Encoders of source and output", key="enc")
    combination: str = choice(
        "joined",
        COMBINATIONS,
        label="Final states",
        key="comb",
        hint="Joined: one prediction from both. Apart: one from each, the losses summed, the predictions averaged.",
    )
    embedding: int = whole(300, low=1, high=2000, label="Size of embeddings and states", key="emb")
    tanh_layers: int = whole(2, low=0, high=6, label="Tanh layers", key="tanh")
    dropout: float = real(0.5, low=0, high=0.95, label="Dropout of encoder inputs", key="drop")
    learning_rate: float = real(1e-4, low=1e-6, high=1, label="Learning rate", key="rate")
    batch: int = whole(50, low=1, high=10_000, label="Instances in a batch", key="batch")
    passes: int = whole(500, low=0, high=10_000, label="Passes over rated outputs", key="passes")
    synthetic_passes: int = whole(
        20, low=0, high=10_000, label="First passes, with synthetic data", key="first", hint="Only if there is any."
    )
    precision: str = choice(
        "float32",
        PRECISIONS,
        label="Precision of matrix products",
        key="prec",
        hint="bfloat16 is several times as fast on processors that have instructions for it, and slower on others.",
    )
    patience: int = whole(
        0,
        low=0,
        high=10_000,
        label="Passes without improvement before training ends",
        key="patience",
        hint="0: all passes are made.",
    )
    rank_weight: float = real(
        0.0,
        low=0,
        high=1000,
        label="Weight of the rank loss",
        key="rank",
        hint="Added to the squared error: an output must score above its copy with more synthetic errors.",
    )
    development: float = real(
        0.25,
        low=0.01,
        high=0.9,
        label="Share set aside to choose the best pass",
        key="dev",
        hint="Cross-validation takes a fold instead.",
    )
    low: float | None = real(
        None, low=-1e9, high=1e9, label="Lowest rating", key="low", optional=True, hint="Empty: the lowest in training."
    )
    high: float | None = real(
        None, low=-1e9, high=1e9, label="Highest rating", key="high", optional=True, hint="Empty: the highest."
    )
    seed: int = whole(1, low=0, high=999_999, label="Seed", key="seed")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"high: found {self.high:g}; accepted: a number above low, {self.low:g}")

    @property
    def read(self) -> tuple[str, ...]:
        """Return the names of the options that the estimator reads, in their order."""
        unread = () if self.estimator == "network" else OF_NETWORKS
        return tuple(name for name in self.as_dict() if name not in unread)

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> Self:
        """Return options as a training stored them; those from before there was a choice of folds kept texts."""
        return cls(**{"folds": TEXTS} | dict(values))
