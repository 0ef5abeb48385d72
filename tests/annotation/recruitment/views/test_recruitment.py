"""Pages of recruitments and accounts, and the entry points of raters and providers."""

from collections.abc import Callable
from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.models import (
    Campaign,
    Participation,
    Project,
    ProviderAccount,
    ProviderEvent,
    Rater,
    Recruitment,
    Submission,
    User,
)
from annotation.models import SubmissionStatus as Status
from annotation.recruitment.services import accounts, refreshing
from annotation.recruitment.services.terms import terms_of
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import comes, make_recruitment, mturk_account, prolific_account

AsUser = Callable[[User], Client]
PERSON = "60bf9310e8dec401be6e9615"


@pytest.fixture
def fake_prolific(fake_prolific: FakeProlific, settings: Settings) -> FakeProlific:
    settings.PROVIDER_ENDPOINTS = [fake_prolific.base_url]
    settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {"PROLIFIC_APP_URL": fake_prolific.base_url}
    return fake_prolific


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(
        make_dataset(project),
        max_units_per_rater=1,
        payment_per_unit="1.00",
        payment_currency="GBP",
        admission="account",
    )


@pytest.fixture
def by_hand(campaign: Campaign) -> Recruitment:
    return make_recruitment(campaign, None)


def entry(recruitment: Recruitment, **query: str) -> str:
    return f"{reverse('annotation:provider-entry', args=[recruitment.link_token])}?{urlencode(query)}"


def prolific_entry(recruitment: Recruitment, person: str = PERSON, session: str = "session1") -> str:
    return entry(recruitment, PROLIFIC_PID=person, STUDY_ID="study", SESSION_ID=session)


def rate_one(client: Client, campaign: Campaign) -> None:
    def url(name: str) -> str:
        return reverse(f"annotation:rater-{name}", args=[campaign.link_token])

    client.post(url("consent"), {"agree": "1"})
    work = client.get(url("work"))
    token = work.context["presentation"].token
    client.post(url("submit"), {"token": str(token), "r0-relevance": "4"})


# --- Raters -----------------------------------------------------------------------------------------------------------


def test_a_prolific_rater_gets_from_the_address_to_the_code(by_hand: Recruitment, campaign: Campaign) -> None:
    """It works in a campaign that requires an account from other raters too."""
    client = Client()
    landing = client.get(prolific_entry(by_hand), follow=True)
    assert "I do not want to take part" in landing.content.decode()
    assert "X-Frame-Options" in landing.headers
    rate_one(client, campaign)
    page = client.get(reverse("annotation:rater-finish", args=[campaign.link_token])).content.decode()
    code = next(code.code for code in terms_of(by_hand).codes if code.outcome == "completed")
    assert f"https://app.prolific.com/submissions/complete?cc={code}" in page
    assert Submission.objects.get().code == code


def test_raters_without_a_provider_still_need_an_account(campaign: Campaign) -> None:
    page = Client().get(reverse("annotation:rater-landing", args=[campaign.link_token])).content.decode()
    assert "Sign in" in page


def test_a_rater_who_declines_is_sent_back_with_the_code_for_it(by_hand: Recruitment, campaign: Campaign) -> None:
    client = Client()
    client.get(prolific_entry(by_hand))
    page = client.post(reverse("annotation:rater-decline", args=[campaign.link_token])).content.decode()
    code = next(code.code for code in terms_of(by_hand).codes if code.outcome == "no_consent")
    assert f"cc={code}" in page
    assert Participation.objects.count() == 0
    assert Client().post(reverse("annotation:rater-decline", args=[campaign.link_token])).status_code == 302


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "PROLIFIC_PID, STUDY_ID, SESSION_ID are missing"),
        ({"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "STUDY_ID": "s", "SESSION_ID": "s"}, "PROLIFIC_PID: found"),
        ({"PROLIFIC_PID": "<script>", "STUDY_ID": "s", "SESSION_ID": "s"}, "&lt;script&gt;"),
    ],
)
def test_an_address_without_a_valid_rater_id_is_explained(
    by_hand: Recruitment, query: dict[str, str], message: str
) -> None:
    response = Client().get(entry(by_hand, **query))
    assert response.status_code == 400
    assert message in response.content.decode()
    assert Rater.objects.count() == 0


def test_a_rater_for_whom_no_work_is_left_gets_the_code_for_it(by_hand: Recruitment, campaign: Campaign) -> None:
    campaign.units.update(done_slots=campaign.ratings_per_unit)
    page = Client().get(prolific_entry(by_hand)).content.decode()
    code = next(code.code for code in terms_of(by_hand).codes if code.outcome == "out_of_work")
    assert "There was nothing left to rate" in page
    assert f"cc={code}" in page


