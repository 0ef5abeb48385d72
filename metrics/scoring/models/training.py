"""Train a model of any kind from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from metrics.scoring.models.files import Model
from metrics.scoring.models.kinds import KINDS, TRAINABLE
from metrics.scoring.texts import Text, check_choice


def train(kind: str, texts: Iterable[Text], *, progress: Callable[[int], None] | None = None, **options: Any) -> Model:
    """Train a model of that kind on texts that are read once.

    Parameters
    ----------
    kind : {"lsa", "language_model", "vectors"}
    texts : iterable of strings
        One sentence each.
    progress : callable, optional
        Called with the number of texts read so far.
    **options
        As `LsaModel.train`, `LanguageModel.train` and `WordVectors.train` take them.

    Raises
    ------
    ValueError
        An unknown kind or option, or a value that is not accepted.

    Examples
    --------
    >>> train("language_model", ["a b", "a c"], order=2).n_ngrams
    (6, 5)
    """
    accepted = options_of(kind)
    for option in options:
        if option not in accepted:
            raise ValueError(f"{kind}: found option {option!r}; accepted: {', '.join(accepted)}")
    trained: Model = KINDS[kind].model.train(texts, progress=progress, **options)
    return trained


def options_of(kind: str) -> dict[str, Any]:
    """Return the options of a training of that kind and their defaults."""
    check_choice("kind", kind, TRAINABLE)
    model = KINDS[kind].model
    known = signature(getattr(model, "training", model.train)).parameters
    return {name: parameter.default for name, parameter in known.items() if name not in ("texts", "progress")}
