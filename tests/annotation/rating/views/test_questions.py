"""Questions about the rater: announced, answered once, counted for everybody, read by managers, filtered by, erased."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.campaigns.design.questionnaire import Questionnaire
from annotation.campaigns.questions import READY_MADE, Question
from annotation.models import Campaign, Participation, Project, Rater, RaterAnswer, User
from annotation.rating.selectors.questions import answer_counts, questions_are_due
from annotation.rating.services.questions import questions_answer
from annotation.records.services.erasure import rater_erase
from annotation.results.selectors.verdicts import compute_results
from tests.annotation.worlds.campaigns import join, make_campaign, make_dataset, rate_next

QUESTIONS = (
    READY_MADE["native_language"],
    Question("others", "Which others do you read?", "several", required=False, options=("English", "Deutsch")),
    Question("profession", "What is your profession?", "text", required=False),
    Question("age", "How old are you?", "number", required=False, low=18),
)
GIVEN = {"q-native_language": "Deutsch", "q-others": ["English"], "q-profession": "", "q-age": "30"}


def asking(project: Project, *, when: str = "before", **options: object) -> Campaign:
    questions = Questionnaire(when, QUESTIONS).to_dict()
    return make_campaign(make_dataset(project, items=2, systems=("Ada", "Bo")), questions=questions, **options)


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def to(page: Any) -> str:
    return str(page.headers.get("Location", ""))


def test_questions_are_announced_asked_before_the_first_item_and_answered_once(project, client: Client) -> None:
    campaign = asking(project, instructions="Read.", consent="Agree?", rater_language="de")
    landing = client.get(url("landing", campaign)).content.decode()
    assert "Was ist Ihre Muttersprache?" in landing
    assert "Which others do you read?" in landing

    assert to(client.post(url("consent", campaign), {"agree": "1"})) == url("questions", campaign)
    assert to(client.get(url("work", campaign))) == url("questions", campaign)
    page = client.get(url("questions", campaign)).content.decode()
    assert "Eine andere Sprache" in page
    refused = client.post(url("questions", campaign), {"q-age": "12", "q-profession": "<b>nurse</b>"})
    assert refused.status_code == 400
    assert "Bitte beantworten Sie diese Frage." in refused.content.decode()
    assert "&lt;b&gt;nurse" in refused.content.decode()  # what was typed stays
    assert not RaterAnswer.objects.exists()

    assert to(client.post(url("questions", campaign), GIVEN)) == url("instructions", campaign)
    assert client.get(url("work", campaign)).status_code == 200
    assert to(client.get(url("questions", campaign))) == url("work", campaign)
    client.post(url("questions", campaign), {**GIVEN, "q-native_language": "English"})
    stored = dict(RaterAnswer.objects.values_list("question", "values"))
    assert stored == {"native_language": ["Deutsch"], "others": ["English"], "age": ["30"]}


def test_questions_after_the_first_item_wait_for_it(project, client: Client) -> None:
    campaign = asking(project, when="after")
    assert "After the first item you are asked once" in client.get(url("landing", campaign)).content.decode()
    assert to(client.post(url("consent", campaign))) == url("work", campaign)
    page = client.get(url("work", campaign)).content.decode()
    assert "Send" in page
    rater = Rater.objects.get()
    rate_next(campaign, rater)
    assert to(client.get(url("work", campaign))) == url("questions", campaign)
    part = client.get(url("work", campaign), headers={"X-Rater-Part": "1"})
    assert (part.status_code, part.headers["X-Rater-Go"]) == (204, url("questions", campaign))
    assert to(client.post(url("questions", campaign), GIVEN)) == url("work", campaign)
    assert not questions_are_due(campaign=campaign, rater=rater)


@pytest.fixture
def answered(project) -> Campaign:
    """Two raters with German rate 5, one with English rates 1; each rates everything."""
    campaign = asking(project, ratings_per_unit=3)
    for name, language, value in (("Kim", "Deutsch", 5), ("Lee", "Deutsch", 5), ("Mo", "English", 1)):
        rater = join(campaign, name)
        given = {"native_language": [language], "profession": ["nurse"], "age": ["40"]}
        assert questions_answer(campaign=campaign, rater=rater, given=given)
        while rate_next(campaign, rater, value):
            pass
    return campaign


def test_results_are_filtered_by_an_answer(answered: Campaign, as_user, manager: User, viewer: User) -> None:
    cache.clear()
    everybody, german = compute_results([answered]), compute_results([answered], {"rater.native_language": "Deutsch"})
    assert [each.estimate for each in everybody.criteria[0].systems] == pytest.approx([11 / 3] * 2)
    assert [each.estimate for each in german.criteria[0].systems] == [5, 5]
    assert german.left_out.parts == ["4 by raters whom the filter leaves out"]
    both = {"rater.native_language": "Deutsch", "rater.profession": "nurse"}
    assert compute_results([answered], both).ratings == 8

    page = reverse("annotation:campaign-results", args=[answered.project.slug, answered.pk])
    api = f"/api/v1/projects/{answered.project.slug}/campaigns/{answered.pk}/results/"
    query = {"rater.native_language": "English"}
    shown = as_user(manager).get(page, query).content.decode()
    assert "Deutsch (2 raters)" in shown
    assert "by 1 rater" in " ".join(shown.split())
    assert as_user(manager).get(api, query).json()["raters"] == 1
    unfiltered = as_user(viewer).get(page).content.decode()
    assert "Deutsch" not in unfiltered
    for refused in (page, api, reverse("annotation:results-download", args=[answered.project.slug, "systems", "csv"])):
        assert as_user(viewer).get(refused, query | {"campaign": answered.pk}).status_code == 403


def test_the_command_filters_by_an_answer(answered: Campaign, capsys) -> None:
    arguments = ("results", "--project", answered.project.slug, "--campaign", answered.name, "--format", "json")
    call_command(*arguments, "--rater", "native_language=English")
    assert json.loads(capsys.readouterr().out)["raters"] == 1
    with pytest.raises(Exception, match="QUESTION=ANSWER"):
        call_command(*arguments, "--rater", "English")


def test_viewers_see_counts_and_managers_the_answers(answered: Campaign, as_user, manager: User, viewer: User) -> None:
    slug, pk = answered.project.slug, answered.pk
    kim = Rater.objects.get(pseudonym="Kim")
    raters = reverse("annotation:campaign-raters", args=[slug, pk])
    one = reverse("annotation:campaign-rater", args=[slug, pk, kim.pk])
    table = reverse("annotation:campaign-record-table", args=[slug, pk, "rater_answers", "csv"])
    record = reverse("annotation:campaign-record-download", args=[slug, pk])
    assert "English: 1; Deutsch: 2" in " ".join(as_user(viewer).get(raters).content.decode().split())
    assert "nurse" not in as_user(viewer).get(raters).content.decode()
    assert "About this rater" not in as_user(viewer).get(one).content.decode()
    assert "nurse" in as_user(manager).get(one).content.decode()
    for address in (table, record):
        assert as_user(viewer).get(address).status_code == 403
    rows = b"".join(as_user(manager).get(table)).decode()
    assert f"named-{kim.pk}" in rows
    assert "Kim" not in rows
    with zipfile.ZipFile(io.BytesIO(b"".join(as_user(manager).get(record)))) as zipped:
        assert len(zipped.read("rater_answers.jsonl").splitlines()) == 9
        assert json.loads(zipped.read("design.json"))["questions"]["when"] == "before"
        methods = zipped.read("methods.md").decode()
    assert "asked 4 questions about themselves before the first item; 3 raters answered." in methods
    assert "English: 1; Deutsch: 2 (of 3)" in methods
    assert "nurse" not in methods


def test_numbers_have_quartiles_once_no_single_rater_shows_through(project) -> None:
    campaign = asking(project)
    for age in (20, 30, 40, 50, 60):
        assert answer_counts(campaign)[3].quartiles is None
        given = {"native_language": ["English"], "age": [str(age)]}
        questions_answer(campaign=campaign, rater=join(campaign), given=given)
    assert answer_counts(campaign)[3].quartiles == (30, 40, 50)


def test_answers_are_erased_with_the_identity(answered: Campaign, as_user, owner: User) -> None:
    kim = Rater.objects.get(pseudonym="Kim")
    held = as_user(owner).post(reverse("annotation:rater-held", args=[answered.project.slug]), {"wanted": "Kim"})
    assert "profession: nurse" in held.content.decode()
    before = compute_results([answered], {"rater.native_language": "Deutsch"}).ratings
    assert rater_erase(rater=kim).answers == 3
    assert not RaterAnswer.objects.filter(participation__rater=kim).exists()
    assert Participation.objects.get(rater=kim).questions_answered_at is not None
    assert compute_results([answered], {"rater.native_language": "Deutsch"}).ratings == before // 2
