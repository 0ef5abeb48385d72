"""What a metric's name does not say: settings that depart from those that a reader presumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS, get_metric

# Parameters that most metrics share, and the fields of a study that set them.
SHARED = {"max_order": "order", "tokenize": "tokenize", "lowercase": "lowercase"}
COMMON = (*SHARED, "smoothing")  # settings that many metrics have
NAMED = 2  # settings in a name, those that tell most first
_PLAIN = {
    ("tokenize", "none"): "tokens as they are",
    ("lowercase", "yes"): "lowercase",
    ("lowercase", "no"): "case kept",
    ("case_sensitive", "no"): "case ignored",
    ("case_sensitive", "yes"): "case kept",
    ("smoothing", "none"): "unsmoothed",
}


def departures(signature: str) -> list[str]:
    """Return the settings of a score in which it departs from the metric's `usual` ones.

    Parameters
    ----------
    signature : str
        Of a score: ``name|key:value|...``; see `metrics.scoring.metric.signature_line`.

    Returns
    -------
    list of str
        In the order of the metric's parameters; empty for a metric that is not known here.

    Examples
    --------
    >>> departures("bleu|order:4|tok:13a|lc:no|smooth:exp|refs:all|version:1")
    []
    >>> departures("bleu|order:2|tok:none|lc:yes|smooth:exp|refs:all|version:1")
    ['order 2', 'tokens as they are', 'lowercase']
    >>> departures("delta_bleu|order:2|sem:galley2015|tok:13a|lc:no|smooth:none|version:1")
    ['order 2']
    """
    return [words for words, departs in _settings(signature) if departs]


def settings_of(signature: str) -> list[str]:
    """Return all settings of which the metric has `usual` ones, whether or not the score departs from them.

    Examples
    --------
    >>> settings_of("bleu|order:4|tok:13a|lc:no|smooth:exp|refs:all|version:1")
    ['order 4', '13a tokens', 'case kept', 'smooth exp']
    """
    return [words for words, _ in _settings(signature)]


def usual_settings(metric: str) -> list[str]:
    """Return the settings that readers presume of a metric.

    Examples
    --------
    >>> usual_settings("bleu"), usual_settings("ter")
    (['order 4', '13a tokens', 'case kept', 'smooth exp'], ['case ignored'])
    """
    known = METRICS.get(metric)
    if known is None:
        return []
    by_name = {parameter.name: parameter for parameter in known.parameter_list()}
    return [_words(by_name[name], by_name[name].written(value)) for name, value in known.usual.items()]


def in_words(metric: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return parameters of a metric as names write them, in the metric's order.

    Examples
    --------
    >>> in_words("bleu", {"smoothing": "exp", "max_order": 4, "lowercase": True})
    ['order 4', 'lowercase', 'smooth exp']
    """
    known = METRICS[metric].parameter_list()
    return [_words(each, each.written(parameters[each.name])) for each in known if each.name in parameters]


