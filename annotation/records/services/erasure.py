"""Erase a rater's identity on request. Ratings, presentations and decisions stay.

Erased: the identity, the key in the rater's browser, a pseudonym that was the rater's own name, unsent answers, answers
to questions about the rater, the provider's ids of submissions and messages, and, if requested, the text of comments.
The same person is a new rater next time.
"""

import re
import secrets
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from django.db import transaction

from annotation.core.purging import purging
from annotation.models import (
    AnswerDraft,
    AuditEntry,
    Campaign,
    Comment,
    ProviderEvent,
    QualityRules,
    Rater,
    RaterAnswer,
    RaterIdentity,
    RatingImport,
    Release,
    Submission,
    User,
)
from annotation.models.identities import IdentityUnreadable, is_lost
from annotation.projects.services.audit import audit_record
from annotation.rating.pseudonyms import LETTERS, MADE_HERE
from annotation.records.selectors.held import messages_naming
from annotation.records.selectors.reading import long_ids, words_pattern
from annotation.recruitment.services.forgetting import forget

ERASED = "[erased]"


@dataclass(frozen=True)
class Erasure:
    """Counts of what was erased."""

    identities: int
    renamed: bool
    submissions: int
    messages: int
    drafts: int
    comments: int
    answers: int  # to questions about the rater
    audit_entries: int
    rules: int  # versions of rules and releases that named the rater
    files: tuple[str, ...]  # uploaded files that may name the rater; Assay does not change them


@transaction.atomic
def rater_erase(*, rater: Rater, comments: bool = False, by: User | None = None) -> Erasure:
    """Erase a rater's identity. Safe to run twice. Refused while no key opens the ids to erase."""
    rater = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    old = rater.pseudonym
    ids = _external_ids(rater)
    files = _files(rater)
    identities, _ = RaterIdentity.objects.filter(rater=rater).delete()
    renamed = re.fullmatch(MADE_HERE, old) is None
    if renamed:
        rater.pseudonym = f"rater-{''.join(secrets.choice(LETTERS) for _ in range(8))}"
    rater.access_token = uuid4()
    rater.save(update_fields=["pseudonym", "access_token"])
    drafts, _ = AnswerDraft.objects.filter(presentation__rater=rater).delete()
    answers, _ = RaterAnswer.objects.filter(participation__rater=rater).delete()
    submissions = _unlink_submissions(rater)
    with purging():
        erased = _blank_comments(rater) if comments else Counter()
        scrub = _Scrub(ids, old if renamed else "", rater.pseudonym)
        outcome = Erasure(
            identities=identities,
            renamed=renamed,
            submissions=submissions,
            messages=_scrub_messages(rater, scrub),
            drafts=drafts,
            comments=erased.total(),
            answers=answers,
            audit_entries=_scrub_audit(rater, scrub),
            rules=_scrub_rules(rater, scrub),
            files=files,
        )
    _record(rater, outcome, erased, by)
    return outcome


class _Scrub:
    """Replace ids and the former name in texts and JSON."""

    def __init__(self, ids: list[str], name: str, pseudonym: str) -> None:
        self.listed, self.ids, self.name = ids, words_pattern(ids), name
        self.words = words_pattern([name] if name else [])
        self.pseudonym = pseudonym

    def text(self, text: str, *, of_rater: bool) -> str:
        """Replace the name inside a text only if it is about this rater: the name may be an ordinary word."""
        if self.ids:
            text = self.ids.sub(ERASED, text)
        return self.words.sub(self.pseudonym, text) if self.words and of_rater else text

    def message(self, data: Any) -> Any:
        """Replace ids in a provider's message, also those that are numbers."""
        if isinstance(data, int | float):
            return ERASED if str(data) in self.listed else data
        if isinstance(data, list):
            return [self.message(entry) for entry in data]
        if isinstance(data, dict):
            return {self.data(key, of_rater=False): self.message(value) for key, value in data.items()}
        return self.data(data, of_rater=False)

    def data(self, data: Any, *, of_rater: bool) -> Any:
        """Replace the name if it is a whole value, or a word in data about this rater."""
        if isinstance(data, str):
            return self.pseudonym if self.name and data == self.name else self.text(data, of_rater=of_rater)
        if isinstance(data, list):
            return [self.data(entry, of_rater=of_rater) for entry in data]
        if isinstance(data, dict):
            return {
                self.data(key, of_rater=of_rater): self.data(value, of_rater=of_rater) for key, value in data.items()
            }
        return data


