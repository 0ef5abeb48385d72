"""What providers call raters is nowhere in the database in the clear, and a changed secret key loses no one."""

import base64
import binascii
import io
import logging
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from psycopg.sql import SQL, Identifier
from pytest_django import Settings

from annotation.models import (
    ProviderEvent,
    Rater,
    RaterIdentity,
    Recruitment,
    Submission,
    User,
)
from annotation.models.identities import UNREADABLE, IdentityUnreadable, is_current
from annotation.records.selectors.held import messages_naming
from annotation.records.selectors.payment import payment
from annotation.records.services.erasure import rater_erase
from annotation.recruitment.providers.base import Completion, Outcome, RejectionReason
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.selectors import spent
from annotation.recruitment.services import accounts, arrivals, bonuses, endings, events, refreshing, reviewing
from annotation.recruitment.services.accounts import secrets_of
from annotation.recruitment.services.arrivals import ArrivalPostponed
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.recruited import arrival_of

AsUser = Callable[[User], Client]
PERSON = "60bf9310e8dec401be6e9615"
OTHER = "another key, as long as such keys ought to be, 0123456789"


def everything_stored() -> Iterator[tuple[str, str]]:
    """Yield table, column and each value of every table; and what base 64 hides in it, as in messages of the queue."""
    columns = """SELECT c.table_schema, c.table_name, c.column_name, c.data_type FROM information_schema.columns c
                 JOIN information_schema.tables t USING (table_schema, table_name)
                 WHERE t.table_type = 'BASE TABLE' AND c.table_schema NOT IN ('pg_catalog', 'information_schema')"""
    with connection.cursor() as cursor:
        cursor.execute(columns)
        for schema, table, column, kind in cursor.fetchall():
            form = "encode({0}, 'escape')" if kind == "bytea" else "{0}::text"
            select = SQL(f"SELECT {form} FROM {{1}}.{{2}} WHERE {{0}} IS NOT NULL")  # type: ignore[arg-type]
            cursor.execute(select.format(*map(Identifier, (column, schema, table))))
            for (value,) in cursor.fetchall():
                yield f"{table}.{column}", value
                for hidden in re.findall(r"[\w+/=-]{24,}", value):
                    yield f"{table}.{column}", _decoded(hidden)


def _decoded(text: str) -> str:
    with suppress(binascii.Error, ValueError):
        content = base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "===")
        with suppress(zlib.error):
            content = zlib.decompress(content)
        return content.decode(errors="replace")
    return ""


def prolific_comes(study: Recruitment, fake: FakeProlific, person: str = "") -> Submission:
    _, url = fake.participant_enters(study.external_id, person)
    return arrivals.arrival_admit(recruitment=study, arrival=arrival_of(study, url)).submission


def bonus(recruitment: Recruitment, submission: Submission) -> bonuses.Batch:
    amounts = {submission.pk: Decimal("0.50")}
    batch = bonuses.bonus_prepare(recruitment=recruitment, amounts=amounts, reason="Thanks")
    return bonuses.bonus_pay(recruitment=recruitment, batch_id=batch.id)


def tour_of_prolific(study: Recruitment, fake: FakeProlific, client: Client) -> None:
    """Raters come, are paid, rejected and returned; a person types an id as the code; the provider names ids."""
    assert study.account is not None
    accounts.account_receive_messages(account=study.account, url="http://127.0.0.1:1/providers/1/webhook")
    study.account.refresh_from_db()
    _, url = fake.participant_enters(study.external_id, PERSON)
    assert client.get(url.removeprefix("http://127.0.0.1:8000"), follow=True).status_code == 200
    paid = Submission.objects.get(recruitment=study)
    rejected, returned = (prolific_comes(study, fake) for _ in range(2))
    prolific_comes(study, fake)
    fake.participant_completes(paid.external_id, PERSON)
    fake.participant_completes(rejected.external_id, "X")
    fake.participant_returns(returned.external_id)
    for event in list(fake.events):
        headers, body = fake.signed(event.payload, event_id=event.id)
        stored, _ = events.event_receive(account=study.account, headers=headers, body=body)
        assert events.event_handle(event_id=stored.pk)
    refreshing.recruitment_refresh(recruitment=study)
    paid.refresh_from_db()
    assert paid.note == "Code entered: an id of the rater; none was given."
    reviewing.submissions_approve(recruitment=study, submissions=[paid])
    reviewing.submissions_reject(
        recruitment=study, submissions=[rejected], reason=RejectionReason.FAILED_CHECK, message="No, sorry. " * 20
    )
    assert bonus(study, paid).state == "paid"
    fake.fail(400, where="/studies/", data={"error": {"detail": f"Nothing about {PERSON}"}})
    with pytest.raises(ProviderError, match=PERSON):
        refreshing.recruitment_refresh(recruitment=study)
    study.refresh_from_db()
    assert PERSON in (refreshing.trouble_of(study) or {})["message"]


