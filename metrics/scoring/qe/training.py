"""Train a quality estimator.

References
----------
Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017, section 3.4.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from metrics.scoring import VERSION
from metrics.scoring.qe.inputs import Example
from metrics.scoring.qe.instances import Instance, instances_digest, ratings_of
from metrics.scoring.qe.learning import learnt
from metrics.scoring.qe.model import QualityEstimator, seen_keys
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.plans import WrittenText, training_data
from metrics.scoring.qe.ridge_training import best_ridge
from metrics.scoring.qe.scale import RatingScale
from metrics.scoring.qe.splits import Split, development_split, kept_together
from metrics.scoring.qe.steps import Progress, Step
from metrics.scoring.qe.vocabulary import Vocabulary


def train(
    instances: Sequence[Instance],
    options: QualityOptions,
    *,
    split: Split | None = None,
    written: Sequence[WrittenText] = (),
    progress: Progress | None = None,
    checkpoint: Path | None = None,
    processes: int = 1,
) -> QualityEstimator:
    """Train a model on rated outputs; the same arguments give the same model on one machine.

    Parameters
    ----------
    instances : sequence of Instance
        Each with a rating.
    options : QualityOptions
    split : Split, optional
        By default `development_split`: a share of the instances chooses the best pass, the others are learnt from.
    written : sequence of WrittenText, optional
        Read by plans S4 and S6.
    progress : callable, optional
        Called with a `Step` after each pass and every few seconds within one; what it raises ends the training.
    checkpoint : Path, optional
        A file to go on from; written every half minute. It is left when the training has ended.
    processes : {1, 2}
        Of a network's training: a long one is shared by two if there are two cores; the model is the same.

    Raises
    ------
    ValueError
        Instances, options or sources that nothing can be learnt from: which, what is accepted.
    """
    ratings = ratings_of(instances)
    split = split or development_split(kept_together(instances, options), options.development, options.seed)
    training = [instances[at] for at in split.training]
    development = [instances[at] for at in split.development]
    known = ratings[[*split.training, *split.development]]
    scale = RatingScale.of(known, low=options.low, high=options.high)
    tested = [instances[at] for at in split.tested]
    data = training_data(training, options, scale, tested=tested, written=written)
    encoded = training_data(development, _plain(options), scale).rated
    seen, sources = seen_keys([*training, *development], options)
    about: dict[str, Any] = {"training": len(training), "development": len(development), "code": VERSION}
    if options.estimator == "ridge":
        arrays, found = best_ridge(data, encoded)
        if progress is not None:
            progress(Step(1, 1, seed=options.seed))
        return QualityEstimator(options, scale, Vocabulary([], []), arrays, seen, sources, about | found)
    vocabulary = Vocabulary.of(data.all, shared=options.encoders == "shared")
    identity = _identity(training, development, options, data.all)
    arrays, found = learnt(
        data, encoded, vocabulary, options, identity, progress=progress, checkpoint=checkpoint, processes=processes
    )
    return QualityEstimator(options, scale, vocabulary, arrays, seen, sources, about | found)


def _plain(options: QualityOptions) -> QualityOptions:
    """Return options under which outputs are read alike, and nothing is synthesised."""
    return QualityOptions(**options.as_dict() | {"plan": "S1", "rank_weight": 0.0})


def options_text(options: QualityOptions) -> str:
    """Return the options that differ from the defaults, as JSON; not the folds, since the split is known beside it."""
    usual = QualityOptions(folds=options.folds).as_dict()
    return json.dumps(
        {name: value for name, value in options.as_dict().items() if value != usual[name]}, sort_keys=True
    )


def _identity(
    training: Sequence[Instance], development: Sequence[Instance], options: QualityOptions, examples: Sequence[Example]
) -> str:
    """Return a digest of everything that a training depends on."""
    total = sha256(options_text(options).encode())
    for each in (VERSION, instances_digest(training), instances_digest(development), repr(examples)):
        total.update(each.encode())
    return total.hexdigest()
