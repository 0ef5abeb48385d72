"""Scores that were computed before, by the hash of everything they depend on."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.aggregates import aggregate_from
from metrics.scoring.metric import MetricStatistics

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scores:
    """What one metric says of T systems on S segments; ``packed`` is there where sums of it give the score."""

    signature: str
    systems: Floats  # (T,)
    segments: Floats  # (T, S)
    packed: Floats | None  # (T, S, D)
    aggregate: dict[str, Any]

    @classmethod
    def of(cls, signature: str, statistics: MetricStatistics) -> Scores:
        return cls(
            signature,
            statistics.system_scores(),
            statistics.sentence_scores,
            statistics.packed if statistics.sums else None,
            statistics.aggregate.parameters(),
        )

    def over(self, chosen: NDArray[np.int64]) -> Floats:
        """(T,) scores over the segments with these indices."""
        if self.packed is None:
            raise ValueError(f"{self.signature}: its score is no function of sums over segments")
        return aggregate_from(self.aggregate)(self.packed[:, chosen].sum(axis=1))


class ScoreCache:
    """A folder of scores; without a folder nothing is kept."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    def get(self, signature: str, digest: str) -> Scores | None:
        path = self._path(signature, digest)
        if path is None or not path.exists():
            return None
        with np.load(path, allow_pickle=False) as held:
            aggregate = json.loads(str(held["aggregate"]))
            return Scores(signature, held["systems"], held["segments"], held.get("packed"), aggregate)

    def put(self, scores: Scores, digest: str) -> None:
        path = self._path(scores.signature, digest)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        aggregate = np.array(json.dumps(scores.aggregate))
        arrays: dict[str, NDArray[Any]] = {
            "systems": scores.systems, "segments": scores.segments, "aggregate": aggregate
        }  # fmt: skip
        if scores.packed is not None:
            arrays["packed"] = scores.packed
        # Whole or not at all: another call may look for it meanwhile.
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            np.savez(file, allow_pickle=False, **arrays)
        Path(file.name).replace(path)

    def _path(self, signature: str, digest: str) -> Path | None:
        if self.directory is None:
            return None
        key = hashlib.sha256(f"{signature}\n{digest}".encode()).hexdigest()
        return self.directory / f"{key}.npz"


def usual_directory() -> Path:
    """Where programs of a user keep what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay" / "scores"