def _external_ids(rater: Rater) -> list[str]:
    """Return the rater's ids, longest first. User numbers are left out.

    Refused if no key opens one of them, or a message in which they may be: they would stay in the log and in messages.
    """
    events = ProviderEvent.objects.filter(account__project=rater.project_id)
    if any(is_lost(each.sealed_payload) or is_lost(each.sealed_error) for each in events.iterator(500)):
        raise IdentityUnreadable
    identities = RaterIdentity.objects.filter(rater=rater).exclude(provider=RaterIdentity.ACCOUNT)
    rows: Iterable[RaterIdentity | Submission] = (*identities, *rater.submissions.exclude(sealed=""))
    return long_ids(row.external_id for row in rows)


def _files(rater: Rater) -> tuple[str, ...]:
    """Return the files that the rater's judgements were imported from; they contain the original names."""
    if not RaterIdentity.objects.filter(rater=rater, provider=RaterIdentity.IMPORT).exists():
        return ()
    imports = RatingImport.objects.filter(campaign__presentations__rater=rater).distinct().order_by("pk")
    return tuple(imports.values_list("filename", flat=True))


def _unlink_submissions(rater: Rater) -> int:
    """Remove ids from submissions. Amounts, times and outcomes stay as the record of payment."""
    submissions = list(Submission.objects.filter(rater=rater).exclude(sealed=""))
    forget(submissions)
    for submission in submissions:
        submission.erase()
        submission.submit_to = submission.note = ""
    Submission.objects.bulk_update(submissions, ["sealed", "digest", "submit_to", "note"])
    return len(submissions)


def _blank_comments(rater: Rater) -> Counter[int]:
    """Delete the text of comments, and return the number per campaign."""
    comments = Comment.objects.filter(rater=rater).exclude(text="")
    counts = Counter(comments.values_list("campaign_id", flat=True))
    comments.update(text="")
    return counts


def _scrub_messages(rater: Rater, scrub: _Scrub) -> int:
    events = list(messages_naming(rater.project_id, scrub.listed))
    for event in events:
        event.payload = scrub.message(event.payload)
        event.error = scrub.text(event.error, of_rater=False)
    ProviderEvent.objects.bulk_update(events, ["sealed_payload", "digests", "sealed_error"], batch_size=500)
    return len(events)


def _scrub_audit(rater: Rater, scrub: _Scrub) -> int:
    if scrub.ids is None and not scrub.name:
        return 0
    changed = []
    longest = AuditEntry._meta.get_field("summary").max_length
    for entry in AuditEntry.objects.filter(project=rater.project_id).iterator(500):
        of_rater = entry.rater_id == rater.pk
        summary = scrub.text(entry.summary, of_rater=of_rater)[:longest]
        data = scrub.data(entry.data, of_rater=of_rater)
        if (summary, data) != (entry.summary, entry.data):
            entry.summary, entry.data = summary, data
            changed.append(entry)
    AuditEntry.objects.bulk_update(changed, ["summary", "data"], batch_size=500)
    return len(changed)


def _scrub_rules(rater: Rater, scrub: _Scrub) -> int:
    """Rename the rater in rules, which still exclude the same rater. A release keeps its published hash."""
    if not scrub.name:
        return 0
    n = 0
    for version in QualityRules.objects.filter(campaign__project=rater.project_id):
        rules = scrub.data(version.rules, of_rater=False)
        if rules != version.rules:
            n += QualityRules.objects.filter(pk=version.pk).update(rules=rules)
    for release in Release.objects.filter(reference_set__project=rater.project_id):
        rules = scrub.data(release.exclusion_rules, of_rater=False)
        if rules != release.exclusion_rules:
            report = {**release.report, "names_erased": release.report.get("names_erased", 0) + 1}
            n += Release.objects.filter(pk=release.pk).update(exclusion_rules=rules, report=report)
    return n


def _record(rater: Rater, outcome: Erasure, comments: Counter[int], by: User | None) -> None:
    """Write counts and the remaining pseudonym to the audit log."""
    audit_record(
        verb="rater.erase",
        summary=f"The identity of {rater.pseudonym} was erased; ratings are untouched.",
        project=rater.project,
        rater=rater,
        by=by,
        data=asdict(outcome) | {"files": len(outcome.files)},
    )
    for campaign in Campaign.objects.filter(pk__in=comments):
        n = comments[campaign.pk]
        audit_record(
            verb="comments.erase",
            summary=f"Comments erased: {n}, on a rater's request.",
            campaign=campaign,
            rater=rater,
            by=by,
            data={"comments": n},
        )
