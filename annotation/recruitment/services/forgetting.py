"""Keyed hashes of erased ids, so that erased submissions do not return with the provider's next list."""

from collections.abc import Iterable

from django.utils.crypto import salted_hmac

from annotation.models import Recruitment, Submission


def mark_of(external_id: str) -> str:
    return salted_hmac("assay.erased-submission", external_id, algorithm="sha256").hexdigest()[:32]


def is_forgotten(recruitment: Recruitment, external_id: str) -> bool:
    marks = recruitment.options.get("erased")
    return bool(marks) and mark_of(external_id) in marks


def forget(submissions: Iterable[Submission]) -> None:
    """Store marks for these submissions; call it in a transaction before the ids are erased."""
    marks: dict[int, list[str]] = {}
    for submission in submissions:
        marks.setdefault(submission.recruitment_id, []).append(mark_of(submission.external_id))
    for recruitment in Recruitment.objects.select_for_update().filter(pk__in=marks).order_by("pk"):
        known = recruitment.options.get("erased", [])
        recruitment.options = {**recruitment.options, "erased": [*known, *marks[recruitment.pk]]}
        recruitment.save(update_fields=["options"])
