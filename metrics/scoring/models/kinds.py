"""The registry of kinds of trained models: what each is for, and the options of its training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metrics.scoring.adequacy_fluency_text import TOKENIZERS as CLEANED_TOKENIZERS
from metrics.scoring.models.files import Model
from metrics.scoring.models.language_model import MAX_ORDER, LanguageModel
from metrics.scoring.models.lsa import MAX_COMPONENTS, LsaModel
from metrics.scoring.models.options import Options
from metrics.scoring.models.sentence_encoder import SentenceEncoder
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.models.word_vectors.training import MAX_DIMENSION, MAX_WINDOW
from metrics.scoring.parameters import Parameter, choice, flag, parameters_of, real, whole
from metrics.scoring.qe.model import QualityEstimator
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.texts import TOKENIZERS, Text, check_choice

Progress = Callable[[int], None]


@dataclass(frozen=True)
class LsaOptions(Options):
    components: int = whole(
        100,
        low=1,
        high=MAX_COMPONENTS,
        label="Dimensions",
        key="k",
        hint="A metric may use fewer: the first k of many are the space of k. 100 take seconds, 2,500 minutes.",
    )
    tokenize: str = choice("whitespace", CLEANED_TOKENIZERS, label="Tokeniser", key="tok")


@dataclass(frozen=True)
class LanguageModelOptions(Options):
    order: int = whole(
        2, low=1, high=MAX_ORDER, label="Longest n-gram", key="order", hint="A metric may use a lower order."
    )
    prune: float = real(
        0.0,
        low=0,
        high=0.1,
        label="Pruning",
        key="prune",
        hint="N-grams whose loss raises the perplexity by less than this share are left out; 0 keeps all.",
    )
    tokenize: str = choice("whitespace", CLEANED_TOKENIZERS, label="Tokeniser", key="tok")


@dataclass(frozen=True)
class VectorOptions(Options):
    dimension: int = whole(100, low=1, high=MAX_DIMENSION, label="Dimensions", key="d")
    window: int = whole(
        5, low=1, high=MAX_WINDOW, label="Window", key="window", hint="Words to either side that are a word's context."
    )
    min_count: int = whole(
        2, low=1, high=1_000_000, label="Least count", key="min", hint="A word that occurs less often has no vector."
    )
    tokenize: str = choice("whitespace", TOKENIZERS, label="Tokeniser", key="tok")
    lowercase: bool = flag(True, label="Lowercase first", key="lc")


@dataclass(frozen=True)
class Kind:
    """A kind of trained model.

    Attributes
    ----------
    model : type of Model
    label, summary : str
        For people.
    made_elsewhere : str
        Which files of other programs can be read; empty if none.
    options : type of Options, or None
        None if it cannot be trained here.
    field : str
        Its field in addresses of the playground; empty if the playground takes the newest model of this kind.
    learns_from : {"texts", "ratings"}
        What a training reads: `train` here, or `metrics.scoring.qe.training.train`.
    """

    model: Any
    label: str
    summary: str
    made_elsewhere: str = ""
    options: type[Options] | None = None
    field: str = ""
    learns_from: Literal["texts", "ratings"] = "texts"

    @property
    def name(self) -> str:
        return str(self.model.kind)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return () if self.options is None else parameters_of(self.options)

    def checked(self, options: Mapping[str, Any]) -> Options:
        """Return the options with defaults for those left out.

        Raises
        ------
        ValueError
            An unknown option, or a value that is not accepted: which, what was found, what is accepted.
        """
        if self.options is None:
            raise ValueError(f"kind: found {self.name!r}; accepted: {', '.join(TRAINABLE)}")
        accepted = [parameter.name for parameter in self.parameters]
        for name in options:
            if name not in accepted:
                raise ValueError(f"{name}: no option of kind {self.name!r}; accepted: {', '.join(accepted)}")
        return self.options(**options)

    def train(self, texts: Iterable[Text], options: Options, progress: Progress | None = None) -> Model:
        """Train a model on texts that are read once; ``progress`` is called with the number of texts read.

        Raises
        ------
        ValueError
            The kind learns from ratings.
        """
        if self.name not in TRAINABLE:
            raise ValueError(f"kind: found {self.name!r}; accepted: {', '.join(TRAINABLE)}")
        trained: Model = self.model.train(texts, progress=progress, **options.as_dict())
        return trained


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            LsaModel,
            "LSA space",
            "Texts as points by the words that occur in them: what adequacy is judged by.",
            options=LsaOptions,
            field="am",
        ),
        Kind(
            LanguageModel,
            "n-gram model",
            "How probable each next word is: what fluency is judged by.",
            "ARPA, as SRILM and KenLM write it, perhaps compressed with gzip",
            LanguageModelOptions,
            "fm",
        ),
        Kind(
            WordVectors,
            "word vectors",
            "Words as points: what embedding metrics compare.",
            "word2vec text or binary, or GloVe text, perhaps compressed with gzip",
            VectorOptions,
            "wv",
        ),
        Kind(SentenceEncoder, "sentence encoder", "Whole sentences as points, by a neural network made elsewhere."),
        Kind(
            QualityEstimator,
            "quality estimator",
            "Predicts how people would rate an output, from its source alone.",
            options=QualityOptions,
            learns_from="ratings",
        ),
    )
}

# By what they learn from.
TRAINABLE = tuple(name for name, kind in KINDS.items() if kind.options is not None and kind.learns_from == "texts")
RATED = tuple(name for name, kind in KINDS.items() if kind.options is not None and kind.learns_from == "ratings")


def get_kind(name: str) -> Kind:
    """Return the kind of that name, or raise an error that says which there are."""
    check_choice("kind", name, KINDS)
    return KINDS[name]
