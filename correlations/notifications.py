"""Notifications of studies."""

from typing import Any

from django.urls import reverse

from annotation.notifications.kinds import kind_register
from annotation.notifications.kinds.base import Kind, outcome_of


def _study_facts(study: Any) -> dict[str, Any]:
    return {"study": study.name, "study_pk": study.pk, "page": "study-detail"}


def _parameter_study_facts(study: Any) -> dict[str, Any]:
    return _study_facts(study) | {"page": "parameter-study-detail"}


kind_register(
    Kind(
        key="study_ended",
        label="A study ended",
        when="A study or parameter study is done or has failed: read its result, or what went wrong.",
        title=lambda facts: f"The study “{facts['study']}” {'failed' if facts['error'] else 'is done'}",
        text=lambda facts: f"The study “{facts['study']}” {outcome_of(facts)}.",
        link=lambda facts: reverse(f"correlations:{facts['page']}", args=[facts["project"], facts["study_pk"]]),
        jobs={"correlations.study": _study_facts, "correlations.parameterstudy": _parameter_study_facts},
    )
)
