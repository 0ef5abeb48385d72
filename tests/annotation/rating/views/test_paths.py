"""A rater's way through a campaign: admission, language, answers, training and the end."""

import re
import uuid
from collections.abc import Callable

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.campaigns.selectors import slots_unfilled, unfilled
from annotation.campaigns.services.lifecycle import campaign_close
from annotation.models import (
    AnswerDraft,
    Campaign,
    Participation,
    Presentation,
    PresentationOutcome,
    Project,
    Purpose,
    Rater,
    RaterIdentity,
    Rating,
    Slot,
    SlotState,
    Stage,
    Unit,
    User,
)
from annotation.rating.selectors.endings import Ending, stay_of
from annotation.rating.selectors.handout import skips_of
from annotation.rating.services.ratings import LONGEST_DRAFT
from annotation.rating.views import work
from tests.annotation.worlds import rating_screens
from tests.annotation.worlds.campaigns import make_campaign, make_dataset

PART = {"X-Rater-Part": "1"}


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project), completion_code="THANKS-42")


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def joined(campaign: Campaign, client: Client | None = None, **post: str) -> Client:
    client = client or Client()
    assert client.post(url("consent", campaign), {"agree": "1", **post}).status_code == 302
    return client


def latest() -> Presentation:
    return Presentation.objects.order_by("-id")[0]


def answer(client: Client, campaign: Campaign, *, part: bool = True, **fields: object):
    data = {"token": str(latest().token), "r0-relevance": 4, **fields}
    return client.post(url("submit", campaign), data, headers=PART if part else {})


# --- Admission --------------------------------------------------------------------------------------------------------


def test_a_name_is_required_if_the_campaign_asks_for_names(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), admission="named")
    client = Client()
    assert re.search(r'name="name"[^>]* required', client.get(url("landing", campaign)).content.decode())
    refused = client.post(url("consent", campaign), {"agree": "1", "name": "  "})
    assert refused.status_code == 400
    assert "Please enter a name or nickname." in refused.content.decode()
    joined(campaign, client, name="Kim")
    assert Rater.objects.get().pseudonym == "Kim"


def test_an_account_is_the_same_rater_in_every_browser_and_its_name_is_not_stored(
    project: Project, outsider: User, as_user: Callable[[User], Client]
) -> None:
    campaign = make_campaign(make_dataset(project), admission="account")
    stranger = Client()
    page = stranger.get(url("landing", campaign)).content.decode()
    assert f"{reverse('login')}?next={url('landing', campaign)}" in page
    assert stranger.post(url("consent", campaign), {"agree": "1"}).status_code == 400

    joined(campaign, as_user(outsider))
    second_browser = as_user(outsider)
    assert "Welcome back" in second_browser.get(url("landing", campaign)).content.decode()
    assert second_browser.get(url("work", campaign)).status_code == 200
    assert Rater.objects.count() == 1
    assert outsider.username not in Rater.objects.get().pseudonym
    assert RaterIdentity.objects.values_list("provider", "local_id").get() == ("account", str(outsider.pk))


# --- Languages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepted", "lang", "direction"),
    [("de-AT,en;q=0.5", "de", "ltr"), ("nl,ar;q=0.8", "ar", "rtl"), ("zh-CN", "zh-hans", "ltr"), ("nl", "en", "ltr")],
)
def test_the_page_is_in_the_browsers_language(campaign: Campaign, accepted: str, lang: str, direction: str) -> None:
    response = Client().get(url("landing", campaign), headers={"Accept-Language": accepted})
    assert f'<html lang="{lang}" dir="{direction}"' in response.content.decode()
    assert "Accept-Language" in response.headers["Vary"]
    assert translation.get_language() == "en"


def test_the_campaigns_language_comes_before_the_raters_choice_and_that_before_the_browsers(campaign: Campaign) -> None:
    client = Client(headers={"Accept-Language": "de"})
    response = client.post(url("language", campaign), {"language": "es", "next": url("work", campaign)})
    assert response.headers["Location"] == url("work", campaign)
    assert '<html lang="es"' in client.get(url("landing", campaign)).content.decode()
    Campaign.objects.filter(pk=campaign.pk).update(rater_language="ar")
    page = client.get(url("landing", campaign)).content.decode()
    assert '<html lang="ar" dir="rtl"' in page
    assert "rater-languages" not in page  # there is nothing to choose


