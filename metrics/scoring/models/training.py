"""Train a model of any kind from texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import Model
from metrics.scoring.texts import Text, check_choice

TRAINERS: dict[str, Callable[..., Model]] = {
    LsaModel.kind: LsaModel.train,
    LanguageModel.kind: LanguageModel.train,
}


def train(kind: str, texts: Iterable[Text], *, progress: Callable[[int], None] | None = None, **options: Any) -> Model:
    """A model of that kind, learnt from texts that are read once.

    Parameters
    ----------
    kind : {"lsa", "language_model"}
    texts : iterable of strings
        One sentence each.
    progress : callable, optional
        Told how many texts have been read.
    **options
        As `LsaModel.train` and `LanguageModel.train` take them.

    Raises
    ------
    ValueError
        An unknown kind or option, or a value that is not accepted.

    Examples
    --------
    >>> train("language_model", ["a b", "a c"], order=2).n_ngrams
    (6, 5)
    """
    check_choice("kind", kind, TRAINERS)
    trainer = TRAINERS[kind]
    accepted = [name for name in signature(trainer).parameters if name not in ("texts", "progress")]
    for option in options:
        if option not in accepted:
            raise ValueError(f"{kind}: found option {option!r}; accepted: {', '.join(accepted)}")
    return trainer(texts, progress=progress, **options)
