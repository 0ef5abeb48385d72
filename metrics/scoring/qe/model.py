"""A trained quality estimator: what it takes to rate an output from its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from metrics.scoring.qe.inputs import encoded_pairs, read_pairs
from metrics.scoring.qe.instances import Instance, input_key, pair_key
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.scale import RatingScale
from metrics.scoring.qe.vocabulary import Vocabulary
from metrics.scoring.texts import as_string

_LAYOUT = 2
_BY_TEXTS = 1  # an earlier layout: keys of texts, none of sources, no choice of folds
_SEEN, _SOURCES = "seen", "seen_sources"


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
        Sorted keys of the inputs that it learnt from or was chosen by.
    seen_sources : (k,) uint64
        Sorted keys of their sources.
    about : mapping
        Plain values: how many instances, which pass was the best, its coefficients.
    layout : int
        Of its files.
    """

    kind: ClassVar[str] = "quality"

    options: QualityOptions
    scale: RatingScale
    vocabulary: Vocabulary
    arrays: Mapping[str, NDArray[Any]]
    seen: NDArray[np.uint64]
    seen_sources: NDArray[np.uint64]
    about: Mapping[str, Any] = field(default_factory=dict)
    layout: int = _LAYOUT

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
        """Return whether the model learnt from, or was chosen by, an input that reads as each output (n,) and source.

        Slots stand in place of values unless it reads these, so other values are the same input.
        """
        read = list(map(as_string, sources)), list(map(as_string, outputs))
        if self.layout == _BY_TEXTS:
            return np.isin(_keys(pair_key(*pair) for pair in zip(*read, strict=True)), self.seen)
        return self._are_in(self.seen, [pair and input_key(*pair) for pair in read_pairs(*read, self.options)])

    def has_seen_sources(self, sources: Sequence[str]) -> Bools:
        """Return whether the model learnt from, or was chosen by, an output of what reads as each source (n,).

        A model of the earlier layout does not know its sources: False.
        """
        distinct = list(dict.fromkeys(map(as_string, sources)))
        pairs = read_pairs(distinct, [""] * len(distinct), self.options)
        known = self._are_in(self.seen_sources, [pair and input_key(pair[0]) for pair in pairs])
        by_source = dict(zip(distinct, known.tolist(), strict=True))
        return np.array([by_source[as_string(source)] for source in sources], dtype=np.bool_)

    @staticmethod
    def _are_in(seen: NDArray[np.uint64], keys: Sequence[bytes | None]) -> Bools:
        """Return whether each key is among those seen; None is not."""
        readable = np.array([key is not None for key in keys], dtype=np.bool_)
        readable[readable] = np.isin(_keys(key for key in keys if key is not None), seen)
        return readable

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
        content = Content.load(path, cls.kind, _LAYOUT, _BY_TEXTS)
        header = content.header
        arrays = {name: np.array(array) for name, array in content.arrays.items()}
        layout = header["layout"]
        seen = np.array(content.array(_SEEN))
        sources = np.array([], dtype=np.uint64) if layout == _BY_TEXTS else np.array(content.array(_SOURCES))
        for name in (_SEEN, _SOURCES):
            arrays.pop(name, None)
        n_sources, n_outputs = header["n_source_words"], header["n_output_words"]
        words = content.words[: n_sources + n_outputs]
        options = QualityOptions.stored(header["options"])
        vocabulary = Vocabulary(words[:n_sources], words[n_sources:])
        scale = RatingScale(**header["scale"])
        return cls(options, scale, vocabulary, arrays, seen, sources, header["about"], layout)

    def _content(self) -> Content:
        options, keys = self.options.as_dict(), {_SEEN: self.seen, _SOURCES: self.seen_sources}
        if self.layout == _BY_TEXTS:  # as it was written: its hash names it
            del options["folds"], keys[_SOURCES]
        header = {
            "layout": self.layout,
            "options": options,
            "scale": {"low": self.scale.low, "high": self.scale.high, "step": self.scale.step},
            "n_source_words": len(self.vocabulary.sources),
            "n_output_words": len(self.vocabulary.outputs),
            "about": dict(self.about),
        }
        words = [*self.vocabulary.sources, *self.vocabulary.outputs]
        return Content(self.kind, header, words, {**self.arrays, **keys})


def seen_keys(instances: Sequence[Instance], options: QualityOptions) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return sorted keys of the inputs, and of their sources."""
    pairs = encoded_pairs([each.source for each in instances], [each.output for each in instances], options)
    return np.unique(_keys(input_key(*pair) for pair in pairs)), np.unique(_keys(input_key(read) for read, _ in pairs))


def _keys(keys: Iterable[bytes]) -> NDArray[np.uint64]:
    return np.frombuffer(b"".join(keys), dtype="<u8").astype(np.uint64)