@pytest.mark.parametrize("next_url", ["https://example.org/", "//example.org", "/p/", ""])
def test_choosing_a_language_redirects_only_to_raters_pages(campaign: Campaign, next_url: str) -> None:
    response = Client().post(url("language", campaign), {"language": "xx", "next": next_url})
    assert response.headers["Location"] == url("landing", campaign)
    assert "assay_rater_language" not in response.cookies


def test_other_pages_are_in_english(campaign: Campaign, client: Client) -> None:
    assert "Sign in" in client.get(reverse("login"), headers={"Accept-Language": "de"}).content.decode()


# --- Answers ----------------------------------------------------------------------------------------------------------


def test_a_script_gets_the_next_item_in_the_response(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    first = latest()
    response = answer(client, campaign)
    page = response.content.decode()
    assert response.headers["X-Rater-Url"] == url("work", campaign)
    assert str(latest().token) in page
    assert f"?unit={first.token}" in page  # the link to the earlier item
    assert "<html" not in page
    assert 'id="rater-view"' in page


def test_a_script_that_submits_twice_stores_one_rating_and_gets_the_same_next_item(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    data = {"token": str(latest().token), "r0-relevance": 4}
    pages = [client.post(url("submit", campaign), data, headers=PART) for _ in range(2)]
    tokens = [re.findall(r'name="token" value="([^"]+)"', page.content.decode())[0] for page in pages]
    assert tokens[0] == tokens[1]
    assert "has been changed" not in pages[1].content.decode()
    assert Rating.objects.count() == 1


def test_a_script_gets_the_address_of_the_last_page_at_the_end(project: Project) -> None:
    short = make_campaign(make_dataset(project), max_units_per_rater=1)
    client = joined(short)
    client.get(url("work", short))
    response = answer(client, short)
    assert (response.status_code, response.headers["X-Rater-Go"]) == (204, url("finish", short))


def test_an_answer_takes_a_bounded_number_of_queries(
    campaign: Campaign, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    answer(client, campaign)
    with django_assert_max_num_queries(22):  # type: ignore[attr-defined]
        answer(client, campaign)  # store it, hand out the next item and render it


def test_a_check_looks_exactly_like_work(project: Project) -> None:
    quality = {"every": 2, "mix": {"gold": 1}, "gold": [rating_screens.prepared(f"Yes {n}.", 1, 2) for n in range(9)]}
    campaign = make_campaign(make_dataset(project), quality=quality)
    client = joined(campaign)
    shapes: dict[str, set[str]] = {"work": set(), "check": set()}
    page = client.get(url("work", campaign)).content.decode()
    for _ in range(8):
        presentation = latest()
        shapes["work" if presentation.purpose == Purpose.WORK else "check"].add(shape(page))
        assert presentation.purpose not in page.replace("work/", "")
        response = answer(client, campaign)
        page = client.get(url("work", campaign)).content.decode()
        assert response.status_code == 200
    assert shapes["check"]
    assert shapes["check"] <= shapes["work"]


def shape(page: str) -> str:
    """Return the markup without what differs between any two items."""
    main = page.split("<main")[1].split("</main>")[0]
    main = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\.[0-9a-f]{8}\b|csrfmiddlewaretoken\" value=\"\w+", "", main)
    main = re.sub(r'<a class="btn btn-secondary" id="rater-back".*?</a>|<li class="turn".*?</li>', "", main, flags=re.S)
    main = re.sub(r'<span class="turn-label".*?</span>| · <kbd>z</kbd> back', "", main, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r">[^<]+<", "><", main))


def test_a_preference_a_reason_and_a_comment_are_read_from_the_form(project: Project) -> None:
    campaign = rating_screens.choices(project, rating_screens.RELEVANT, comment="required", cannot_judge_reasons=["No"])
    client = joined(campaign)
    client.get(url("work", campaign))
    suffix = f".{latest().token.hex[:8]}"
    missing = answer(client, campaign, **{"r1-relevance": 3})
    page = missing.content.decode()
    assert missing.status_code == 400
    assert "2 answers below are still needed" in page
    assert "Please write a few words." in page
    data = {
        f"r1-relevance{suffix}": "3",
        f"cannot-1{suffix}": "",
        f"r0-better{suffix}": "-1",
        f"comment{suffix}": "A\r\nB",
    }
    assert answer(client, campaign, **data).status_code == 200
    assert Presentation.objects.order_by("id")[0].comments.get().text == "A\nB"
    assert set(Rating.objects.filter(criterion__name="better").values_list("position", "value")) == {(0, -1), (1, 1)}


def test_a_draft_is_stored_only_for_its_own_rater(project: Project) -> None:
    campaign = rating_screens.lists(project)
    client, other_client = joined(campaign), joined(campaign)
    client.get(url("work", campaign))
    data = {"token": str(latest().token), f"r2-fluency.{latest().token.hex[:8]}": "5", "csrfmiddlewaretoken": "x"}
    assert other_client.post(url("draft", campaign), data).status_code == 403
    assert Client().post(url("draft", campaign), data).status_code == 404
    assert client.post(url("draft", campaign), data).status_code == 204
    assert AnswerDraft.objects.get().fields == {"r2-fluency": "5"}
    assert re.search(
        r'name="r2-fluency\.[0-9a-f]{8}" value="5" checked', client.get(url("work", campaign)).content.decode()
    )
    assert client.post(url("draft", campaign), {**data, "comment": "x" * LONGEST_DRAFT}).status_code == 400


def test_text_that_cannot_be_stored_is_refused(project: Project) -> None:
    campaign = rating_screens.lists(project, comment="optional", cannot_judge_reasons=["No"])
    client = joined(campaign)
    client.get(url("work", campaign))
    for name in ("comment", "cannot-0", "r0-fluency", "r0-\x00"):
        data = {"token": str(latest().token), name: "a\x00b"}
        assert client.post(url("draft", campaign), data).status_code == 400
        assert client.post(url("submit", campaign), data).status_code == 400
    assert not Rating.objects.exists()


def test_an_earlier_answer_cannot_judge_is_shown_with_its_reason(project: Project) -> None:
    campaign = rating_screens.choices(project, cannot_judge_reasons=["No", "Garbled"])
    client = joined(campaign)
    client.get(url("work", campaign))
    token = latest().token
    data = {"token": str(token), f"cannot-0.{token.hex[:8]}": "Garbled"}
    assert client.post(url("submit", campaign), data).status_code == 302
    page = client.get(url("work", campaign), {"unit": str(token)}).content.decode()
    assert page.count('<option value="Garbled" selected>') == 1
    assert client.post(url("submit", campaign), data).status_code == 302
    assert Rating.objects.count() == 2


def test_a_campaign_closed_during_a_submission_shows_a_note(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    submit = work.ratings_submit

    def close_and_submit(**data: object) -> object:
        campaign_close(campaign=campaign)
        return submit(**data)  # type: ignore[arg-type]

    monkeypatch.setattr(work, "ratings_submit", close_and_submit)
    response = answer(client, campaign, part=False)
    assert response.headers["Location"] == url("finish", campaign)
    assert "closed in the meantime" in client.get(url("finish", campaign)).content.decode()


# --- Training and test ------------------------------------------------------------------------------------------------


def test_feedback_names_the_ends_of_a_slider(project: Project) -> None:
    screen = {"message": "How are you?", "texts": [{"text": "Fine!", "expected": {"adequacy": [70, 100]}}]}
    campaign = rating_screens.sliders(project, qualification={"training": [screen]})
    client = joined(campaign)
    client.get(url("work", campaign))
    data = {"token": str(latest().token), "r0-adequacy": 0}
    page = client.post(url("submit", campaign), data, headers=PART).content.decode()
    assert "<bdi>0 (None)</bdi>" in page
    assert "<bdi>70 – 100 (All)</bdi>" in page


def test_feedback_names_a_preference_by_the_letters_on_screen(project: Project) -> None:
    texts = [{"text": "Fine!", "expected": {"better": [1, 2]}}, {"text": "Bananas."}]
    campaign = rating_screens.choices(project, qualification={"training": [{"message": "Hi", "texts": texts}] * 24})
    client = joined(campaign)
    fine_letters = set()
    for _ in range(24):  # the texts change places
        client.get(url("work", campaign))
        fine_is_a = latest().order[0] == 0
        data = {"token": str(latest().token), "r0-better": -2 if fine_is_a else 2}
        page = client.post(url("submit", campaign), data, headers=PART).content.decode()
        fine, bananas = "AB" if fine_is_a else "BA"
        assert f"<bdi>{bananas} much better</bdi>" in page
        ends = [f"{fine} slightly better", f"{fine} much better"]
        assert f"<bdi>{' – '.join(ends if fine_is_a else ends[::-1])}</bdi>" in page
        fine_letters.add(fine)
    assert fine_letters == {"A", "B"}


def test_without_script_feedback_and_result_follow_a_redirect(project: Project) -> None:
    campaign = rating_screens.qualified(project)
    client = joined(campaign)
    assert "Training: one item." in client.get(url("instructions", campaign)).content.decode()
    client.get(url("work", campaign))
    trained = latest()
    response = answer(client, campaign, part=False, **{"r0-relevance": 1})
    assert response.headers["Location"] == f"{url('feedback', campaign)}?unit={trained.token}"
    page = client.get(response.headers["Location"]).content.decode()
    assert "<bdi>4 – 5</bdi>" in page
    assert "<strong>relevant</strong>" in page
    assert client.get(f"{url('feedback', campaign)}?unit={uuid.uuid4()}").status_code == 404
    for _ in range(2):
        client.get(url("work", campaign))
        response = answer(client, campaign, part=False, **{"r0-relevance": 3})
    result = response.headers["Location"]
    assert result.startswith(url("result", campaign))
    assert "You can try once more." in client.get(result).content.decode()
    assert joined(campaign).get(result).status_code == 404  # another rater's
    assert client.get(f"{url('result', campaign)}?of=made-up").status_code == 404


def test_training_shows_no_progress_bar_and_cannot_be_skipped(project: Project) -> None:
    campaign = rating_screens.qualified(project)
    client = joined(campaign)
    page = client.get(url("work", campaign)).content.decode()
    assert "Training 1 of 1" in page
    assert "rater-progress" not in page
    assert "Skip" not in page.replace("Skip to the task", "")


def test_a_final_failure_ends_with_thanks_and_without_a_code(project: Project) -> None:
    campaign = rating_screens.qualified(project)
    client = joined(campaign)
    for _ in range(5):
        client.get(url("work", campaign))
        answer(client, campaign, part=False, **{"r0-relevance": 3})
    assert client.get(url("work", campaign)).headers["Location"] == url("finish", campaign)
    page = client.get(url("finish", campaign)).content.decode()
    assert "Thank you for trying" in page
    assert "DONE-7" not in page


# --- Leaving ----------------------------------------------------------------------------------------------------------


def test_leaving_frees_the_item_skips_nothing_and_the_rater_can_go_on_later(campaign: Campaign) -> None:
    client = joined(campaign)
    left = re.search(r"up to \d+ left", client.get(url("work", campaign)).content.decode())
    assert left
    presentation = latest()
    for _ in range(2):
        response = client.post(url("return", campaign), {"token": str(presentation.token), "stop": "1"})
        assert response.headers["Location"] == f"{url('finish', campaign)}?stopped=1"
    presentation.refresh_from_db()
    assert presentation.outcome == PresentationOutcome.LAPSED
    assert Slot.objects.get(pk=presentation.slot_id).state == SlotState.RETURNED
    page = client.get(response.headers["Location"]).content.decode()
    assert "Thank you!" in page
    assert "Go on rating" in page
    assert "You skipped" not in page
    assert left[0] in client.get(url("work", campaign)).content.decode()
    assert skips_of(campaign=campaign, rater=presentation.rater).total == 0
    waiting = unfilled(campaign, slots_unfilled(campaign))
    assert waiting
    assert waiting.skipped == 0
    assert Unit.objects.count() > 1
    for _ in range(Unit.objects.count() - 1):
        assert latest().unit_id != presentation.unit_id  # the unit that was left comes last
        answer(client, campaign)
    assert latest().unit_id == presentation.unit_id


def test_the_code_is_shown_after_the_minimum_number_of_items(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), min_units_per_rater=2, completion_code="THANKS-42")
    client = joined(campaign)
    for n, expected in enumerate(["2 more items, and", "One more item, and", "THANKS-42"]):
        page = client.get(f"{url('finish', campaign)}?stopped=1").content.decode()
        assert expected in page
        assert ("THANKS-42" in page) == (n == 2)
        client.get(url("work", campaign))
        answer(client, campaign, part=False)


def test_a_rater_who_runs_out_of_work_before_the_minimum_gets_the_code(project: Project) -> None:
    dataset = make_dataset(project, items=1, systems=["Ada"])
    campaign = make_campaign(dataset, min_units_per_rater=2, ratings_per_unit=1, completion_code="THANKS-42")
    client, idle = joined(campaign), joined(campaign)
    client.get(url("work", campaign))
    answer(client, campaign)
    assert "THANKS-42" in client.get(url("finish", campaign)).content.decode()
    assert "THANKS-42" not in idle.get(url("finish", campaign)).content.decode()


def test_each_kind_of_ending_is_recognised(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=["Ada"]), min_units_per_rater=2, ratings_per_unit=1)
    client = joined(campaign)
    participation = Participation.objects.get()

    def ending() -> Ending:
        return stay_of(campaign=campaign, participation=participation).ending

    assert ending() == Ending.STOPPED_EARLY
    client.get(url("work", campaign))
    answer(client, campaign)
    assert ending() == Ending.RAN_OUT
    assert f"under the name {participation.rater}" in client.get(url("finish", campaign)).content.decode()
    Campaign.objects.filter(pk=campaign.pk).update(min_units_per_rater=1)
    campaign.refresh_from_db()
    assert ending() == Ending.COMPLETED
    participation.stage = Stage.FAILED
    assert ending() == Ending.FAILED_QUALIFICATION
    participation.excluded_at = participation.joined_at
    assert ending() == Ending.EXCLUDED


