"""Notifications from the choice on the page to a mail server and a web server on loopback."""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from annotation.campaigns.services.rules import rules_register
from annotation.core.jobs import Claim, job_claim
from annotation.models import (
    Delivery,
    DeliveryState,
    Membership,
    Notification,
    NotificationSettings,
    Project,
    Recruitment,
    SlotState,
    User,
)
from annotation.notifications.kinds import KINDS
from annotation.notifications.public_addresses import AddressRefused, resolved, url_check
from annotation.notifications.services import sending
from annotation.notifications.services.choosing import notifications_choose
from annotation.notifications.services.recording import notification_record
from annotation.notifications.services.sending import PAUSES, deliveries_due, delivery_send
from annotation.projects.services.projects import member_remove
from annotation.quality.services.rules import rules_apply
from annotation.recruitment.providers import base
from annotation.recruitment.services.refreshing import submission_apply
from metrics.models import RunGroup, RunOrigin, ScoreRun
from tests.annotation.notifications.servers import Mailbox, Receiver, mail_server, web_server
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

pytestmark = pytest.mark.django_db
FACTS = {"campaign": "Replies", "campaign_pk": 1, "slots": 8}


@pytest.fixture
def web(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    with web_server() as receiver:
        yield receiver


@pytest.fixture
def mail(settings: Settings) -> Iterator[Mailbox]:
    with mail_server() as mailbox:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", mailbox.port, False
        yield mailbox


@pytest.fixture
def membership(project: Project, viewer: User) -> Membership:
    viewer.email = "vera@example.org"
    viewer.save()
    return Membership.objects.get(project=project, user=viewer)


def chosen(membership: Membership, *kinds: str, by_email: bool = True, url: str = "") -> NotificationSettings:
    settings, _ = NotificationSettings.objects.update_or_create(
        membership=membership,
        defaults={
            "by_email": kinds if by_email else [],
            "by_webhook": kinds if url else [],
            "webhook_url": url,
            "site": "https://assay.example.org/",
        },
    )
    return settings


def send_all() -> list[Delivery]:
    for delivery_id in deliveries_due():
        delivery_send(delivery_id=delivery_id)
    return list(Delivery.objects.order_by("pk"))


def test_a_member_chooses_on_the_page_tests_and_is_sent_both(
    project: Project, membership: Membership, client: Client, web: Receiver, mail: Mailbox
) -> None:
    client.force_login(membership.user)
    page = f"/p/{project.slug}/notifications/"
    assert "Nothing yet." in client.get(page).text
    refused = client.post(page, {"by_webhook": ["campaign_full"]})
    assert "Webhooks need an address" in refused.text
    kinds = {"by_email": ["campaign_full"], "by_webhook": ["campaign_full"], "webhook_url": web.url}
    secret = re.search(r"assay_[0-9a-f]{64}", client.post(page, kinds).text)
    assert secret
    assert secret[0] not in client.get(page).text
    assert client.post(page, kinds).status_code == 302  # the same address keeps its secret

    assert client.post(f"{page}test/").status_code == 302
    assert [delivery.state for delivery in send_all()] == [DeliveryState.SENT] * 2
    ((path, headers, body),) = web.received
    time, signed = re.fullmatch(r"t=(\d+),v1=(\w+)", headers["Assay-Signature"]).groups()  # type: ignore[union-attr]
    assert signed == hmac.new(secret[0].encode(), f"{time}.".encode() + body, hashlib.sha256).hexdigest()
    sent = json.loads(body)
    assert (path, sent["kind"], sent["url"]) == ("/hook?from=assay", "test", f"http://testserver{page}")
    assert headers["Assay-Delivery"] == sent["id"]
    (message,) = mail.received
    assert message["Subject"] == f"{project}: Test from {project}"
    assert message["To"] == "vera@example.org"
    assert f"http://testserver{page}" in message.get_content()
    shown = client.get(page).text
    assert "200 thank you very much" in shown

    replaced = client.post(f"{page}secret/").text
    assert secret[0] not in replaced
    assert re.search(r"assay_[0-9a-f]{64}", replaced)


def test_a_test_before_a_choice_is_saved_is_refused(membership: Membership, client: Client, mail: Mailbox) -> None:
    client.force_login(membership.user)
    page = f"/p/{membership.project.slug}/notifications/"
    assert "save your choice first" in client.post(f"{page}test/", follow=True).text
    assert send_all() == []


def test_no_mail_server_is_said_and_another_projects_address_is_not_found(
    project: Project, membership: Membership, client: Client, outsider: User, settings: Settings
) -> None:
    settings.EMAIL_HOST = ""
    client.force_login(membership.user)
    page = f"/p/{project.slug}/notifications/"
    assert "E-mail is not set up" in client.get(page).text
    client.force_login(outsider)
    assert [client.post(f"{page}{part}").status_code for part in ("", "test/", "secret/")] == [404] * 3


def test_a_viewer_is_not_offered_what_only_managers_may_see(
    project: Project, membership: Membership, client: Client
) -> None:
    client.force_login(membership.user)
    page = f"/p/{project.slug}/notifications/"
    assert "money_nearly_spent" not in client.get(page).text
    assert client.post(page, {"by_email": ["money_nearly_spent"]}).status_code == 200  # refused, with an error
    chosen(membership, "money_nearly_spent")  # chosen as a manager
    assert notification_record(kind="money_nearly_spent", project=project, key="1", facts={}) is None


def test_one_event_is_stored_once_and_not_at_all_without_its_transaction(
    project: Project, membership: Membership, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(3):
        assert notification_record(kind="campaign_full", project=project, key="1", facts=FACTS) is None
    chosen(membership, "campaign_full")
    for _ in range(2):
        notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    with transaction.atomic():
        notification_record(kind="campaign_full", project=project, key="2", facts=FACTS)
        transaction.set_rollback(True)
    assert (Notification.objects.count(), Delivery.objects.count()) == (1, 1)


def test_pauses_grow_after_failures_and_end(project: Project, membership: Membership, web: Receiver) -> None:
    notifications_choose(
        membership=membership, site="https://a.example/", by_email=[], by_webhook=["campaign_full"], webhook_url=web.url
    )
    web.status = 503
    notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    for pause in PAUSES:
        (delivery,) = send_all()
        assert (delivery.state, delivery.answer) == (DeliveryState.WAITING, "503 thank you very much")
        assert timedelta() <= timezone.now() + pause - delivery.due_at < timedelta(minutes=1)
        assert deliveries_due() == []
        Delivery.objects.update(due_at=timezone.now())
    (delivery,) = send_all()
    assert (delivery.state, delivery.attempts, len(web.received)) == (DeliveryState.FAILED, 6, 6)
    assert len({headers["Assay-Delivery"] for _, headers, _ in web.received}) == 1


def test_an_answer_that_never_ends_is_read_only_for_a_while(
    project: Project, membership: Membership, web: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LONGEST", 0.1)
    web.answer, web.pause = [b"."] * 40, 0.05
    notifications_choose(
        membership=membership, site="https://a.example/", by_email=[], by_webhook=["campaign_full"], webhook_url=web.url
    )
    notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    (delivery,) = send_all()
    assert delivery.state == DeliveryState.SENT
    assert len(delivery.answer) < len("200 ") + 40


def test_redirects_are_not_followed_and_private_addresses_are_refused(
    project: Project, membership: Membership, web: Receiver, settings: Settings
) -> None:
    notifications_choose(
        membership=membership, site="https://a.example/", by_email=[], by_webhook=["campaign_full"], webhook_url=web.url
    )
    web.status, web.headers = 302, {"Location": f"http://127.0.0.1:{web.port}/elsewhere"}
    notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    (delivery,) = send_all()
    assert delivery.answer.startswith("302")
    assert len(web.received) == 1
    settings.WEBHOOK_PRIVATE_ADDRESSES = False
    Delivery.objects.update(due_at=timezone.now())
    (delivery,) = send_all()
    assert (delivery.state, len(web.received)) == (DeliveryState.FAILED, 1)


PRIVATE = """
    127.0.0.1 10.1.2.3 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 240.0.0.1 [::1] [fd00::1] [fe80::1] [ff02::1]
    [::ffff:10.0.0.1] [64:ff9b::a00:1] [2002:a00:1::]
"""


@pytest.mark.parametrize("host", PRIVATE.split())
def test_addresses_that_are_not_on_the_internet_are_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="not on the internet"):
        url_check(f"https://{host}/", private=False)
    with pytest.raises(AddressRefused, match="not on the internet"):
        resolved(host.strip("[]"), 443, private=False)


def test_names_that_lead_into_the_network_are_refused_when_they_are_looked_up() -> None:
    url_check("https://localhost/", private=False)  # a name says nothing yet
    with pytest.raises(AddressRefused):
        resolved("localhost", 443, private=False)
    for url in (
        "http://example.org/",
        "ftp://example.org/",
        "https://user:word@example.org/",
        "https:///",
        "https://[",
    ):
        with pytest.raises(AddressRefused):
            url_check(url, private=False)


def test_a_membership_that_ends_takes_its_notifications_along(
    project: Project, membership: Membership, mail: Mailbox
) -> None:
    chosen(membership, "campaign_full")
    notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    member_remove(membership=membership)
    assert send_all() == []
    assert (NotificationSettings.objects.count(), mail.received) == (0, [])


def test_what_was_switched_off_meanwhile_is_not_sent(project: Project, membership: Membership, mail: Mailbox) -> None:
    chosen(membership, "campaign_full")
    notification_record(kind="campaign_full", project=project, key="1", facts=FACTS)
    chosen(membership)
    (delivery,) = send_all()
    assert (delivery.state, mail.received) == (DeliveryState.FAILED, [])
    assert "switched off" in delivery.answer


def test_the_last_rating_makes_a_campaign_full_and_rules_exclude_with_a_notification(
    project: Project, membership: Membership
) -> None:
    chosen(membership, "campaign_full", "raters_excluded")
    campaign = make_campaign(make_dataset(project, items=2), ratings_per_unit=1)
    rater = join(campaign)
    while rate_next(campaign, rater):
        is_full = not campaign.slots.exclude(state=SlotState.DONE).exists()
        assert Notification.objects.count() == is_full
    (full,) = Notification.objects.all()
    assert (full.kind, full.facts["slots"]) == ("campaign_full", campaign.slots.count())

    fast = {"rule": "median_seconds_below", "version": 1, "action": "exclude", "seconds": 3600, "after": 1}
    rules = rules_register(campaign=campaign, records=[fast])
    for _ in range(2):  # the second time no rater is left to exclude
        rules_apply(campaign=campaign, rules=rules)
    excluded = Notification.objects.get(kind="raters_excluded")
    assert KINDS[excluded.kind].title(excluded.facts) == "1 rater excluded from “Replies”"


def test_money_is_nearly_spent_once_for_each_plan(project: Project, manager: User) -> None:
    membership = Membership.objects.get(project=project, user=manager)
    chosen(membership, "money_nearly_spent")
    campaign = make_campaign(make_dataset(project, items=1))
    recruitment = Recruitment.objects.create(
        campaign=campaign, provider="prolific", name="Study", options={"reward": "2.00", "places": 5, "currency": "GBP"}
    )
    counts = []
    for number in range(5):
        reported = base.Submission(
            id=f"s{number}", study="x", rater="", status=base.SubmissionStatus.APPROVED, reported=""
        )
        submission_apply(recruitment=recruitment, reported=reported)
        counts.append(Notification.objects.count())
    assert counts == [0, 0, 0, 1, 1]
    (row,) = Notification.objects.all()
    assert (row.facts["spent"], row.facts["planned"]) == ("8.00", "10.00")


def test_the_end_of_a_run_is_recorded_but_not_a_cancellation_nor_a_study_s_run(
    project: Project, membership: Membership
) -> None:
    chosen(membership, "run_ended")
    dataset = make_dataset(project, items=1)

    def claim(number: int, origin: RunOrigin = RunOrigin.REQUEST) -> Claim:
        group = RunGroup.objects.create(project=project, origin=origin)
        run = ScoreRun.objects.create(
            project=project,
            dataset=dataset,
            group=group,
            number=number,
            metric="bleu",
            signature=f"bleu|{number}",
            signature_hash=f"{number:064}",
        )
        claimed = job_claim(ScoreRun, run.pk)
        assert claimed
        return claimed

    claim(1).finish()
    claim(2).fail("No texts.")
    claim(3).cancelled()
    claim(4, RunOrigin.STUDY).finish()
    texts = [KINDS[row.kind].text(row.facts) for row in Notification.objects.order_by("pk")]
    assert texts == [
        "Score run 1 with the metric bleu is done.",
        "Score run 2 with the metric bleu failed: No texts.",
    ]


def test_every_kind_says_what_it_is_and_links_to_a_page(project: Project) -> None:
    """Facts of any kind, together."""
    facts: dict[str, Any] = FACTS | {
        "project": project.slug,
        "raters": 1,
        "rules": 2,
        "recruitment": "A study",
        "recruitment_pk": 3,
        "spent": "81",
        "planned": "100",
        "currency": "GBP",
        "number": 4,
        "metric": "bleu",
        "study": "Trust",
        "study_pk": 5,
        "page": "study-detail",
        "error": "",
        "name": project.name,
    }
    for kind in KINDS.values():
        assert kind.when.endswith("."), kind.key
        assert kind.title(facts)
        assert kind.text(facts).endswith("."), kind.key
        assert kind.link(facts).startswith(f"/p/{project.slug}/")
    assert set(KINDS) >= {"campaign_full", "raters_excluded", "run_ended", "study_ended", "money_nearly_spent"}
