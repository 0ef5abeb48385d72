"""Whether the ratings behind a study have changed since it began."""

from typing import Any

from django.db.models import Max

from annotation.core.canonical import canonical_json
from annotation.core.numbers import counted
from annotation.models import Rating
from annotation.quality.selectors.decisions import excluded_rater_ids
from annotation.rating.selectors.ratings import rater_places
from correlations.models import ParameterStudy, Study
from correlations.specification import LAST_RATING, NAMED, WITHOUT_RATERS

NOT_THE_QUESTION = (NAMED, LAST_RATING, "seed", "bootstrap", "sweeps", "sensitivity", "assignments")


def changes_since(study: Study | ParameterStudy) -> str:
    """Return what has changed about the ratings of a study's campaigns since it was created; empty if nothing has."""
    campaigns = list(study.campaigns.all())
    parts = []
    before = set(study.specification[NAMED].get(WITHOUT_RATERS, []))
    excluded = excluded_rater_ids(campaigns)
    places = rater_places(study.project_id) if excluded else {}
    now = {places[pk] for pk in excluded}
    if more := len(now - before):
        parts.append(f"{counted(more, 'rater')} {'was' if more == 1 else 'were'} excluded")
    if back := len(before - now):
        parts.append(f"{counted(back, 'rater')} {'counts' if back == 1 else 'count'} again")
    newest = Rating.objects.filter(campaign__in=campaigns).aggregate(at=Max("pk"))["at"]
    if newest is not None and newest > (study.specification[LAST_RATING] or 0):
        parts.append("ratings were added or corrected")
    return f"Since this study began, {' and '.join(parts)}." if parts else ""


def same_texts(study: Study | ParameterStudy) -> dict[str, object]:
    """Return the address's arguments of the form that begins with a study's texts, and settings if it can."""
    texts = {"release": study.release_id} if study.release_id else {"dataset": study.dataset_id}
    return {**texts, "like": study.pk} if isinstance(study, Study) else dict(texts)


def question_of(study: Study) -> str:
    """Return what two studies share that ask the same of the same data, whichever ratings there were.

    Two imports of the same scores are the same data, whatever they are called.
    """
    asked = _asked(study)
    return canonical_json(asked | {"metrics": _metrics(study)}).decode()


def extends(study: Study, other: Study) -> bool:
    """Return whether a study asks of the same data what another one does, with metrics besides."""
    added = {canonical_json(metric) for metric in _metrics(study)}
    return _asked(study) == _asked(other) and {canonical_json(metric) for metric in _metrics(other)} < added


def _asked(study: Study) -> dict[str, Any]:
    return {name: value for name, value in study.specification.items() if name not in (*NOT_THE_QUESTION, "metrics")}


def _metrics(study: Study) -> list[Any]:
    return [_without_a_name(metric) for metric in study.specification.get("metrics", [])]


def _without_a_name(metric: Any) -> Any:
    parameters = metric.get("parameters", {}) if isinstance(metric, dict) else {}
    if not parameters.get("content"):
        return metric
    return metric | {"parameters": {name: value for name, value in parameters.items() if name != "scorer"}}