def test_an_excluded_rater_gets_a_friendly_last_page(campaign: Campaign) -> None:
    client = joined(campaign)
    client.get(url("work", campaign))
    answer(client, campaign)
    Participation.objects.update(excluded_at="2026-03-01T12:00Z")
    assert client.get(url("work", campaign)).headers["Location"] == url("finish", campaign)
    page = client.get(url("finish", campaign)).content.decode()
    assert "Your work here has ended" in page
    assert "THANKS-42" not in page


def test_a_late_visitor_reads_at_once_that_everything_is_rated(campaign: Campaign) -> None:
    Unit.objects.filter(campaign=campaign).update(done_slots=F("ratings_wanted"))
    page = Client().get(url("landing", campaign)).content.decode()
    assert "Everything has been rated" in page
    assert url("consent", campaign) not in page
    assert Client().post(url("consent", campaign), {"agree": "1"}).status_code == 400
    assert not Participation.objects.exists()


@pytest.mark.parametrize("name", ["instructions", "work", "break", "finish"])
def test_a_visitor_who_has_not_joined_is_redirected_to_the_first_page(campaign: Campaign, name: str) -> None:
    assert Client().get(url(name, campaign)).headers["Location"] == url("landing", campaign)


@pytest.mark.parametrize("name", ["feedback", "result"])
def test_a_visitor_who_has_not_joined_gets_404_for_results(campaign: Campaign, name: str) -> None:
    assert Client().get(url(name, campaign)).status_code == 404