def tour_of_mturk(hit: Recruitment, fake: FakeMechanicalTurk) -> None:
    comes = []
    for worker in ("A1WORKER", "A2WORKER"):
        assignment, url = fake.worker_accepts(hit.external_id, worker)
        comes.append(arrivals.arrival_admit(recruitment=hit, arrival=arrival_of(hit, url)).submission)
        fake.worker_submits(assignment.id, {"outcome": "completed", "code": "X"})
    refreshing.recruitment_refresh(recruitment=hit)
    reviewing.submissions_approve(recruitment=hit, submissions=comes[:1])
    reviewing.submissions_reject(
        recruitment=hit, submissions=comes[1:], reason=RejectionReason.OTHER, message="Not this time."
    )
    refusal = {"__type": "RequestError", "Message": f"No funds for {comes[0].external_id}"}
    fake.fail(400, where="SendBonus", data=refusal)
    with pytest.raises(ProviderError, match="No funds"):
        bonus(hit, comes[0])
    hit.refresh_from_db()
    (batch,) = bonuses.batches_of(hit)
    assert comes[0].external_id in batch.message
    assert bonuses.bonus_pay(recruitment=hit, batch_id=batch.id).state == "paid"


def test_nothing_that_a_provider_calls_a_rater_is_stored_or_logged_in_the_clear(
    study: Recruitment,
    hit: Recruitment,
    fake_prolific: FakeProlific,
    fake_mturk: FakeMechanicalTurk,
    manager: User,
    as_user: AsUser,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    tour_of_prolific(study, fake_prolific, Client())
    tour_of_mturk(hit, fake_mturk)
    people = fake_prolific.people.values()
    ids = {each.id for each in people} | {each.participant_id for each in people}
    assignments = fake_mturk.assignments.values()
    ids |= {each.id for each in assignments} | {each.worker_id for each in assignments}
    assert len(ids) == 2 * 4 + 2 * 2

    stored = list(everything_stored())
    assert {"annotation_submission.sealed", "annotation_rater.pseudonym"} <= {where for where, _ in stored}
    assert [(where, each) for where, value in stored for each in ids if each in value] == []
    assert [each for each in ids if each in caplog.text] == []

    client, project = as_user(manager), study.campaign.project
    page = reverse("annotation:campaign-recruitment", args=[project.slug, study.campaign_id, study.pk])
    shown = client.get(page).content.decode() + client.get(page, {"format": "csv"}).getvalue().decode()  # type: ignore[attr-defined]
    assert [each.id for each in people if shown.count(each.id) < 2] == []
    owner = User.objects.create_user("olga")
    project.memberships.create(user=owner, role="owner")
    held = (
        as_user(owner).post(reverse("annotation:rater-held", args=[project.slug]), {"wanted": PERSON}).content.decode()
    )
    assert held.count(PERSON) > 1  # beside the form
    assert ProviderEvent.objects.count() > 4


def test_a_rater_who_comes_back_after_a_change_of_the_key_is_the_same_and_is_paid(
    study: Recruitment, fake_prolific: FakeProlific, settings: Settings
) -> None:
    _, url = fake_prolific.participant_enters(study.external_id, PERSON)
    arrival = arrival_of(study, url)
    first = arrivals.arrival_admit(recruitment=study, arrival=arrival)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, [settings.SECRET_KEY]

    again = arrivals.arrival_admit(recruitment=study, arrival=arrival)

    assert (again.rater, again.submission) == (first.rater, first.submission)
    assert (RaterIdentity.objects.count(), Submission.objects.count()) == (1, 1)
    assert is_current(RaterIdentity.objects.get().digest)
    assert is_current(Submission.objects.get().digest)
    fake_prolific.participant_completes(again.submission.external_id, "X")
    settings.SECRET_KEY_FALLBACKS = [*settings.SECRET_KEY_FALLBACKS, "a still older one" * 3]
    assert refreshing.recruitment_refresh(recruitment=study) == 1
    submission = Submission.objects.get()
    reviewing.submissions_approve(recruitment=study, submissions=[submission])
    assert bonus(study, submission).state == "paid"
    assert fake_prolific.bonuses_paid == [(submission.external_id, 0.5)]
    # A process that begins with the former key, as long as not all have been restarted, finds the row, too.
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = settings.SECRET_KEY_FALLBACKS[0], [OTHER]
    assert arrivals.is_known(recruitment=study, arrival=arrival)


def test_what_was_erased_under_a_former_key_does_not_come_back(
    study: Recruitment, fake_prolific: FakeProlific, settings: Settings
) -> None:
    submission = prolific_comes(study, fake_prolific, PERSON)
    rater_erase(rater=Rater.objects.get())
    study.refresh_from_db()
    study.options["erased"].append("f" * 32)  # an older one, which the provider lists no more
    study.save()
    former, settings.SECRET_KEY = settings.SECRET_KEY, OTHER
    settings.SECRET_KEY_FALLBACKS = [former]
    out = io.StringIO()
    with pytest.raises(CommandError, match="Found 1 studies whose erased submissions"):
        call_command("rotate_secret_key", stdout=out)
    assert "“First wave” of “" in out.getvalue()
    assert refreshing.recruitment_refresh(recruitment=study) == 0
    call_command("rotate_secret_key", stdout=out)
    settings.SECRET_KEY_FALLBACKS = []  # its mark was renewed when the study was read
    study.refresh_from_db()
    assert refreshing.recruitment_refresh(recruitment=study) == 0
    assert Submission.objects.get().external_id == f"erased-{submission.pk}"


def test_without_the_key_pages_say_why_and_nothing_is_stored_twice(
    study: Recruitment, fake_prolific: FakeProlific, manager: User, as_user: AsUser, settings: Settings
) -> None:
    _, url = fake_prolific.participant_enters(study.external_id, PERSON)
    arrival = arrival_of(study, url)
    submission = arrivals.arrival_admit(recruitment=study, arrival=arrival).submission
    fake_prolific.participant_completes(submission.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    client, former = as_user(manager), settings.SECRET_KEY
    settings.SECRET_KEY = OTHER
    client.force_login(manager)
    with pytest.raises(ArrivalPostponed):
        arrivals.arrival_admit(recruitment=study, arrival=arrival)
    assert Client().get(url.removeprefix("http://127.0.0.1:8000")).status_code == 503
    with pytest.raises(IdentityUnreadable, match="was encrypted with a SECRET_KEY"):
        refreshing.recruitment_refresh(recruitment=study)
    with pytest.raises(IdentityUnreadable):
        reviewing.submissions_approve(recruitment=study, submissions=[submission])
    args = [study.campaign.project.slug, study.campaign_id, study.pk]
    page = reverse("annotation:campaign-recruitment", args=args)
    for address in (page, f"{page}?format=csv", reverse("annotation:campaign-recruitment-bonus", args=args)):
        answer = client.get(address)
        assert answer.status_code == 200
        content = b"".join(answer) if answer.streaming else answer.content
        assert UNREADABLE in content.decode() or "bonuses" in address
    assert Submission.objects.count() == 1
    records = args[:2]
    for name, more in (("campaign-record-download", []), ("campaign-record-table", ["audit", "jsonl"])):
        answer = client.get(reverse(f"annotation:{name}", args=[*records, *more]), follow=True)
        assert answer.redirect_chain[-1][0] == reverse("annotation:campaign-records", args=records)
        assert UNREADABLE in answer.content.decode()
    study.campaign.project.memberships.filter(user=manager).update(role="owner")
    erase = reverse("annotation:rater-erase", args=[args[0], submission.rater_id])
    assert "Nothing was erased." in client.post(erase, follow=True).content.decode()
    assert RaterIdentity.objects.exists()
    settings.SECRET_KEY_FALLBACKS = [former]
    assert arrivals.arrival_admit(recruitment=study, arrival=arrival).submission == submission
    assert client.get(reverse("annotation:campaign-record-table", args=[*records, "audit", "jsonl"])).streaming
    settings.SECRET_KEY_FALLBACKS = []
    RaterIdentity.objects.all().delete()
    Submission.objects.all().delete()
    assert study.account is not None
    ProviderEvent.objects.create(account=study.account, event_id="e", kind="x", payload={"a": 1})
    settings.SECRET_KEY = former
    with pytest.raises(IdentityUnreadable):  # the id may be in a message that no key opens
        rater_erase(rater=Rater.objects.get())


def test_without_the_key_a_worker_still_gets_to_the_last_page_and_a_message_waits(
    hit: Recruitment,
    study: Recruitment,
    fake_mturk: FakeMechanicalTurk,
    fake_prolific: FakeProlific,
    settings: Settings,
) -> None:
    _, url = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    submission = arrivals.arrival_admit(recruitment=hit, arrival=arrival_of(hit, url)).submission
    assert study.account is not None
    stay = prolific_comes(study, fake_prolific)
    Submission.objects.filter(pk=submission.pk).update(status="awaiting")
    bonuses.bonus_prepare(recruitment=hit, amounts={submission.pk: Decimal("0.50")}, reason="Thanks")
    hit.refresh_from_db()
    (unknown,) = hit.options["bonuses"]
    unknown["state"] = "unknown"  # some of them may have been paid
    hit.save()
    fake_prolific.participant_returns(stay.external_id)
    payload = {"resource_id": stay.external_id}
    message = ProviderEvent.objects.create(account=study.account, event_id="e", kind="submission.x", payload=payload)
    former, settings.SECRET_KEY = settings.SECRET_KEY, OTHER
    accounts.account_update(
        account=study.account, name="Lab", values=fake_prolific.values, endpoint=fake_prolific.base_url
    )

    assert endings.submission_end(submission=submission, outcome=Outcome.COMPLETED) == Completion()
    with pytest.raises(IdentityUnreadable):
        bonuses.bonus_pay(recruitment=hit, batch_id=unknown["id"])
    hit.refresh_from_db()
    assert hit.options["bonuses"] == [unknown]
    assert not events.event_handle(event_id=message.pk)

    message.refresh_from_db()
    assert UNREADABLE in message.error
    assert message.handled_at is None
    settings.SECRET_KEY_FALLBACKS = [former]
    assert events.event_handle(event_id=message.pk)
    message.refresh_from_db()
    stay.refresh_from_db()
    assert (message.error, stay.status) == ("", "returned")
    completion = endings.submission_end(submission=submission, outcome=Outcome.COMPLETED)
    assert completion.fields["assignmentId"] == submission.external_id


def test_the_command_encrypts_all_again_and_counts_what_no_key_opens_or_is_there_twice(
    study: Recruitment, fake_prolific: FakeProlific, settings: Settings
) -> None:
    assert study.account is not None
    submission = prolific_comes(study, fake_prolific, PERSON)
    lost = prolific_comes(study, fake_prolific)
    ProviderEvent.objects.create(account=study.account, event_id="e1", kind="x", payload={"id": PERSON}, error="Oh")
    token = secrets_of(study.account)
    RaterIdentity.objects.filter(rater=lost.rater).delete()
    former, settings.SECRET_KEY = settings.SECRET_KEY, "a lost key" * 5
    RaterIdentity.objects.create(rater=lost.rater, project=lost.rater.project, provider="prolific", external_id="lost")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, [former]
    # The same person, stored by a process that did not know of the former key.
    twin = Submission.objects.create(recruitment=study, external_id=submission.external_id)
    out = io.StringIO()

    with pytest.raises(CommandError, match="Found 1 rater identities that no key opens"):
        call_command("rotate_secret_key", stdout=out)

    assert f"submission {submission.pk}: the person came twice while the key changed" in out.getvalue()
    settings.SECRET_KEY_FALLBACKS = [former, "a lost key" * 5]  # it was found again
    with pytest.raises(CommandError, match="Found 1 rows of people who have another"):
        call_command("rotate_secret_key", stdout=out)
    settings.SECRET_KEY_FALLBACKS = []
    for row in (*RaterIdentity.objects.all(), ProviderEvent.objects.get(), twin):
        assert not row.reseal()
    assert (ProviderEvent.objects.get().payload, ProviderEvent.objects.get().error) == ({"id": PERSON}, "Oh")
    study.account.refresh_from_db()
    assert secrets_of(study.account) == token

    refreshing.error_record(study, ProviderError(f"Nothing about {PERSON}"))
    settings.SECRET_KEY = "none of these keys is known any more" * 2
    Submission.objects.update(note="Code entered: “A”; none was given.", submit_to="https://example.org")
    stored = list(RaterIdentity.objects.values())
    with pytest.raises(CommandError, match="Nothing was erased"):
        call_command("rotate_secret_key", "--forget-unreadable", stdout=out)
    assert "2  rater identities to erase" in out.getvalue()
    assert list(RaterIdentity.objects.values()) == stored

    call_command("rotate_secret_key", "--forget-unreadable", "--yes", stdout=out)

    assert "2  rater identities erased" in out.getvalue()
    assert "1 provider accounts no key opens: to be entered again." in out.getvalue()
    assert [(each.external_id, each.note, each.submit_to) for each in Submission.objects.order_by("pk")] == [
        (f"lost-{pk}", "", "") for pk in sorted(Submission.objects.values_list("pk", flat=True))
    ]
    assert (RaterIdentity.objects.count(), ProviderEvent.objects.get().payload) == (0, {})
    assert (refreshing.trouble_of(Recruitment.objects.get()) or {})["message"] == ""


def test_what_was_paid_is_counted_once_when_a_submission_comes_back_whose_id_was_lost(
    study: Recruitment, fake_prolific: FakeProlific, settings: Settings
) -> None:
    stays = [prolific_comes(study, fake_prolific) for _ in range(2)]
    for stay in stays:
        fake_prolific.participant_completes(stay.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    reviewing.submissions_approve(recruitment=study, submissions=stays)
    assert bonus(study, stays[0]).state == "paid"
    before = spent(study)
    settings.SECRET_KEY = OTHER
    call_command("rotate_secret_key", "--forget-unreadable", "--yes", stdout=io.StringIO())
    assert study.account is not None
    accounts.account_update(
        account=study.account, name="Lab", values=fake_prolific.values, endpoint=fake_prolific.base_url
    )
    study = Recruitment.objects.get(pk=study.pk)
    assert spent(study) == before

    assert refreshing.recruitment_refresh(recruitment=study) == 2
    assert refreshing.recruitment_refresh(recruitment=study) == 0

    assert spent(study) == before
    assert Submission.objects.exclude(sealed="").filter(paid=before[0] / 2).count() == 2
    paid = payment(study.campaign)
    assert paid is not None
    assert (paid.raters, paid.total) == (2, float(sum(before)))
    # One who comes later is paid for as always.
    late = prolific_comes(study, fake_prolific)
    fake_prolific.participant_completes(late.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    reviewing.submissions_approve(recruitment=study, submissions=[late])
    assert spent(study) == (before[0] * 3 / 2, before[1])


def test_a_message_is_found_by_an_id_in_it_however_it_is_written(study: Recruitment) -> None:
    assert study.account is not None
    campaign = study.campaign
    rater = Rater.objects.create(project=campaign.project, pseudonym="rater-1")
    one, two, three = "ab-12-cd", "60bf9310", "12345678"
    RaterIdentity.objects.create(rater=rater, project=campaign.project, provider="prolific", external_id=one)
    for each in (two, three):
        Submission.objects.create(recruitment=study, rater=rater, external_id=each)
    contents: list[tuple[object, str]] = [
        ({"text": f"About {one}."}, ""),
        ({"text": f"See x-{'a-' * 9}{one}-y or https://example.org/{two}-z"}, ""),
        ({"number": [int(three)]}, ""),
        ({}, f"No submission {two}, {one}."),
    ]
    for number, (payload, error) in enumerate(contents):
        event = ProviderEvent.objects.create(account=study.account, event_id=str(number), kind="x", payload=payload)
        event.error = error
        event.save()
    ProviderEvent.objects.create(account=study.account, event_id="other", kind="x", payload={"n": 7, "text": "cd-ab"})

    assert rater_erase(rater=rater).messages == 4

    left = [(event.payload, event.error) for event in ProviderEvent.objects.order_by("pk")]
    assert left == [
        ({"text": "About [erased]."}, ""),
        ({"text": f"See x-{'a-' * 9}[erased]-y or https://example.org/[erased]-z"}, ""),
        ({"number": ["[erased]"]}, ""),
        ({}, "No submission [erased], [erased]."),
        ({"n": 7, "text": "cd-ab"}, ""),
    ]
    assert not messages_naming(campaign.project_id, [one, two, three]).exists()


def test_keys_of_stored_rows_are_looked_up_once_for_all_submissions_of_a_study(
    study: Recruitment, fake_prolific: FakeProlific
) -> None:
    for _ in range(3):
        fake_prolific.participant_enters(study.external_id)
    with CaptureQueriesContext(connection) as queries:
        assert refreshing.recruitment_refresh(recruitment=study) == 3
    assert sum('digest"::text LIKE' in each["sql"] and "submission" in each["sql"] for each in queries) == 1


def test_a_row_that_is_erased_while_it_is_encrypted_again_stays_erased(
    study: Recruitment, fake_prolific: FakeProlific, settings: Settings
) -> None:
    submission = prolific_comes(study, fake_prolific)
    identity = RaterIdentity.objects.get()
    rater_erase(rater=identity.rater)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, [settings.SECRET_KEY]
    for row in (identity, submission):
        arrivals.identity_renew(row)
    assert not RaterIdentity.objects.exists()
    assert Submission.objects.get().external_id == f"erased-{submission.pk}"
