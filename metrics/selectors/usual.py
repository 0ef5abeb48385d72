"""The usual settings of metrics on a data set, with which one click in *Scores* and a new study compute them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core.prose import enumerated
from annotation.models import Dataset
from metrics.models import ScoreRun
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.settings import SHARED, in_words, special_parameters
from metrics.selectors.catalogue import default_parameters
from metrics.selectors.models import model_parameters
from metrics.selectors.scripts import proposed_tokenizer

TYPICAL = {True: "bleu", False: "delta_bleu"}  # whose order, tokeniser and case most metrics share, by `plain`


@dataclass(frozen=True)
class UsualSettings:
    """What each metric is computed with unless a person says otherwise, on texts that ``tokenize`` splits.

    ``plain``: the references have no weights, and each metric has the settings that it is usually published with. With
    weights all metrics have the order and case of Galley et al. (2015), whose ΔBLEU they are compared with.
    """

    tokenize: str
    plain: bool

    def parameters(self, name: str) -> dict[str, Any]:
        """Return a metric's parameters, but for trained models."""
        models = {each.name for each in model_parameters(name)}
        usual = default_parameters(METRICS[name], self.tokenize, plain=self.plain)
        return {parameter: value for parameter, value in usual.items() if parameter not in models}

    @property
    def shared(self) -> dict[str, Any]:
        """Return the order, the tokeniser and the case that the metrics have but for `special_parameters`."""
        leading = self.parameters(TYPICAL[self.plain])
        return {name: leading[name] for name in SHARED}

    def special_parameters(self, name: str) -> dict[str, Any]:
        """Return what a metric has besides the shared parameters and its defaults; no trained models."""
        return special_parameters(name, self.parameters(name), self.shared)

    def are_those_of(self, run: ScoreRun) -> bool:
        """Return whether a run was computed with the usual settings of its metric."""
        if run.metric not in METRICS:
            return True
        usual = self.parameters(run.metric)
        settled = get_metric(run.metric, **usual).parameters()  # as a run stores them: what was left open is decided
        return all(run.parameters.get(name, settled[name]) == settled[name] for name in usual)

    def sentence(self, names: Iterable[str]) -> str:
        """Return these settings in words: the shared ones, and what is special to some of these metrics."""
        by_words: dict[str, list[str]] = {}
        for name in names:
            case = ["case ignored"] if METRICS[name].ignores_case and not self.shared["lowercase"] else []
            if words := ", ".join([*in_words(name, self.special_parameters(name)), *case]):
                by_words.setdefault(words, []).append(METRICS[name].label)
        shared = ", ".join(in_words(TYPICAL[self.plain], self.shared))
        source = " (as in sacreBLEU)" if self.plain else " (order and case as in Galley et al., 2015)"
        return "; ".join(
            [f"{shared}{source}", *(f"{enumerated(labels)}: {words}" for words, labels in by_words.items())]
        )


def usual_settings_on(dataset: Dataset, *, weighted: bool) -> UsualSettings:
    return UsualSettings(proposed_tokenizer(dataset), plain=not weighted)


def settings_key(parameters: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what tells two settings of one metric apart."""
    return tuple(sorted((name, repr(value)) for name, value in parameters.items()))
