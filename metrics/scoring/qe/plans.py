"""Training data S1 to S6: rated outputs, and what is synthesised beside them.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017, sections 3.3
and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.scoring.qe.errors import Dictionary, with_errors
from metrics.scoring.qe.inputs import Example, Words, encoded_pairs
from metrics.scoring.qe.instances import Instance
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.scale import RatingScale


@dataclass(frozen=True)
class WrittenText:
    """A text that a person wrote for a source, not rated, and of no instance.

    ``complete`` is True for the parts of a data set that systems were not trained on: plan S6 alone learns from them.
    """

    source: str
    text: str
    complete: bool = False


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rated examples; synthetic ones; and for the rank loss pairs of indices into `all`, the better one first."""

    rated: Sequence[Example]
    synthetic: Sequence[Example]
    pairs: Sequence[tuple[int, int]]

    @property
    def all(self) -> list[Example]:
        return [*self.rated, *self.synthetic]


def training_data(
    training: Sequence[Instance],
    options: QualityOptions,
    scale: RatingScale,
    *,
    tested: Sequence[Instance] = (),
    written: Sequence[WrittenText] = (),
) -> TrainingData:
    """Return the training data of a plan; the same instances, options and seed give the same data.

    S1: the instances. S2: and copies of their outputs with errors. S3: and their references, with copies. S4: and
    written texts, with copies. S5: and references of the tested instances, with copies. S6: and complete written texts,
    with copies. A text without errors that no one rated has the highest rating.

    The rank loss needs copies of the outputs; with S1 they are made for it alone, and are in no other loss.
    """
    encoded = encoded_pairs([each.source for each in training], [each.output for each in training], options)
    rated = [Example(*pair, each.rating) for pair, each in zip(encoded, training, strict=True)]
    number = int(options.plan[1])
    is_ranked = options.rank_weight > 0 and options.estimator == "network"
    if number == 1 and not is_ranked:
        return TrainingData(rated, [], [])
    rng = np.random.default_rng([options.seed, 3])
    dictionary = Dictionary.of(example.output for example in rated)
    if not dictionary.words:
        raise ValueError("instances: found no words in their outputs; accepted: outputs with words")
    references = _encoded_texts(_chosen_texts(number, training, tested, written), options)
    originals = rated + [Example(*pair, scale.high) for pair in references]
    synthetic = originals[len(rated) :]
    families = []
    for index, original in enumerate(originals):
        copies = _copies(original, options, scale, dictionary, rng)
        families.append([index, *range(len(rated) + len(synthetic), len(rated) + len(synthetic) + len(copies))])
        synthetic += copies
    pairs = [(better, worse) for family in families for at, better in enumerate(family) for worse in family[at + 1 :]]
    return TrainingData(rated, synthetic, pairs if is_ranked else [])


def _chosen_texts(
    number: int, training: Sequence[Instance], tested: Sequence[Instance], written: Sequence[WrittenText]
) -> list[tuple[str, str]]:
    """Return the distinct sources and texts that a plan learns from beside outputs."""
    texts: list[tuple[str, str]] = []
    if number >= 3:
        texts += _references(training)
    if number >= 4:
        texts += [(each.source, each.text) for each in written if not each.complete]
    if number >= 5:
        texts += _references(tested)
    if number >= 6:
        texts += [(each.source, each.text) for each in written if each.complete]
    return list(dict.fromkeys(texts))


def _references(instances: Iterable[Instance]) -> list[tuple[str, str]]:
    return [(each.source, text) for each in instances for text in each.references]


def _encoded_texts(texts: Sequence[tuple[str, str]], options: QualityOptions) -> list[tuple[Words, Words]]:
    return encoded_pairs([source for source, _ in texts], [text for _, text in texts], options)


def _copies(
    original: Example, options: QualityOptions, scale: RatingScale, dictionary: Dictionary, rng: np.random.Generator
) -> list[Example]:
    """Return a copy for each number of errors; none of an output without words."""
    if not original.output:
        return []
    return [
        Example(
            original.source,
            with_errors(original.output, count, dictionary, rng),
            scale.lowered(original.rating, count, options.error_points),
            count,
        )
        for count in range(1, options.errors + 1)
    ]
