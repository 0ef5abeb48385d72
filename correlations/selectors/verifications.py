"""Verifications of studies: which there are, and their outcome in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from annotation.core.numbers import counted
from annotation.models import JobState, Project
from correlations.models import ParameterStudy, Study, StudyVerification

PAGE = 50
SHOWN = 10  # values that differ, before the rest is folded
MOST = 1000  # that are stored


def verifications(project: Project) -> QuerySet[StudyVerification]:
    """Return a project's verifications, newest first, without the reports that were sent."""
    kinds = ("study", "parameter_study")
    found = StudyVerification.objects.filter(project=project).select_related(*kinds, "requested_by")
    long = (f"{kind}__{field}" for kind in kinds for field in ("result", "specification"))
    return found.defer("report", *long).order_by("-pk")


def latest_verification(study: Study | ParameterStudy) -> StudyVerification | None:
    """Return the newest verification of a study that has an outcome or is going on; None if there is none."""
    return study.verifications.defer("report").exclude(state=JobState.CANCELLED).order_by("-pk").first()


def outcome_sentence(outcome: Mapping[str, Any]) -> str:
    """Return what a verification found, as the end of a sentence after “Recomputed on …”."""
    if not outcome["computed"]:
        return "it cannot be computed here any more."
    n = len(outcome["differences"])
    if n:
        least = "at least " if n >= MOST else ""
        return f"{least}{counted(n, 'value')} {'differs' if n == 1 else 'differ'}."
    return "every number is the same." if outcome["equal"] else "every number is the same, though it reads other data."


def is_equal(verification: StudyVerification) -> bool:
    return verification.outcome is not None and bool(verification.outcome["equal"])


def differing(outcome: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = outcome["differences"]
    return found
