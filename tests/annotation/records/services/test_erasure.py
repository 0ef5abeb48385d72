"""A rater's identity can be erased without losing a rating."""

import hashlib
import json
from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction

from annotation.models import (
    AnswerDraft,
    AuditEntry,
    Campaign,
    Comment,
    Presentation,
    Project,
    ProviderAccount,
    ProviderEvent,
    QualityRules,
    Rater,
    RaterDecision,
    RaterIdentity,
    Recruitment,
    ReferenceSet,
    Release,
    Submission,
    User,
)
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.raters import rater_quality_rows
from annotation.rating.services.handout import unit_request
from annotation.rating.services.raters import rater_of_token
from annotation.records.selectors.held import held_about
from annotation.records.selectors.reading import table_rows
from annotation.records.selectors.tables import ALL, TABLES
from annotation.records.services.erasure import rater_erase
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

PROLIFIC_ID = "5f3c9e1a2b4d6f8091a2b3c4"
SESSION = "64b0f1c2d3e4f5a6b7c8d9e0"


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project))


@pytest.fixture
def jane(campaign: Campaign) -> Rater:
    """Came through Prolific, gave her name, rated three screens, holds a fourth, wrote a comment, was flagged."""
    jane = join(campaign, "Jane Doe")
    others = join(campaign)
    for value in (2, 3, 5):
        rate_next(campaign, jane, value)
        rate_next(campaign, others, value)
    held = unit_request(campaign=campaign, rater=jane)
    assert held is not None
    AnswerDraft.objects.create(presentation=held, fields={"r0-relevance": "4"})
    RaterIdentity.objects.create(rater=jane, project=campaign.project, provider="prolific", external_id=PROLIFIC_ID)
    Comment.objects.create(campaign=campaign, presentation=held, rater=jane, text="I am Jane from Leeds.")
    RaterDecision.objects.create(campaign=campaign, rater=jane, action="flag", reason="Fast.", evidence={"seconds": 1})
    recruitment = Recruitment.objects.create(campaign=campaign, provider="prolific", name="First")
    Submission.objects.create(
        recruitment=recruitment, rater=jane, external_id=SESSION, paid="4.50", bonus="1.00", note="Jane wrote to us"
    )
    account = ProviderAccount.objects.create(project=campaign.project, provider="prolific", name="Lab")
    ProviderEvent.objects.create(account=account, event_id="e1", kind="x", payload={"id": SESSION, PROLIFIC_ID: [1]})
    ProviderEvent.objects.create(account=account, event_id="e2", kind="x", payload={"id": "somebody else's"})
    return jane


def log_of(campaign: Campaign, *, without: tuple[str, ...] = ()) -> str:
    """Return the SHA-256 of the full log without pseudonyms."""
    digest = hashlib.sha256()
    for table in ALL:
        if table.name in without:
            continue
        names = [column.name for column in table.columns]
        for row in table_rows(table, campaign):
            values = {name: value for name, value in zip(names, row, strict=True) if name != "rater"}
            digest.update(json.dumps(values, default=str, sort_keys=True).encode())
    return digest.hexdigest()


def test_erasure_changes_nothing_but_pseudonyms_in_the_log(campaign: Campaign, jane: Rater) -> None:
    before = log_of(campaign)
    rater_erase(rater=jane)
    assert log_of(campaign) == before


def test_erasing_comments_changes_their_text_and_the_audit_log_only(campaign: Campaign, jane: Rater) -> None:
    before = log_of(campaign, without=("comments", "audit"))
    outcome = rater_erase(rater=jane, comments=True)
    assert outcome.comments == 1
    assert log_of(campaign, without=("comments", "audit")) == before
    assert [row[3] for row in table_rows(TABLES["comments"], campaign)] == [""]
    entry = AuditEntry.objects.get(verb="comments.erase")
    assert (entry.campaign, entry.data) == (campaign, {"comments": 1})


def test_comments_are_kept_by_default(campaign: Campaign, jane: Rater) -> None:
    assert rater_erase(rater=jane).comments == 0
    assert Comment.objects.get().text == "I am Jane from Leeds."


def test_nothing_that_names_the_rater_is_left(campaign: Campaign, jane: Rater, manager: User) -> None:
    audit_record(
        verb="rater.flag",
        summary=f"Jane Doe ({PROLIFIC_ID}) was flagged.",
        campaign=campaign,
        rater=jane,
        by=manager,
        data={"rater": "Jane Doe", "session": SESSION},
    )
    QualityRules.objects.create(
        campaign=campaign,
        version=1,
        before_launch=False,
        rules=[{"rule": "exclude_raters", "version": 1, "raters": ["Jane Doe", "Bob"]}],
    )
    outcome = rater_erase(rater=jane, comments=True, by=manager)
    jane.refresh_from_db()
    assert outcome.renamed
    assert jane.pseudonym.startswith("rater-")
    everything = json.dumps(
        [
            list(model.objects.values())
            for model in (
                Rater,
                RaterIdentity,
                Submission,
                ProviderEvent,
                AuditEntry,
                QualityRules,
                Comment,
                AnswerDraft,
            )
        ],
        default=str,
    )
    for name in ("Jane", PROLIFIC_ID, SESSION):
        assert name not in everything
    assert "Bob" in everything
    payloads = [event.payload for event in ProviderEvent.objects.order_by("pk")]
    assert payloads == [{"id": "[erased]", "[erased]": [1]}, {"id": "somebody else's"}]
    assert Submission.objects.get().external_id == f"erased-{Submission.objects.get().pk}"
    assert (outcome.identities, outcome.submissions, outcome.messages, outcome.drafts, outcome.rules) == (1, 1, 1, 1, 1)


