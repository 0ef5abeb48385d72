"""Skipping earns nothing at any of the pages by which raters leave, and what was skipped can be rated after all."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.selectors import Unfilled, unfilled
from annotation.campaigns.services.lifecycle import campaign_close
from annotation.models import (
    AuditEntry,
    Campaign,
    Participation,
    Presentation,
    Project,
    Rater,
    Slot,
    SlotState,
    Submission,
)
from annotation.quality.selectors.monitoring.live import campaign_monitor
from annotation.quality.services.decisions import rater_exclude
from annotation.rating.selectors.endings import Ending, Stay, stay_of
from annotation.rating.selectors.handout import Waiting, progress
from annotation.rating.services.handout import skips_offer, unit_request, unit_return
from annotation.recruitment.selectors import submission_rows
from annotation.recruitment.services.terms import terms_of
from tests.annotation.worlds.campaigns import answer, join, make_campaign, make_dataset, rate_next
from tests.annotation.worlds.recruited import make_recruitment

PERSON = "60bf9310e8dec401be6e9615"
CODE = "THANKS-42"


@pytest.fixture
def campaign(project: Project) -> Campaign:
    """Twelve units, of which one rater is to rate eight."""
    return make_campaign(make_dataset(project), min_units_per_rater=8, completion_code=CODE)


def url(name: str, campaign: Campaign) -> str:
    return reverse(f"annotation:rater-{name}", args=[campaign.link_token])


def work(client: Client, campaign: Campaign) -> Presentation | None:
    response = client.get(url("work", campaign))
    return response.context["presentation"] if response.status_code == 200 else None


def send(client: Client, campaign: Campaign) -> bool:
    shown = work(client, campaign)
    if shown is not None:
        client.post(url("submit", campaign), {"token": str(shown.token), "r0-relevance": "4"})
    return shown is not None


def skip_rest(client: Client, campaign: Campaign) -> int:
    n = 0
    while (shown := work(client, campaign)) is not None:
        client.post(url("return", campaign), {"token": str(shown.token)})
        n += 1
    return n


def skip_all(campaign: Campaign, rater: Rater) -> int:
    n = 0
    while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
        unit_return(presentation=shown)
        n += 1
    return n


def stay(campaign: Campaign, rater: Rater) -> Stay:
    return stay_of(campaign=campaign, participation=Participation.objects.get(campaign=campaign, rater=rater))


def test_rating_one_and_skipping_eleven_earns_no_code_until_enough_are_rated(campaign: Campaign) -> None:
    client = Client()
    client.post(url("consent", campaign), {"agree": "1"})
    assert send(client, campaign)
    assert skip_rest(client, campaign) == 11
    page = client.get(url("finish", campaign)).content.decode()
    assert CODE not in page
    assert "You skipped 11 items, which do not count." in page
    promise = "7 more items, and there is a completion code for you."
    assert promise in page
    Campaign.objects.filter(pk=campaign.pk).update(completion_code="")
    assert promise not in client.get(url("finish", campaign)).content.decode(), "there is none"
    Campaign.objects.filter(pk=campaign.pk).update(completion_code=CODE)
    assert client.get(url("skipped", campaign)).status_code == 405
    client.post(url("skipped", campaign))
    for n in range(7):
        assert CODE not in client.get(url("finish", campaign)).content.decode(), n
        assert send(client, campaign)
    assert CODE in client.get(url("finish", campaign)).content.decode()


def test_a_skip_is_answered_by_what_it_means(campaign: Campaign) -> None:
    client = Client()
    client.post(url("consent", campaign), {"agree": "1"})
    shown = work(client, campaign)
    assert shown is not None
    client.post(url("return", campaign), {"token": str(shown.token)})
    assert "A skipped item does not count" in client.get(url("work", campaign)).content.decode()
    assert "Skipped items do not count" in client.get(url("instructions", campaign)).content.decode()
    assert Client().post(url("skipped", campaign)).status_code == 404


@pytest.mark.parametrize("provider", ["prolific", "mturk"])
def test_no_provider_gets_a_code_for_skipping_everything(campaign: Campaign, provider: str) -> None:
    recruitment = make_recruitment(campaign, None, provider=provider)
    query = {
        "prolific": {"PROLIFIC_PID": PERSON, "STUDY_ID": "study", "SESSION_ID": "session"},
        "mturk": {"assignmentId": "3A", "hitId": "3H", "workerId": "A1", "turkSubmitTo": "https://www.mturk.com"},
    }[provider]
    client = Client()
    client.get(f"{reverse('annotation:provider-entry', args=[recruitment.link_token])}?{urlencode(query)}")
    client.post(url("consent", campaign), {"agree": "1"})
    assert skip_rest(client, campaign) == 12
    for ended in (False, True):
        if ended:
            campaign_close(campaign=campaign)
        for query in ({}, {"stopped": "1"}):
            page = client.get(url("finish", campaign), query).content.decode()
            assert "externalSubmit" not in page
            assert not [code.outcome for code in terms_of(recruitment).codes if code.code in page]
        assert ("Rate what you skipped" in page) != ended
    assert list(Submission.objects.values_list("outcome", "code")) == [("", "")]


def test_skipped_units_that_others_rated_since_are_not_work_that_ran_out(campaign: Campaign) -> None:
    rater, others = join(campaign), [join(campaign), join(campaign)]
    assert rate_next(campaign, rater)
    assert skip_all(campaign, rater) == 11
    assert (stay(campaign, rater).ending, stay(campaign, rater).waiting) == (Ending.SKIPPED, Waiting.SKIPPED)
    for other in others:
        while rate_next(campaign, other):
            pass
    now = stay(campaign, rater)
    assert (now.ending, now.waiting, now.entitled) == (Ending.SKIPPED, Waiting.COMPLETE, False)
    assert (now.skips.total, now.skips.left) == (11, 0)


def test_work_that_ran_out_whatever_was_skipped_still_earns_the_code(campaign: Campaign) -> None:
    """Three units are left for this rater, who skips two; all three would not have been enough."""
    for other in (join(campaign), join(campaign)):
        for _ in range(9):
            assert rate_next(campaign, other)
    rater = join(campaign)
    assert rate_next(campaign, rater)
    skipped = skip_all(campaign, rater)
    assert 0 < skipped < 7
    assert stay(campaign, rater).ending == Ending.SKIPPED  # they can still be rated
    campaign.units.update(done_slots=campaign.ratings_per_unit)
    now = stay(campaign, rater)
    assert (now.ending, now.entitled) == (Ending.RAN_OUT, True)


def test_skipped_units_come_again_after_all_others_and_only_on_request(campaign: Campaign) -> None:
    rater = join(campaign)
    first = unit_request(campaign=campaign, rater=rater)
    assert first is not None
    unit_return(presentation=first)
    skips_offer(campaign=campaign, rater=rater)
    assert progress(campaign=campaign, rater=rater).left == 12
    units = []
    while shown := rate_next(campaign, rater):
        units.append(shown.unit_id)
    assert (len(set(units)), units[-1]) == (12, first.unit_id)

    idle = join(campaign)
    assert skip_all(campaign, idle) == 12
    assert skip_all(campaign, idle) == 0
    skips_offer(campaign=campaign, rater=idle)
    assert stay(campaign, idle).ending == Ending.STOPPED_EARLY
    assert skip_all(campaign, idle) == 12


def test_a_unit_answered_on_both_of_its_screens_counts_and_is_paid_once(campaign: Campaign) -> None:
    recruitment, rater = make_recruitment(campaign, None), join(campaign)
    Submission.objects.create(recruitment=recruitment, rater=rater, external_id="session")
    skipped = []
    while (shown := unit_request(campaign=campaign, rater=rater)) is not None:
        unit_return(presentation=shown)
        skipped.append(shown)
    skips_offer(campaign=campaign, rater=rater)
    for _ in range(4):
        assert rate_next(campaign, rater)
    for shown in skipped:
        if Presentation.objects.filter(rater=rater, unit=shown.unit, outcome="submitted").exists():
            answer(shown)  # from a tab that was left open
    assert stay(campaign, rater).done == 4
    assert [row.screens for row in submission_rows(recruitment)] == [4]
    assert Slot.objects.filter(rater=rater, state=SlotState.DONE).count() == 4


def test_a_campaign_says_what_only_a_new_rater_can_fill_and_forecasts_no_end(project: Project) -> None:
    campaign = make_campaign(make_dataset(project, items=2, systems=("Ada",)), ratings_per_unit=2)
    assert unfilled(campaign, 4) == Unfilled(raters=0, slots=4, new=4, skipped=0)
    first, second = join(campaign), join(campaign)
    assert unfilled(campaign, 4) == Unfilled(raters=2, slots=4, new=0, skipped=0)
    rate_next(campaign, first, 3)
    assert campaign_monitor(campaign).pace.end is not None
    rate_next(campaign, first, 3)
    rate_next(campaign, second, 3)
    assert skip_all(campaign, second) == 1
    left = unfilled(campaign, 1)
    assert left == Unfilled(raters=2, slots=1, new=0, skipped=1)
    assert left.sentences[0].startswith("1 slot was skipped by every rater here who may still fill it")
    monitor = campaign_monitor(campaign)
    assert (monitor.slots_done, monitor.slots_total, monitor.pace.end) == (3, 4, None)
    skips_offer(campaign=campaign, rater=second)
    rater_exclude(campaign=campaign, rater=second, reason="Spam")
    left = unfilled(campaign, 1)
    assert left == Unfilled(raters=2, slots=1, new=1, skipped=0)
    assert left.sentences[0].startswith("1 slot can be filled only by a new rater")
    campaign = campaign_close(campaign=campaign)
    assert AuditEntry.objects.get(verb="campaign.close").summary.endswith("1 slot not filled.")
    assert campaign_monitor(campaign).unfilled is None


def test_the_page_of_a_campaign_and_its_closing_say_what_is_left(project: Project, manager, as_user) -> None:
    campaign = make_campaign(make_dataset(project, items=1, systems=("Ada",)), ratings_per_unit=2)
    rate_next(campaign, join(campaign), 3)
    page = reverse("annotation:campaign-detail", args=[project.slug, campaign.pk])
    text = " ".join(as_user(manager).get(page).content.decode().split())
    assert "1 slot stays unfilled." in text
    monitor = reverse("annotation:campaign-monitor-fragment", args=[project.slug, campaign.pk])
    assert "1 slot can be filled only by a new rater" in as_user(manager).get(monitor).content.decode()