def special_parameters(metric: str, parameters: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a metric that follow neither from the shared ones nor from its defaults.

    A parameter without a value has the one that follows from the others.

    Examples
    --------
    >>> special_parameters("bleu", {"max_order": 4, "smoothing": "exp", "lowercase": True}, {"max_order": 4})
    {'smoothing': 'exp', 'lowercase': True}
    >>> special_parameters("delta_bleu", {"smoothing": "none"}, {}), special_parameters("delta_bleu", {}, {})
    ({}, {})
    """
    written = {each.name: shared.get(each.name, each.default) for each in METRICS[metric].parameter_list()}
    completed = get_metric(metric, **written).parameters()
    return {
        name: value
        for name, value in parameters.items()
        if name in written and value not in (written[name], completed[name])
    }


def named_settings(signatures: Sequence[str]) -> list[list[str]]:
    """Return the settings that each of several scores names, so that what differs between them is named by all.

    A score names its first `departures`, or its usual settings where another score of its metric departs. A setting
    that one names and in which they differ is named by each score that has it, and so is one in which the scores of a
    metric differ. Lengths in characters have no tokens.

    Examples
    --------
    >>> cider = "cider|var:cider|tok:{}|lc:no|version:1"
    >>> bleu = "bleu|order:2|tok:whitespace|lc:no|smooth:none|version:1"
    >>> named_settings([bleu, cider.format("whitespace"), cider.format("13a")])
    [['order 2', 'whitespace tokens'], ['whitespace tokens'], ['13a tokens']]
    """
    every = [_by_name(signature) for signature in signatures]
    metrics = [signature.partition("|")[0] for signature in signatures]
    named = [[name for name, each in own.items() if each.departs][:NAMED] for own in every]
    departing = {metric for metric, names in zip(metrics, named, strict=True) if names}
    for metric, own, names in zip(metrics, every, named, strict=True):
        if metric in departing and not names:
            names.extend([name for name in own if name in METRICS[metric].usual][:NAMED])
    by_all = {name for names in named for name in names if _differs(name, every)}
    found = []
    for metric, own, names in zip(metrics, every, named, strict=True):
        alike = [other for of, other in zip(metrics, every, strict=True) if of == metric]
        apart = {name for name in own if _differs(name, alike)}
        found.append([each.words for name, each in own.items() if name in {*names, *by_all, *apart}])
    return found


class _Setting(NamedTuple):
    value: str
    words: str
    departs: bool


def _differs(name: str, every: Iterable[Mapping[str, _Setting]]) -> bool:
    return len({own[name].value for own in every if name in own}) > 1


def _by_name(signature: str) -> dict[str, _Setting]:
    """Return the settings that metrics share, and the usual ones of this metric, in the order of its parameters."""
    metric_name, *fields = signature.split("|")
    metric = METRICS.get(metric_name)
    if metric is None:
        return {}
    written = dict(field.partition(":")[::2] for field in fields)
    has_tokens = written.get("unit") != "characters"
    return {
        each.name: _Setting(
            written[each.key],
            _words(each, written[each.key]),
            each.name in metric.usual and written[each.key] != each.written(metric.usual[each.name]),
        )
        for each in metric.parameter_list()
        if each.key in written and each.name in {*COMMON, *metric.usual} and (has_tokens or each.name != "tokenize")
    }


def _settings(signature: str) -> list[tuple[str, bool]]:
    """Return each setting in words, and whether it departs from the usual one."""
    name, *fields = signature.split("|")
    metric = METRICS.get(name)
    if metric is None:
        return []
    written = dict(field.partition(":")[::2] for field in fields)
    return [
        (
            _words(parameter, written[parameter.key]),
            written[parameter.key] != parameter.written(metric.usual[parameter.name]),
        )
        for parameter in metric.parameter_list()
        if parameter.name in metric.usual and parameter.key in written
    ]


def with_settings(label: str, signature: str) -> str:
    """Return a metric's label followed by its first `departures`; what the label says already is not repeated.

    Examples
    --------
    >>> with_settings("ΔBLEU", "delta_bleu|order:2|version:1")
    'ΔBLEU (order 2)'
    >>> with_settings("BLEU (order 2)", "bleu|order:2|tok:13a|lc:yes|version:1")
    'BLEU (order 2, lowercase)'
    >>> with_settings("BLEU", "bleu|order:2|tok:whitespace|lc:yes|smooth:none|refs:all|version:1")
    'BLEU (order 2, whitespace tokens)'
    """
    name, _, inside = label.partition(" (")
    known = inside.removesuffix(")").split(", ") if inside else []
    further = [part for part in departures(signature) if part not in known and part.split(" ", 1)[0] not in known]
    settings = [*known, *further[: max(NAMED - len(known), 0)]]
    return f"{name} ({', '.join(settings)})" if settings else name


def _words(parameter: Parameter, value: str) -> str:
    if plain := _PLAIN.get((parameter.name, value)):
        return plain
    return f"{value} tokens" if parameter.name == "tokenize" else f"{parameter.key} {value}"
