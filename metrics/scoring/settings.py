"""What a metric's name does not say: settings that depart from those that a reader presumes."""

from __future__ import annotations

from metrics.scoring.parameters import Parameter
from metrics.scoring.registry import METRICS

NAMED = 2  # settings in a name, those that tell most first
_PLAIN = {
    ("tokenize", "none"): "tokens as they are",
    ("lowercase", "yes"): "lowercase",
    ("lowercase", "no"): "case kept",
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
    (['order 4', '13a tokens', 'case kept', 'smooth exp'], [])
    """
    known = METRICS.get(metric)
    if known is None:
        return []
    by_name = {parameter.name: parameter for parameter in known.parameter_list()}
    return [_words(by_name[name], by_name[name].written(value)) for name, value in known.usual.items()]


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
