"""Keyed hashes of erased ids, so that erased submissions do not return with the provider's next list."""

from collections.abc import Collection, Iterable

from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from annotation.models import Recruitment, Submission
from annotation.models.identities import digest_of, digests_of, is_current, is_of_unknown_key, present_key
from annotation.recruitment.services.changes import locked, options_change


def is_forgotten(recruitment: Recruitment, external_id: str) -> bool:
    """Return whether this id was erased; a mark under a former key is renewed while that key is still known."""
    marks = recruitment.options.get("erased")
    known = {*digests_of(external_id), *_former_marks(external_id)}.intersection(marks or ())
    if not known:
        return False
    if known != {mark := digest_of(external_id)}:
        _change(recruitment, known, [mark])
    return True


def marks_are_read(recruitment: Recruitment) -> None:
    """Store that every submission the provider lists was looked up: what is marked under a former key is not listed."""
    if recruitment.options.get("erased") and recruitment.options.get("erased_read") != present_key():
        options_change(recruitment, erased_read=present_key())


def recruitments_to_read() -> list[Recruitment]:
    """Return those with marks under a former key that are still needed: erased submissions would come back."""
    connected = Recruitment.objects.filter(account__isnull=False, options__has_key="erased").exclude(external_id="")
    unread = (
        each
        for each in connected.select_related("campaign").order_by("pk")
        if each.options.get("erased_read") != present_key()
    )
    return [each for each in unread if not all(map(is_current, each.options["erased"]))]


@transaction.atomic
def unknown_marks_forget() -> int:
    """Remove the marks of keys that are lost: no id is found by them."""
    forgotten = 0
    for recruitment in Recruitment.objects.filter(options__has_key="erased").order_by("pk"):
        unknown = set(filter(is_of_unknown_key, recruitment.options["erased"]))
        if unknown:
            _change(recruitment, unknown, [])
        forgotten += len(unknown)
    return forgotten


def forget(submissions: Iterable[Submission]) -> None:
    """Store marks for these submissions; call it in a transaction before the ids are erased."""
    marks: dict[int, list[str]] = {}
    for submission in submissions:
        marks.setdefault(submission.recruitment_id, []).append(digest_of(submission.external_id))
    for recruitment in Recruitment.objects.filter(pk__in=marks).order_by("pk"):
        _change(recruitment, set(), marks[recruitment.pk])


@transaction.atomic
def _change(recruitment: Recruitment, former: Collection[str], new: list[str]) -> None:
    """Replace marks by others."""
    fresh = locked(recruitment)
    stay = [mark for mark in fresh.options.get("erased", []) if mark not in former and mark not in new]
    fresh.options = {**fresh.options, "erased": [*stay, *new]}
    if fresh.options.get("erased_read") != present_key():
        fresh.options.pop("erased_read", None)  # else the new marks would count as read after a change back
    fresh.save(update_fields=["options"])


def _former_marks(external_id: str) -> Iterable[str]:
    """Return the marks that were stored before ids were encrypted."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        hashed = salted_hmac("assay.erased-submission", external_id, secret=key, algorithm="sha256")
        yield hashed.hexdigest()[:32]
