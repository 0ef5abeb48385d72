"""An address that names a rater is no proof: anyone can write one."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign, Project, Rater, RaterIdentity, Recruitment, Submission
from annotation.models import SubmissionStatus as Status
from annotation.recruitment.services import refreshing
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import make_campaign, make_dataset
from tests.annotation.worlds.recruited import make_recruitment, mturk_account, prolific_account

PERSON = "60bf9310e8dec401be6e9615"
OTHER = "5f5b97bd3f86bc79cdd0a9ff"
BASE = "http://127.0.0.1"


@pytest.fixture
def campaign(project: Project) -> Campaign:
    return make_campaign(make_dataset(project))


@pytest.fixture
def study(campaign: Campaign, fake_prolific: FakeProlific) -> Recruitment:
    return make_recruitment(campaign, prolific_account(campaign.project, fake_prolific), base=BASE)


@pytest.fixture
def hit(campaign: Campaign, fake_mturk: FakeMechanicalTurk) -> Recruitment:
    return make_recruitment(campaign, mturk_account(campaign.project, fake_mturk), provider="mturk", base=BASE)


def entry(recruitment: Recruitment, person: str = PERSON, session: str = "invented") -> str:
    ids = {"PROLIFIC_PID": person, "STUDY_ID": recruitment.external_id or "study", "SESSION_ID": session}
    return f"{reverse('annotation:provider-entry', args=[recruitment.link_token])}?{urlencode(ids)}"


def path(url: str) -> str:
    return url.removeprefix(BASE)


def rater_cookie(client: Client, campaign: Campaign) -> str:
    morsel = client.cookies.get(f"assay_rater_{campaign.project_id}")
    return morsel.value if morsel else ""


def work_begins(client: Client, campaign: Campaign) -> None:
    client.post(reverse("annotation:rater-consent", args=[campaign.link_token]), {"agree": "1"})
    token = client.get(reverse("annotation:rater-work", args=[campaign.link_token])).context["presentation"].token
    client.post(
        reverse("annotation:rater-submit", args=[campaign.link_token]), {"token": str(token), "r0-relevance": "4"}
    )


# --- Connected with the provider --------------------------------------------------------------------------------------


def test_a_known_id_with_an_invented_session_gets_no_cookie_and_ends_no_submission(
    study: Recruitment, campaign: Campaign, fake_prolific: FakeProlific
) -> None:
    _, url = fake_prolific.participant_enters(study.external_id, PERSON)
    honest = Client()
    honest.get(path(url))
    work_begins(honest, campaign)
    thief = Client()
    refused = thief.get(entry(study))
    assert refused.status_code == 400
    assert "Prolific knows no such submission" in refused.content.decode()
    assert not rater_cookie(thief, campaign)
    assert [submission.status for submission in Submission.objects.all()] == [Status.ACTIVE]
    again = Client()
    again.get(path(url))  # with both of their own ids, from another device
    assert rater_cookie(again, campaign).split(":")[0] == rater_cookie(honest, campaign).split(":")[0]


def test_another_participants_session_gets_no_cookie(
    study: Recruitment, campaign: Campaign, fake_prolific: FakeProlific
) -> None:
    _, victim = fake_prolific.participant_enters(study.external_id, PERSON)
    Client().get(path(victim))
    mine, _ = fake_prolific.participant_enters(study.external_id, OTHER)
    for person, session in ((PERSON, mine.id), (OTHER, Submission.objects.get().external_id)):
        thief = Client()
        refused = thief.get(entry(study, person, session))
        assert refused.status_code == 400
        assert "belongs to another rater" in refused.content.decode()
        assert not rater_cookie(thief, campaign)


def test_another_studys_session_is_refused(campaign: Campaign, study: Recruitment, fake_prolific: FakeProlific) -> None:
    second = make_recruitment(campaign, study.account, base=BASE)
    elsewhere, _ = fake_prolific.participant_enters(second.external_id, PERSON)
    refused = Client().get(entry(study, PERSON, elsewhere.id))
    assert refused.status_code == 400
    assert Rater.objects.count() == 0


def test_invented_ids_are_not_admitted(study: Recruitment) -> None:
    for n in range(8):
        assert Client().get(entry(study, f"{n:024d}", f"session{n}")).status_code == 400
    assert (Rater.objects.count(), Submission.objects.count()) == (0, 0)


def test_a_paid_stranger_waits_while_the_provider_is_away_and_is_not_lost(
    study: Recruitment, campaign: Campaign, fake_prolific: FakeProlific
) -> None:
    _, url = fake_prolific.participant_enters(study.external_id, PERSON)
    fake_prolific.fail(503, times=2, where="/submissions/")
    client = Client()
    waits = client.get(path(url))
    assert waits.status_code == 503
    assert int(waits.headers["Retry-After"]) > 0
    page = waits.content.decode()
    assert "You keep your place there" in page
    assert path(url).replace("&", "&amp;") in page
    assert Rater.objects.count() == 0
    assert client.get(path(url)).status_code == 302
    fake_prolific.fail(503, times=99)
    assert Client().get(path(url)).status_code == 302  # confirmed before


def test_the_provider_is_asked_a_limited_number_of_times(
    study: Recruitment, fake_prolific: FakeProlific, settings
) -> None:
    settings.RATER_ARRIVALS_PER_MINUTE = 3
    answers = [Client().get(entry(study, f"{n:024d}", f"session{n}")).status_code for n in range(5)]
    assert answers == [400, 400, 400, 429, 429]
    assert fake_prolific.count("GET /api/v1/submissions/") == 3


# --- Mechanical Turk, which names the worker of an assignment only at its end -----------------------------------------


def test_an_assignment_that_amazon_does_not_know_is_refused(
    hit: Recruitment, campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    assignment, url = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    assert Client().get(path(url)).status_code == 302
    thief = Client()
    assert thief.get(path(url).replace(assignment.id, "3INVENTED")).status_code == 400
    assert not rater_cookie(thief, campaign)


def test_a_worker_with_an_own_assignment_is_not_taken_for_another_worker(
    hit: Recruitment, campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    victim, url = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    honest = Client()
    honest.get(path(url))
    _, other = fake_mturk.worker_accepts(hit.external_id, "A2THIEF")
    thief = Client()
    page = thief.get(path(other).replace("A2THIEF", "A1WORKER"))
    assert page.status_code == 409
    assert "Please go on where you began" in page.content.decode()
    assert not rater_cookie(thief, campaign)
    # The worker who returns the HIT and accepts it again goes on, in the same browser.
    fake_mturk.worker_returns(victim.id)
    _, again = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    assert honest.get(path(again)).status_code == 302
    assert Rater.objects.count() == 1


def test_a_submission_that_the_provider_gives_to_another_worker_is_marked(
    hit: Recruitment, campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    assignment, url = fake_mturk.worker_accepts(hit.external_id, "A2THIEF")
    Client().get(path(url).replace("A2THIEF", "A1WORKER"))
    fake_mturk.worker_submits(assignment.id, {"code": "x"})
    refreshing.recruitment_refresh(recruitment=hit)
    assert Submission.objects.get().note == "The provider names another rater."


# --- By hand: there is no one to ask ----------------------------------------------------------------------------------


def test_by_hand_a_known_id_with_another_session_is_recognised_only_in_its_own_browser(campaign: Campaign) -> None:
    by_hand = make_recruitment(campaign, None)
    honest = Client()
    honest.get(entry(by_hand, session="one"))
    work_begins(honest, campaign)
    thief = Client()
    refused = thief.get(entry(by_hand, session="two"))
    assert refused.status_code == 409
    assert not rater_cookie(thief, campaign)
    assert Submission.objects.get().status == Status.ACTIVE
    assert honest.get(entry(by_hand, session="two")).status_code == 302
    assert Rater.objects.count() == 1


def test_by_hand_a_known_id_in_another_campaign_is_a_rater_of_its_own(campaign: Campaign) -> None:
    """The person may have a new device, and must not lose the place; but nothing of the first rater is handed over."""
    first = make_recruitment(campaign, None)
    Client().get(entry(first, session="one"))
    other = make_campaign(campaign.dataset, name="Other")
    second = make_recruitment(other, None)
    for _ in range(2):
        assert Client().get(entry(second, session="two")).status_code == 302
    known = [(each.external_id, each.session) for each in RaterIdentity.objects.order_by("pk")]
    assert known == [(PERSON, "one"), (PERSON, "two")]


def test_by_hand_no_more_are_admitted_than_there_are_places(campaign: Campaign) -> None:
    by_hand = make_recruitment(campaign, None, places=5, minutes=15)
    answers = [Client().get(entry(by_hand, f"{n:024d}", f"session{n}")).status_code for n in range(8)]
    assert answers == [302] * 5 + [409] * 3
    assert Rater.objects.count() == 5
    page = Client().get(entry(by_hand, OTHER, "late")).content.decode()
    assert "All places are taken at the moment" in page
    assert Client().get(entry(by_hand, f"{0:024d}", "session0")).status_code == 302  # who came before goes on
    # Who never began is taken to have left after as long as the study takes; who rates keeps the place.
    stays = Client()
    stays.get(entry(by_hand, f"{1:024d}", "session1"))
    work_begins(stays, campaign)
    Submission.objects.update(started_at=timezone.now() - timedelta(minutes=16))
    answers = [Client().get(entry(by_hand, f"{n:024d}", f"session{n}")).status_code for n in range(10, 16)]
    assert answers == [302] * 4 + [409] * 2
