"""A cache of scores by the hash of everything they depend on."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from zipfile import BadZipFile

import numpy as np

from metrics import scoring
from metrics.scoring.aggregates import Aggregate, aggregate_from
from metrics.scoring.arrays import Floats
from metrics.scoring.metric import Metric, MetricStatistics


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one metric for T systems on S segments; what they are summed from if resamples are drawn."""

    signature: str
    systems: Floats  # (T,)
    segments: Floats  # (T, S)
    packed: Floats | None = None  # (T, S, D); None if sums do not give the scores
    aggregate: Aggregate | None = None

    @classmethod
    def of(cls, signature: str, statistics: MetricStatistics, *, to_resample: bool = False) -> Scores:
        scores = statistics.system_scores(), statistics.sentence_scores
        if to_resample and statistics.sums:
            return cls(signature, *scores, statistics.packed, statistics.aggregate)
        return cls(signature, *scores)


class ScoreCache:
    """A folder of scores; without a folder nothing is stored."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    def get(self, signature: str, digest: str, *, to_resample: bool = False) -> Scores | None:
        """Return stored scores; with ``to_resample`` only if the statistics that they sum are stored, too."""
        path = self._path(signature, digest)
        if path is None:
            return None
        # A file that cannot be read counts as missing.
        with suppress(OSError, ValueError, KeyError, EOFError, BadZipFile), np.load(path, allow_pickle=False) as file:
            scores = file["systems"], file["segments"]
            if not to_resample:
                return Scores(signature, *scores)
            return Scores(signature, *scores, file["packed"], aggregate_from(json.loads(file["aggregate"].item())))
        return None

    def put(self, scores: Scores, digest: str) -> None:
        """Store the scores, if the folder can be written."""
        path = self._path(scores.signature, digest)
        if path is None:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written in full before it gets its name: another process may look for it.
            file = NamedTemporaryFile(dir=path.parent, delete=False)  # noqa: SIM115 # closed below, then renamed
            try:
                with file:
                    np.savez(file, allow_pickle=False, **_arrays(scores))
                Path(file.name).replace(path)
            finally:
                Path(file.name).unlink(missing_ok=True)

    def _path(self, signature: str, digest: str) -> Path | None:
        if self.directory is None:
            return None
        key = hashlib.sha256(f"{signature}\n{digest}".encode()).hexdigest()
        return self.directory / f"{key}.npz"


def _arrays(scores: Scores) -> dict[str, Any]:
    arrays: dict[str, Any] = {"systems": scores.systems, "segments": scores.segments}
    if scores.packed is not None and scores.aggregate is not None:
        arrays |= {"packed": scores.packed, "aggregate": np.array(json.dumps(scores.aggregate.parameters()))}
    return arrays


def program_digest(metric: Metric) -> str:
    """Return a digest of the code that computes the metric: with other code, scores are computed again."""
    total = hashlib.sha256(_scoring_code())
    for kind in type(metric).__mro__:
        if not kind.__module__.startswith(("metrics.scoring.", "builtins", "abc")):
            total.update(_module_text(kind.__module__))
    return total.hexdigest()


@cache
def _scoring_code() -> bytes:
    total = hashlib.sha256(f"sacrebleu {version('sacrebleu')}".encode())
    for folder in scoring.__path__:
        for file in sorted(Path(folder).rglob("*.py")):
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.digest()


def _module_text(name: str) -> bytes:
    file = getattr(sys.modules.get(name), "__file__", None)
    return Path(file).read_bytes() if file else name.encode()


def usual_directory() -> Path:
    """Return the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay" / "scores"