def test_a_campaign_for_a_providers_raters_admits_none_by_its_own_link(project: Project) -> None:
    campaign = make_campaign(make_dataset(project), admission="provider")
    client = Client()
    assert "only people whom it was offered to elsewhere" in client.get(url("landing", campaign)).content.decode()
    refused = client.post(url("consent", campaign), {"agree": "1"})
    assert refused.status_code == 400
    assert not Participation.objects.filter(campaign=campaign).exists()


def test_questions_in_memory_are_those_of_this_screen_and_language(project: Project) -> None:
    campaign = make_campaign(make_dataset(project))
    screens = []
    for language in ("en", "de", "en"):
        client = joined(campaign)
        client.cookies["assay_rater_language"] = language
        page = client.get(url("work", campaign)).content.decode()
        token = latest().token.hex[:8]
        assert len(set(re.findall(r'name="r0-relevance\.(\w+)"', page))) == 1
        assert f'name="r0-relevance.{token}"' in page
        assert "\ue000" not in page
        screens.append(page[page.index("<fieldset") : page.index("</fieldset>")].replace(token, ""))
    english, german, again = screens
    assert english == again != german
    client = joined(campaign)
    client.get(url("work", campaign))
    answered = latest()
    answer(client, campaign)
    page = client.get(f"{url('work', campaign)}?unit={answered.token}").content.decode()
    assert re.search(r'value="4" checked', page)
