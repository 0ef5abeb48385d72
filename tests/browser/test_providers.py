"""Raters arrive by the direct link, Prolific or Mechanical Turk, and return there with a code."""

import pytest
from django.urls import reverse
from playwright.sync_api import FrameLocator, Page, expect

from annotation.models import Campaign, Membership, Project, Rater, Rating, Role, Slot, SlotState, Submission, User
from annotation.recruitment.services.refreshing import recruitment_refresh
from annotation.recruitment.services.terms import terms_of
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import comes, make_recruitment, mturk_account, prolific_account
from tests.browser.support import DESKTOP, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in

PERSON = "60bf9310e8dec401be6e9615"


@pytest.fixture
def campaign(transactional_db: None) -> Campaign:
    project = Project.objects.create(name="Chit-chat", slug="chit-chat")
    return make_campaign(make_dataset(project), max_units_per_rater=2, consent="I agree.", completion_code="DIRECT-1")


def address(live_server) -> str:  # type: ignore[no-untyped-def]
    """Return the server's URL by number: to a browser, "localhost" is another site than the fake providers."""
    return str(live_server.url.replace("localhost", "127.0.0.1"))


def code_of(recruitment: object, outcome: str) -> str:
    return next(code.code for code in terms_of(recruitment).codes if code.outcome == outcome)  # type: ignore[arg-type]


def rate(frame: Page | FrameLocator, screens: int) -> None:
    """Rate screens with the mouse."""
    frame.get_by_label("I have read this and agree").check()
    frame.get_by_role("button", name="Start rating").click()
    for done in range(screens):
        expect(frame.locator("#rater-progress")).to_contain_text(f"{done} of")
        frame.locator(".scale-point").nth(3).click()
        frame.get_by_role("button", name="Send").click()


def test_a_rater_with_the_direct_link_gets_the_code(live_server, new_page, campaign: Campaign) -> None:
    page = new_page(**DESKTOP)
    page.goto(live_server.url + reverse("annotation:rater-landing", args=[campaign.link_token]))
    rate(page, 2)
    expect(page.locator("#completion-code")).to_have_text("DIRECT-1")


def test_a_rater_from_prolific_returns_with_the_code(live_server, new_page, campaign, fake_prolific) -> None:
    account = prolific_account(campaign.project, fake_prolific)
    study = make_recruitment(campaign, account, base=address(live_server))
    page = new_page(**PHONE)
    page.goto(fake_prolific.start_url(study.external_id, PERSON))
    assert_no_barrier(page)
    rate(page, 2)
    expect(page.locator("#completion-code")).to_have_text(code_of(study, "completed"))
    expect(page.locator("[data-forward-note]")).to_contain_text("You are taken to Prolific in")
    assert_no_barrier(page)
    page.get_by_role("button", name="Stay here").click()
    expect(page.locator("[data-forward-note]")).to_be_hidden()
    page.get_by_role("link", name="Finish at Prolific").click()
    expect(page.get_by_text("AWAITING REVIEW")).to_be_visible()
    (person,) = fake_prolific.people.values()
    assert person.study_code == code_of(study, "completed")
    assert Rating.objects.count() == 2


def test_a_rater_from_prolific_is_redirected_back_after_a_delay(live_server, new_page, campaign, fake_prolific) -> None:
    study = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), base=address(live_server))
    page = new_page(**DESKTOP)
    page.clock.install()
    page.goto(fake_prolific.start_url(study.external_id, PERSON))
    rate(page, 2)
    expect(page.locator("[data-forward-note]")).to_be_visible()
    page.clock.run_for(16_000)
    expect(page.get_by_text("AWAITING REVIEW")).to_be_visible()


def test_a_rater_who_declines_consent_returns_to_prolific(live_server, new_page, campaign, fake_prolific) -> None:
    study = make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), base=address(live_server))
    page = new_page(**DESKTOP)
    page.goto(fake_prolific.start_url(study.external_id, PERSON))
    page.get_by_role("button", name="I do not want to take part").click()
    assert_no_barrier(page)
    page.get_by_role("link", name="Finish at Prolific").click()
    (person,) = fake_prolific.people.values()
    assert person.study_code == code_of(study, "no_consent")
    assert person.return_requested


@pytest.mark.parametrize("secure", [False, True])
def test_a_worker_rates_and_submits_in_mechanical_turks_frame(
    live_server, new_page, console_errors, campaign, fake_mturk, settings, secure: bool
) -> None:
    """If ``secure``, the frame is on another site and cookies are set for that; loopback replaces TLS."""
    outside = fake_mturk.base_url
    if secure:
        settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
        outside = fake_mturk.base_url.replace("127.0.0.1", "localhost")
        settings.PROVIDER_SETTINGS = settings.PROVIDER_SETTINGS | {
            "MTURK_SUBMIT_ORIGINS": [fake_mturk.base_url, outside]
        }
    hit = make_recruitment(
        campaign, mturk_account(campaign.project, fake_mturk), provider="mturk", base=address(live_server)
    )
    page = new_page(**DESKTOP)
    page.goto(f"{outside}/hits/{hit.external_id}")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Preview: accept the task to begin")).to_be_visible()
    assert (Rater.objects.count(), Slot.objects.exclude(state=SlotState.OPEN).count()) == (0, 0)
    page.goto(f"{outside}/hits/{hit.external_id}?worker=A1WORKER")
    frame = page.frame_locator("iframe")
    rate(frame, 2)
    frame.get_by_role("button", name="Finish at Mechanical Turk").click()
    expect(frame.get_by_text("The HIT has been successfully submitted")).to_be_visible()
    (assignment,) = fake_mturk.assignments.values()
    assert assignment.status == "Submitted"
    assert code_of(hit, "completed") in assignment.answer
    assert Rating.objects.count() == 2
    assert Submission.objects.get().outcome == "completed"


def test_the_pages_of_managers_are_accessible(live_server, new_page, campaign, fake_prolific) -> None:
    user = User.objects.create_user("max-manager", password="password")
    Membership.objects.create(project=campaign.project, user=user, role=Role.MANAGER)
    account = prolific_account(campaign.project, fake_prolific)
    study = make_recruitment(campaign, account, base=address(live_server))
    taken = comes(study, fake_prolific, PERSON)
    fake_prolific.participant_completes(taken.submission.external_id, "NONSENSE")
    recruitment_refresh(recruitment=study)
    page = new_page(**PHONE)
    sign_in(page, live_server.url, "max-manager", "password")
    project_url = f"{live_server.url}/p/chit-chat"
    recruitment = f"{project_url}/campaigns/{campaign.pk}/recruitment"
    for url in (
        f"{project_url}/providers/",
        f"{project_url}/providers/connect/mturk/",
        f"{project_url}/providers/{account.pk}/",
        f"{recruitment}/",
        f"{recruitment}/new/prolific/",
        f"{recruitment}/{study.pk}/edit/",
        f"{recruitment}/{study.pk}/bonuses/",
        f"{recruitment}/{study.pk}/",
    ):
        page.goto(url)
        assert_everyone_can_read(page)
    expect(page.get_by_text("Code entered: “NONSENSE”; none was given.")).to_be_visible()
    page.get_by_label(f"Choose {taken.rater}").check()
    page.get_by_role("button", name="Approve …").click()
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Approve and pay 2.50 GBP").click()
    expect(page.get_by_text("1 of 1 approved.")).to_be_visible()
    assert [person.status for person in fake_prolific.people.values()] == ["APPROVED"]
