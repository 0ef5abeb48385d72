"""A trained quality estimator: what it takes to rate an output from its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from metrics.scoring.arrays import Bools, Floats
from metrics.scoring.models.files import Content
from metrics.scoring.qe import forward
from metrics.scoring.qe.features import features
from metrics.scoring.qe.inputs import encoded_pairs
from metrics.scoring.qe.instances import Instance, pair_key
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.scale import RatingScale
from metrics.scoring.qe.vocabulary import Vocabulary
from metrics.scoring.texts import as_string

_LAYOUT = 1
_SEEN = "seen"


@dataclass(frozen=True, eq=False)
class QualityEstimator:
    """A model that predicts ratings; it needs no library beyond NumPy and scipy.

    Attributes
    ----------
    options : QualityOptions
    scale : RatingScale
        Of the ratings that it learnt from.
    vocabulary : Vocabulary
        Empty for "ridge", whose features are hashed.
    arrays : mapping of str to array
        Weights.
    seen : (m,) uint64
        Sorted keys of the sources and outputs that it learnt from or was chosen by.
    about : mapping
        Plain values: how many instances, which pass was the best, its coefficients.
    """

    kind: ClassVar[str] = "quality"

    options: QualityOptions
    scale: RatingScale
    vocabulary: Vocabulary
    arrays: Mapping[str, NDArray[Any]]
    seen: NDArray[np.uint64]
    about: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, sources: Sequence[str], outputs: Sequence[str], *, rounded: bool = True) -> Floats:
        """Return the predicted ratings (n,).

        Parameters
        ----------
        sources, outputs : sequences of n strings
        rounded : bool
            Whether to round to the precision of the ratings in training, and to clip to their range.

        Raises
        ------
        ValueError
            A source that cannot be read as the model's sources: which.
        """
        pairs = encoded_pairs(list(map(as_string, sources)), list(map(as_string, outputs)), self.options)
        if not pairs:
            return np.empty(0)
        if self.options.estimator == "ridge":
            rows = features([source for source, _ in pairs], [output for _, output in pairs])
            raw = np.asarray(rows @ self.arrays["weights"] + self.arrays["intercept"], dtype=np.float64)
        else:
            raw = forward.predictions(
                self.arrays,
                self.options,
                [self.vocabulary.source_ids(source) for source, _ in pairs],
                [self.vocabulary.output_ids(output) for _, output in pairs],
            )
        return self.scale.rounded(raw) if rounded else raw

    def has_seen(self, sources: Sequence[str], outputs: Sequence[str]) -> Bools:
        """Return whether the model learnt from, or was chosen by, each output (n,) of this very source."""
        keys = _keys(zip(map(as_string, sources), map(as_string, outputs), strict=True))
        return np.isin(keys, np.asarray(self.seen))

    @cached_property
    def digest(self) -> str:
        return self._content().digest()

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "estimator": self.options.estimator,
            "plan": self.options.plan,
            "seed": self.options.seed,
            "low": self.scale.low,
            "high": self.scale.high,
            "step": self.scale.step,
            "vocabulary": len(self.vocabulary.sources) + len(self.vocabulary.outputs),
            **self.about,
        }

    def save(self, path: Path) -> None:
        """Write a folder; equal models, equal bytes."""
        self._content().save(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a folder that `save` wrote.

        Raises
        ------
        ValueError
            It is none.
        """
        content = Content.load(path, cls.kind, _LAYOUT)
        header = content.header
        arrays = {name: np.array(array) for name, array in content.arrays.items()}
        seen = np.array(content.array(_SEEN))
        arrays.pop(_SEEN)
        n_sources, n_outputs = header["n_source_words"], header["n_output_words"]
        words = content.words[: n_sources + n_outputs]
        options = QualityOptions(**header["options"])
        vocabulary = Vocabulary(words[:n_sources], words[n_sources:])
        return cls(options, RatingScale(**header["scale"]), vocabulary, arrays, seen, header["about"])

    def _content(self) -> Content:
        header = {
            "layout": _LAYOUT,
            "options": self.options.as_dict(),
            "scale": {"low": self.scale.low, "high": self.scale.high, "step": self.scale.step},
            "n_source_words": len(self.vocabulary.sources),
            "n_output_words": len(self.vocabulary.outputs),
            "about": dict(self.about),
        }
        words = [*self.vocabulary.sources, *self.vocabulary.outputs]
        return Content(self.kind, header, words, {**self.arrays, _SEEN: self.seen})


def seen_keys(instances: Sequence[Instance]) -> NDArray[np.uint64]:
    """Return sorted keys of sources and outputs."""
    return np.unique(_keys((each.source, each.output) for each in instances))


def _keys(pairs: Any) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(pair_key(*pair) for pair in pairs), dtype="<u8").astype(np.uint64)
