"""What the names of a study's metrics leave out: settings in which they depart from those that readers presume."""

from collections.abc import Mapping
from typing import Any

from annotation.core.prose import enumerated
from correlations.results.study import StudyResult
from metrics.scoring.registry import METRICS
from metrics.scoring.settings import SHARED, departures, in_words, usual_settings

PAPERS = {"order": 2, "tokenize": "whitespace", "lowercase": True}  # Galley et al. (2015)


def settings_in_words(result: StudyResult) -> str:
    """Return the metrics with settings of their own, those with the same together; empty if all have the usual ones."""
    by_settings: dict[str, list[str]] = {}
    for row in result.rows:
        if words := ", ".join(departures(row.signature)):
            labels = by_settings.setdefault(words, [])
            labels += [row.label] * (row.label not in labels)
    parts = [
        f"{enumerated(labels)} {'has' if len(labels) == 1 else 'have'} {words}" for words, labels in by_settings.items()
    ]
    return f"{'; '.join(parts)}." if parts else ""


def settings_note(result: StudyResult, specification: Mapping[str, Any]) -> str:
    """Return these settings beside the usual ones, so that two numbers of one metric do not surprise."""
    words = settings_in_words(result).removesuffix(".")
    if not words:
        return ""
    papers = ", as in Galley et al. (2015)" if is_papers(specification) else ""
    usual: dict[str, list[str]] = {}
    for name in dict.fromkeys(row.metric for row in result.rows if departures(row.signature)):
        usual.setdefault(", ".join(usual_settings(name)), []).append(METRICS[name].label)
    presumed = "; ".join(f"{settings} for {enumerated(labels)}" for settings, labels in usual.items())
    return f"{words}{papers}. Usual, as in sacreBLEU, is {presumed}: scores with other settings are not comparable."


def own_settings(specification: Mapping[str, Any]) -> str:
    """Return which metrics depart from the study's order, tokeniser and case, as the end of a sentence."""
    shared = {name: specification[field] for name, field in SHARED.items()}
    by_words: dict[str, list[str]] = {}
    for entry in specification["metrics"]:
        given = entry["parameters"]
        own = {name: given[name] for name, value in shared.items() if name in given and given[name] != value}
        if words := ", ".join(in_words(entry["name"], own)):
            by_words.setdefault(words, []).append(METRICS[entry["name"]].label)
    return "".join(f"; {enumerated(labels)}: {words}" for words, labels in by_words.items())


def is_papers(specification: Mapping[str, Any]) -> bool:
    return all(specification.get(name) == value for name, value in PAPERS.items())
