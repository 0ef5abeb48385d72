"""Train a model of any kind from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from metrics.scoring.models.kinds import KINDS, TRAINABLE
from metrics.scoring.models.store import Model
from metrics.scoring.texts import Text, check_choice

TRAINERS: dict[str, Callable[..., Model]] = {kind: KINDS[kind].model.train for kind in TRAINABLE}


def train(kind: str, texts: Iterable[Text], *, progress: Callable[[int], None] | None = None, **options: Any) -> Model:
    """A model of that kind, learnt from texts that are read once.

    Parameters
    ----------
    kind : {"lsa", "language_model", "vectors"}
    texts : iterable of strings
        One sentence each.
    progress : callable, optional
        Told how many texts have been read.
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
    return TRAINERS[kind](texts, progress=progress, **options)


def options_of(kind: str) -> dict[str, Any]:
    """What can be chosen about a model of that kind, and what is taken where nothing is."""
    check_choice("kind", kind, TRAINERS)
    known = signature(TRAINERS[kind]).parameters
    return {name: one.default for name, one in known.items() if name not in ("texts", "progress")}