def test_amounts_paid_are_kept(campaign: Campaign, jane: Rater) -> None:
    rater_erase(rater=jane)
    submission = Submission.objects.get()
    assert (str(submission.paid), str(submission.bonus), submission.rater) == ("4.50", "1.00", jane)


def test_the_raters_access_token_is_revoked(campaign: Campaign, jane: Rater) -> None:
    before = jane.access_token
    rater_erase(rater=jane)
    assert rater_of_token(project=campaign.project, access_token=before) is None


def test_a_generated_pseudonym_is_kept(campaign: Campaign) -> None:
    anonymous = join(campaign)
    before = anonymous.pseudonym
    assert not rater_erase(rater=anonymous).renamed
    anonymous.refresh_from_db()
    assert anonymous.pseudonym == before


def test_exclusion_rules_of_a_release_follow_the_new_pseudonym(campaign: Campaign, jane: Rater) -> None:
    chosen = ReferenceSet.objects.create(project=campaign.project, dataset=campaign.dataset, name="R", slug="r")
    rules = [{"rule": "exclude_raters", "version": 1, "raters": ["Jane Doe"]}]
    release = Release.objects.create(reference_set=chosen, number=1, exclusion_rules=rules, content_hash="f" * 64)
    rater_erase(rater=jane)
    jane.refresh_from_db()
    release.refresh_from_db()
    assert release.exclusion_rules[0]["raters"] == [jane.pseudonym]
    assert (release.content_hash, release.report["names_erased"]) == ("f" * 64, 1)


def test_a_name_that_is_a_word_is_kept_in_entries_about_others(campaign: Campaign, manager: User) -> None:
    named = join(campaign, "Paused")
    audit_record(verb="campaign.pause", summary="Paused by hand.", campaign=campaign, by=manager)
    rater_erase(rater=named)
    assert AuditEntry.objects.filter(summary="Paused by hand.").exists()


def test_erasing_twice_changes_nothing(campaign: Campaign, jane: Rater) -> None:
    rater_erase(rater=jane, comments=True)
    second_run = rater_erase(rater=jane, comments=True)
    assert (
        second_run.identities,
        second_run.renamed,
        second_run.submissions,
        second_run.comments,
        second_run.drafts,
    ) == (0, False, 0, 0, 0)


def test_after_erasure_the_log_is_append_only_again(campaign: Campaign, jane: Rater) -> None:
    rater_erase(rater=jane, comments=True)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Comment.objects.update(text="changed")


def test_measures_of_an_erased_rater_are_kept(campaign: Campaign, jane: Rater) -> None:
    before = {row.rater.pk: repr(row.measures) for row in rater_quality_rows(campaign)}  # kept until an answer arrives
    assert "value" in before[jane.pk] or "estimate" in before[jane.pk]
    rater_erase(rater=jane)
    assert {row.rater.pk: repr(row.measures) for row in rater_quality_rows(campaign)} == before


def test_an_erasure_is_logged_in_numbers_alone(campaign: Campaign, jane: Rater, manager: User) -> None:
    rater_erase(rater=jane, by=manager)
    jane.refresh_from_db()
    entry = AuditEntry.objects.get(verb="rater.erase")
    assert (entry.actor, entry.rater) == (manager, jane)
    assert entry.summary == f"The identity of {jane.pseudonym} was erased; ratings are untouched."
    assert all(isinstance(value, int | bool) for value in entry.data.values())


@pytest.mark.parametrize("wanted", [PROLIFIC_ID, SESSION, "Jane Doe", f"  {PROLIFIC_ID}\n"])
def test_data_held_about_a_rater_is_found_by_any_of_their_ids(campaign: Campaign, jane: Rater, wanted: str) -> None:
    (held,) = held_about(campaign.project, wanted)
    assert held.rater == jane
    assert set(held.identities) == {("prolific", PROLIFIC_ID), ("prolific", SESSION)}
    assert (held.presentations, held.ratings, held.comments, held.submissions, held.messages) == (4, 3, 1, 1, 1)
    assert held.campaigns == [(campaign.pk, campaign.name)]


def test_a_rater_who_typed_a_name_is_found_by_the_name_in_the_records(campaign: Campaign, jane: Rater) -> None:
    numbered = f"named-{jane.pk}"
    with transaction.atomic():
        assert numbered in {row[0] for row in table_rows(TABLES["raters"], campaign)}
    (held,) = held_about(campaign.project, numbered)
    assert (held.rater, held.in_records) == (jane, numbered)
    made_here = join(campaign)
    assert held_about(campaign.project, f"named-{made_here.pk}") == [], "no record calls them so"
    (held,) = held_about(campaign.project, made_here.pseudonym)
    assert held.in_records == ""
    assert held_about(campaign.project, f"named-{'9' * 5000}") == []
    rater_erase(rater=jane)
    assert held_about(campaign.project, numbered) == []


def test_nothing_is_found_after_erasure_nor_in_another_project(campaign: Campaign, jane: Rater) -> None:
    other_project = Project.objects.create(name="Other", slug="other")
    assert held_about(other_project, PROLIFIC_ID) == []
    rater_erase(rater=jane)
    for wanted in (PROLIFIC_ID, SESSION, "Jane Doe", "", str(uuid4())):
        assert held_about(campaign.project, wanted) == []


def test_units_held_by_an_erased_rater_are_handed_to_others(campaign: Campaign, jane: Rater) -> None:
    """The hand-out does not depend on the identity."""
    rater_erase(rater=jane)
    other_rater = join(campaign)
    n = 0
    while rate_next(campaign, other_rater):
        n += 1
    assert n > 0
    assert Presentation.objects.filter(campaign=campaign, rater=jane, outcome="submitted").count() == 3
