"""Keyed hashes of erased ids, so that erased submissions do not return with the provider's next list."""

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from annotation.models import Recruitment, Submission
from annotation.models.identities import digest_of, digests_of
from annotation.recruitment.services.changes import locked


def is_forgotten(recruitment: Recruitment, external_id: str) -> bool:
    """Return whether this id was erased; a mark under a former key is renewed while that key is still known."""
    marks = recruitment.options.get("erased")
    if not marks or not {*digests_of(external_id), *_former_marks(external_id)} & set(marks):
        return False
    if (mark := digest_of(external_id)) not in marks:
        _add(recruitment, [mark])
    return True


def forget(submissions: Iterable[Submission]) -> None:
    """Store marks for these submissions; call it in a transaction before the ids are erased."""
    marks: dict[int, list[str]] = {}
    for submission in submissions:
        marks.setdefault(submission.recruitment_id, []).append(submission.digest)
    for recruitment in Recruitment.objects.filter(pk__in=marks).order_by("pk"):
        _add(recruitment, marks[recruitment.pk])


@transaction.atomic
def _add(recruitment: Recruitment, marks: list[str]) -> None:
    fresh = locked(recruitment)
    fresh.options = {**fresh.options, "erased": [*fresh.options.get("erased", []), *marks]}
    fresh.save(update_fields=["options"])


def _former_marks(external_id: str) -> Iterable[str]:
    """Return the marks that were stored before ids were encrypted."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        hashed = salted_hmac("assay.erased-submission", external_id, secret=key, algorithm="sha256")
        yield hashed.hexdigest()[:32]
