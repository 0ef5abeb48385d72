"""Raters are asked about themselves, and results are read by what they answered."""

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Campaign, RaterAnswer
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.browser.support import DESKTOP, EVERY_IMPACT, PHONE, assert_everyone_can_read, assert_no_barrier, sign_in

pytestmark = pytest.mark.django_db(transaction=True)


def test_questions_are_added_answered_and_filtered_by(live_server, new_page, project, manager, console_errors) -> None:
    console_errors.allow("status of 400")  # a required question is left out
    dataset = make_dataset(project, items=1, systems=["Ada", "Bo"])
    draft = make_campaign(dataset, launch=False, ratings_per_unit=2)
    page = new_page(**DESKTOP)
    sign_in(page, live_server.url, manager.username, "password")
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{draft.pk}/edit/questions/")
    page.get_by_role("button", name="Native language").click()
    expect(page.get_by_text("Added “Native language”.")).to_be_visible()
    frame = page.frame_locator("iframe.preview-frame")
    expect(frame.get_by_label("Which is your native language?")).to_be_visible()
    page.locator(".criterion.is-unused > summary:visible").click()
    page.locator("[name=question-2-question]").fill("Which of these do you read?")
    page.locator("[name=question-2-name]").fill("reads")
    page.locator("[name=question-2-kind]").select_option("several")
    page.locator("[name=question-2-options]").fill("News\nNovels")
    page.locator("[name=question-2-optional]").check()
    expect(frame.get_by_label("Novels")).to_be_visible()  # before anything is saved
    assert_everyone_can_read(page)
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Launch …").click()
    page.get_by_role("dialog").get_by_role("button", name="Launch").click()
    link = page.locator("#rater-link").inner_text()

    for language, value in (("Deutsch", 5), ("English", 1)):
        rater = new_page(**PHONE, locale="fr-FR")
        rater.goto(link)
        expect(rater.get_by_role("heading", name="Ce qu’on vous demande sur vous-même")).to_be_visible()
        rater.get_by_role("button", name="Commencer à évaluer").click()
        rater.get_by_role("button", name="Continuer").click()
        expect(rater.get_by_text("Veuillez répondre à cette question.")).to_be_visible()
        assert_everyone_can_read(rater, impacts=EVERY_IMPACT)
        rater.get_by_label("Quelle est votre langue maternelle").select_option(language)
        rater.get_by_label("Novels").check()
        rater.get_by_role("button", name="Continuer").click()
        for done in (1, 2):
            rater.locator("label.scale-point").nth(value - 1).click()
            rater.get_by_role("button", name="Envoyer").click()
            rater.get_by_text(re.compile(rf"\b{done}\b")).first.wait_for()
        rater.close()
    assert RaterAnswer.objects.count() == 4

    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{Campaign.objects.get().pk}/results/")
    expect(page.get_by_text("by 2 raters of outputs")).to_be_visible()
    page.get_by_label("Raters: native language").select_option("Deutsch")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("by 1 rater of outputs")).to_be_visible()
    expect(page.get_by_text("Left out: 2 by raters whom the filter leaves out").first).to_be_visible()
    page.goto(f"{live_server.url}/p/chit-chat/campaigns/{Campaign.objects.get().pk}/raters/")
    expect(page.get_by_text("English: 1; Deutsch: 1")).to_be_visible()
    assert_no_barrier(page)