def test_a_preview_creates_no_rater_and_no_submission(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> None:
    hit = make_recruitment(campaign, mturk_account(campaign.project, fake_mturk), provider="mturk")
    response = Client().get(entry(hit, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId=hit.external_id))
    assert response.status_code == 200
    assert "Preview" in response.content.decode()
    assert not response.cookies
    assert (Rater.objects.count(), Submission.objects.count()) == (0, 0)
    assert fake_mturk.base_url in response.headers["Content-Security-Policy"]


def test_only_amazon_may_frame_the_page_and_only_for_its_raters(
    campaign: Campaign, fake_mturk: FakeMechanicalTurk, settings
) -> None:
    settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {"MTURK_SUBMIT_ORIGINS": []}
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    hit = make_recruitment(campaign, None, provider="mturk")
    query = {"assignmentId": "3A", "hitId": "3H", "workerId": "A1", "turkSubmitTo": "https://www.mturk.com"}
    client = Client()
    response = client.get(entry(hit, **query), follow=True, secure=True)
    policy = response.headers["Content-Security-Policy"]
    assert "frame-ancestors https://worker.mturk.com" in policy
    assert "form-action 'self' https://www.mturk.com https://workersandbox.mturk.com;" in policy
    assert "X-Frame-Options" not in response.headers
    for name in ("csrftoken", f"assay_rater_{campaign.project_id}"):
        cookie = client.cookies[name].OutputString()
        assert "SameSite=None; Partitioned" in cookie
        assert "Secure" in cookie
    direct = Client().get(reverse("annotation:rater-landing", args=[campaign.link_token]), secure=True)
    assert "frame-ancestors 'none'" in direct.headers["Content-Security-Policy"]
    assert direct.headers["X-Frame-Options"] == "DENY"
    client.cookies["assay_frame"] = "https://evil.example.org"
    forged = client.get(reverse("annotation:rater-landing", args=[campaign.link_token]), secure=True)
    assert "frame-ancestors 'none'" in forged.headers["Content-Security-Policy"]
    client.cookies["assay_frame"] = "mturk"
    assert "frame-ancestors 'none'" in client.get("/", secure=True).headers["Content-Security-Policy"]


def test_a_browser_that_keeps_no_cookies_in_frames_is_offered_a_tab(
    campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    hit = make_recruitment(campaign, mturk_account(campaign.project, fake_mturk), provider="mturk")
    _, url = fake_mturk.worker_accepts(hit.external_id)
    path = url.removeprefix("http://127.0.0.1:8000")
    onward = Client().get(path).headers["Location"]
    page = Client().get(onward)  # the cookie is lost
    assert "in a new tab" in page.content.decode()
    assert Rater.objects.count() == 1


def test_a_form_is_never_posted_to_a_foreign_address(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> None:
    hit = make_recruitment(campaign, None, provider="mturk")
    query = {"assignmentId": "3A", "hitId": "3H", "workerId": "A1", "turkSubmitTo": "https://evil.example.org"}
    response = Client().get(entry(hit, **query))
    assert response.status_code == 400
    assert Submission.objects.count() == 0


def test_finishing_needs_no_provider(campaign: Campaign, fake_prolific: FakeProlific) -> None:
    """The provider is down once the rater has arrived."""
    study = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), base="http://127.0.0.1")
    _, url = fake_prolific.participant_enters(study.external_id)
    client = Client()
    client.get(url.removeprefix("http://127.0.0.1"))
    fake_prolific.fail(503, times=99)
    rate_one(client, campaign)
    page = client.get(reverse("annotation:rater-finish", args=[campaign.link_token])).content.decode()
    assert "cc=" in page
    assert campaign.ratings.count() == 1


# --- Managers ---------------------------------------------------------------------------------------------------------


def test_outsiders_see_nothing_and_viewers_change_nothing(
    by_hand: Recruitment, campaign: Campaign, viewer: User, outsider: User, as_user: AsUser, fake_prolific: FakeProlific
) -> None:
    account = prolific_account(campaign.project, fake_prolific)
    recruitment_args = [campaign.project.slug, campaign.pk, by_hand.pk]
    reading = [
        reverse("annotation:campaign-recruitments", args=recruitment_args[:2]),
        reverse("annotation:campaign-recruitment", args=recruitment_args),
    ]
    managing = [
        reverse("annotation:provider-accounts", args=recruitment_args[:1]),
        reverse("annotation:provider-account-connect", args=[*recruitment_args[:1], "prolific"]),
        reverse("annotation:provider-account", args=[*recruitment_args[:1], account.pk]),
        reverse("annotation:campaign-recruitment-create", args=[*recruitment_args[:2], "prolific"]),
        reverse("annotation:campaign-recruitment-edit", args=recruitment_args),
        reverse("annotation:campaign-recruitment-bonus", args=recruitment_args),
    ]
    posting = [
        reverse("annotation:provider-account-test", args=[*recruitment_args[:1], account.pk]),
        reverse("annotation:provider-account-remove", args=[*recruitment_args[:1], account.pk]),
        reverse("annotation:campaign-recruitment-act", args=[*recruitment_args, "stop"]),
        reverse("annotation:campaign-recruitment-review", args=recruitment_args),
        reverse("annotation:campaign-recruitment-places", args=recruitment_args),
    ]
    for url in (*reading, *managing):
        assert as_user(outsider).get(url).status_code == 404
        assert as_user(viewer).get(url).status_code == (200 if url in reading else 403)
    for url in posting:
        assert as_user(outsider).post(url).status_code == 404
        assert as_user(viewer).post(url).status_code == 403
    page = as_user(viewer).get(reading[1]).content.decode()
    assert str(by_hand.link_token) not in page
    assert not any(code.code in page for code in terms_of(by_hand).codes)


def test_an_account_is_connected_tested_and_its_token_never_shown(
    project: Project, manager: User, as_user: AsUser, fake_prolific: FakeProlific
) -> None:
    client = as_user(manager)
    url = reverse("annotation:provider-account-connect", args=[project.slug, "prolific"])
    data = {
        "name": "Lab",
        "token": fake_prolific.token,
        "workspace": fake_prolific.workspace,
        "endpoint": fake_prolific.base_url,
    }
    refused = client.post(url, {**data, "endpoint": "http://169.254.169.254"})
    assert refused.status_code == 200
    assert ProviderAccount.objects.count() == 0
    page = client.post(url, data, follow=True).content.decode()
    assert "The connection works: Rosa Researcher; balance 10000.00 GBP." in page
    assert fake_prolific.token not in page
    account = ProviderAccount.objects.get()
    detail = reverse("annotation:provider-account", args=[project.slug, account.pk])
    assert fake_prolific.token not in client.get(detail).content.decode()
    fake_prolific.token = "withdrawn"
    page = client.post(reverse("annotation:provider-account-test", args=[project.slug, account.pk]), follow=True)
    assert "does not accept this token" in page.content.decode()


def test_a_manager_goes_from_draft_to_paid_bonuses(
    campaign: Campaign, manager: User, as_user: AsUser, fake_prolific: FakeProlific
) -> None:
    client, account = as_user(manager), prolific_account(campaign.project, fake_prolific)
    client.defaults["SERVER_NAME"] = "127.0.0.1"  # providers accept http:// only for loopback addresses
    campaign_args = [campaign.project.slug, campaign.pk]
    create = reverse("annotation:campaign-recruitment-create", args=[*campaign_args, "prolific"])
    form = client.get(create).context["form"]
    data = {name: value for name, value in form.initial.items() if value is not None}
    data |= {name: field.initial for name, field in form.fields.items() if name.startswith("after_")}
    data |= {"account": account.pk, "description": "Rate replies.", "places": 3, "return_policy": "at_once"}
    created = client.post(create, data, follow=True)
    study = Recruitment.objects.get()
    assert "an hour is" in created.content.decode() or study.options["reward"] == "1.00"

    def act(name: str) -> str:
        url = reverse("annotation:campaign-recruitment-act", args=[*campaign_args, study.pk, name])
        return client.post(url, follow=True).content.decode()

    assert "Drafted at Prolific" in act("draft")
    assert "Published at Prolific." in act("publish")
    study.refresh_from_db()
    admitted = comes(study, fake_prolific)
    fake_prolific.participant_completes(admitted.submission.external_id, "X")
    assert "Up to date." in act("refresh")
    review = reverse("annotation:campaign-recruitment-review", args=[*campaign_args, study.pk])
    approval = {"submission": admitted.submission.pk, "act": "approve"}
    page = client.post(review, approval).content.decode()
    assert "1 × 1.00 GBP" in page
    assert fake_prolific.people[admitted.submission.external_id].status == "AWAITING REVIEW"
    page = client.post(review, {**approval, "confirmed": 1}, follow=True).content.decode()
    assert "1 of 1 approved." in page
    page = client.post(review, {**approval, "confirmed": 1}, follow=True).content.decode()
    assert "Nothing was chosen" in page
    bonus = reverse("annotation:campaign-recruitment-bonus", args=[*campaign_args, study.pk])
    refused = client.post(bonus, {"lines": "nobody, 1", "reason": "More"}).content.decode()
    assert "Line 1: found no submission or rater" in refused
    prepared = client.post(bonus, {"lines": f"{admitted.submission.external_id}, 0.40", "reason": "More"})
    batch = prepared.headers["Location"]
    assert "Pay 0.5333 GBP" in client.get(batch).content.decode()
    assert fake_prolific.bonuses_paid == []
    assert "Paid: 0.40 GBP to 1." in client.post(batch, {"act": "pay"}, follow=True).content.decode()
    client.post(batch, {"act": "pay"})
    assert fake_prolific.bonuses_paid == [(admitted.submission.external_id, 0.4)]
    table = b"".join(
        client.get(f"{reverse('annotation:campaign-recruitment', args=[*campaign_args, study.pk])}?format=csv")
    )
    assert f"{admitted.submission.external_id},{admitted.rater.pseudonym},approved".encode() in table
    assert PERSON.encode() not in table


def test_rejecting_needs_a_hundred_characters(
    campaign: Campaign, manager: User, as_user: AsUser, fake_prolific: FakeProlific
) -> None:
    study = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific))
    admitted = comes(study, fake_prolific)
    fake_prolific.participant_completes(admitted.submission.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    client = as_user(manager)
    review = reverse("annotation:campaign-recruitment-review", args=[campaign.project.slug, campaign.pk, study.pk])
    data = {"submission": admitted.submission.pk, "act": "reject", "confirmed": 1, "reason": "low_effort"}
    page = client.post(review, {**data, "message": "Too short."}).content.decode()
    assert "Found 10 characters; accepted: 100 or more." in page
    page = client.post(review, {**data, "message": "Every answer was the middle of the scale. " * 3}, follow=True)
    assert "1 of 1 rejected." in page.content.decode()
    assert Submission.objects.get().status == Status.REJECTED


def test_the_pages_of_one_campaign_show_nothing_of_anothers(
    by_hand: Recruitment, campaign: Campaign, manager: User, as_user: AsUser
) -> None:
    other_campaign = make_campaign(make_dataset(campaign.project, name="other"), name="Other")
    url = reverse("annotation:campaign-recruitment", args=[campaign.project.slug, other_campaign.pk, by_hand.pk])
    assert as_user(manager).get(url).status_code == 404


def test_a_page_of_many_submissions_takes_few_queries(
    by_hand: Recruitment, campaign: Campaign, manager: User, as_user: AsUser, django_assert_max_num_queries
) -> None:
    Submission.objects.bulk_create(
        Submission(recruitment=by_hand, external_id=f"s{number}", status=Status.AWAITING) for number in range(150)
    )
    url = reverse("annotation:campaign-recruitment", args=[campaign.project.slug, campaign.pk, by_hand.pk])
    client = as_user(manager)
    with django_assert_max_num_queries(15):
        first = client.get(url)
    assert len(first.context["rows"]) == 100
    second = client.get(f"{url}?status=awaiting&after={first.context['next']}")
    assert len(second.context["rows"]) == 50


# --- Providers --------------------------------------------------------------------------------------------------------


def test_a_webhook_handles_a_signed_message_once(
    campaign: Campaign, fake_prolific: FakeProlific, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
) -> None:
    study = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific))
    account = accounts.account_receive_messages(account=study.account, url="http://127.0.0.1:1/")
    comes(study, fake_prolific)
    queued: list[int] = []
    monkeypatch.setattr(
        "annotation.recruitment.tasks.provider_event_handle.apply_async", lambda args=(), *_, **__: queued.append(*args)
    )
    url = reverse("annotation:provider-webhook", args=[account.pk])
    headers, body = fake_prolific.signed(fake_prolific.events[-1].payload, event_id="event-1")
    client = Client(enforce_csrf_checks=True)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(3):
            assert client.post(url, body, content_type="application/json", headers=headers).status_code == 202
    assert queued == [ProviderEvent.objects.get().pk]
    assert client.post(url, body + b" ", content_type="application/json", headers=headers).status_code == 400
    assert client.get(url).status_code == 405
    assert client.post(reverse("annotation:provider-webhook", args=[account.pk + 1])).status_code == 404
    turk = ProviderAccount.objects.create(project=campaign.project, provider="mturk", name="Turk")
    assert client.post(reverse("annotation:provider-webhook", args=[turk.pk])).status_code == 404
    assert Decimal(terms_of(study).reward) == Decimal("2.50")
