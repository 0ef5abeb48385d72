import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from annotation.models import Campaign, Participation, Rater, RaterIdentity, Recruitment, Slot, Submission, identities
from annotation.models import SubmissionStatus as Status
from annotation.rating.selectors.endings import stay_of
from annotation.rating.services.raters import participation_start
from annotation.recruitment.providers.base import Arrival
from annotation.recruitment.providers.errors import ArrivalRefused
from annotation.recruitment.services import arrivals, endings, refreshing, studies
from annotation.recruitment.services.arrivals import Destination
from annotation.recruitment.services.terms import terms_of
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific
from tests.annotation.worlds.campaigns import rate_next
from tests.annotation.worlds.recruited import arrival_of, comes, make_recruitment

PERSON = "60bf9310e8dec401be6e9615"


def rate(campaign: Campaign, rater: Rater, times: int) -> None:
    participation_start(campaign=campaign, rater=rater)
    for _ in range(times):
        assert rate_next(campaign, rater) is not None


def finish(campaign: Campaign, rater: Rater) -> tuple[Submission, object]:
    participation = Participation.objects.select_related("rater").get(campaign=campaign, rater=rater)
    ending = endings.stay_end(
        campaign=campaign, rater=rater, stay=stay_of(campaign=campaign, participation=participation)
    )
    assert ending is not None
    return ending


def test_a_rater_gets_a_pseudonym_and_the_external_id_is_stored_separately(
    study: Recruitment, fake_prolific: FakeProlific
) -> None:
    admitted = comes(study, fake_prolific, PERSON)
    assert admitted.destination == Destination.WORK
    assert PERSON not in admitted.rater.pseudonym
    identity = RaterIdentity.objects.get()
    assert (identity.provider, identity.external_id, identity.rater) == ("prolific", PERSON, admitted.rater)
    assert admitted.submission.external_id in fake_prolific.people


def test_the_same_person_on_another_device_is_the_same_rater(study: Recruitment, fake_prolific: FakeProlific) -> None:
    _, url = fake_prolific.participant_enters(study.external_id, PERSON)
    first, repeated = (arrivals.arrival_admit(recruitment=study, arrival=arrival_of(study, url)) for _ in range(2))
    assert first.rater == repeated.rater
    assert Submission.objects.count() == Rater.objects.count() == 1


def test_another_raters_submission_is_refused(study: Recruitment, fake_prolific: FakeProlific) -> None:
    admitted = comes(study, fake_prolific, PERSON)
    forged = Arrival("5f5b97bd3f86bc79cdd0a9ff", study.external_id, admitted.submission.external_id)
    with pytest.raises(ArrivalRefused, match="another rater"):
        arrivals.arrival_admit(recruitment=study, arrival=forged)
    with pytest.raises(ArrivalRefused, match="the study that this address was made for"):
        arrivals.arrival_admit(recruitment=study, arrival=Arrival(PERSON, "another", "session"))


def test_a_finished_stay_gives_a_code_and_stores_the_outcome(
    study: Recruitment, campaign: Campaign, fake_prolific: FakeProlific
) -> None:
    admitted = comes(study, fake_prolific)
    rate(campaign, admitted.rater, 3)
    submission, completion = finish(campaign, admitted.rater)
    code = next(code.code for code in terms_of(study).codes if code.outcome == "completed")
    assert completion.url.endswith(f"/submissions/complete?cc={code}")  # type: ignore[attr-defined]
    submission.refresh_from_db()
    assert (submission.outcome, submission.code) == ("completed", code)


def test_a_rater_from_a_second_study_has_taken_part_already(
    study: Recruitment, campaign: Campaign, fake_prolific: FakeProlific
) -> None:
    admitted = comes(study, fake_prolific, PERSON)
    rate(campaign, admitted.rater, 3)
    finish(campaign, admitted.rater)
    second = make_recruitment(campaign, study.account)
    repeated = comes(second, fake_prolific, PERSON)
    assert (repeated.destination, repeated.rater) == (Destination.BEFORE, admitted.rater)
    endings.submission_end(submission=repeated.submission, outcome=services_outcome("screened_out"))
    # The first submission is unaffected.
    known = Arrival(PERSON, study.external_id, admitted.submission.external_id)
    assert arrivals.arrival_admit(recruitment=study, arrival=known).destination == Destination.WORK
    assert finish(campaign, admitted.rater)[0] == admitted.submission


def services_outcome(name: str):  # type: ignore[no-untyped-def]
    from annotation.recruitment.providers.base import Outcome

    return Outcome(name)


def test_a_rater_who_returned_unfinished_work_continues_with_the_next_assignment(
    hit: Recruitment, campaign: Campaign, fake_mturk: FakeMechanicalTurk
) -> None:
    """Amazon sends no message when a HIT is returned."""
    assignment, url = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    first = arrivals.arrival_admit(recruitment=hit, arrival=arrival_of(hit, url))
    rate(campaign, first.rater, 1)
    fake_mturk.worker_returns(assignment.id)
    _, url = fake_mturk.worker_accepts(hit.external_id, "A1WORKER")
    second = arrivals.arrival_admit(recruitment=hit, arrival=arrival_of(hit, url), browser=first.rater)
    assert (second.destination, second.rater) == (Destination.WORK, first.rater)
    first.submission.refresh_from_db()
    assert first.submission.status == Status.RETURNED
    rate(campaign, first.rater, 2)
    submission, completion = finish(campaign, first.rater)
    assert submission == second.submission
    assert completion.url == f"{fake_mturk.base_url}/mturk/externalSubmit"  # type: ignore[attr-defined]
    assert completion.fields["assignmentId"] == second.submission.external_id  # type: ignore[attr-defined]


def test_a_reviewed_stay_leads_to_its_last_page(study: Recruitment, fake_prolific: FakeProlific) -> None:
    admitted = comes(study, fake_prolific, PERSON)
    fake_prolific.participant_completes(admitted.submission.external_id, "X")
    refreshing.recruitment_refresh(recruitment=study)
    arrival = Arrival(PERSON, study.external_id, admitted.submission.external_id)
    assert arrivals.arrival_admit(recruitment=study, arrival=arrival).destination == Destination.FINISH


def test_stopping_too_early_gives_no_code(campaign: Campaign, study: Recruitment, fake_prolific: FakeProlific) -> None:
    admitted = comes(study, fake_prolific)
    rate(campaign, admitted.rater, 0)
    submission, completion = finish(campaign, admitted.rater)
    assert (submission.outcome, completion.url) == ("", "")  # type: ignore[attr-defined]


def test_a_recruitment_by_hand_needs_no_account_and_admits_no_new_rater_once_closed(campaign: Campaign) -> None:
    recruitment = make_recruitment(campaign, None)
    admitted = arrivals.arrival_admit(recruitment=recruitment, arrival=Arrival(PERSON, "study", "session"))
    recruitment = studies.recruitment_stop(recruitment=recruitment)
    repeated = arrivals.arrival_admit(recruitment=recruitment, arrival=Arrival(PERSON, "study", "session"))
    assert repeated.rater == admitted.rater
    with pytest.raises(ArrivalRefused, match="invitation is closed"):
        arrivals.arrival_admit(recruitment=recruitment, arrival=Arrival("5f5b97bd3f86bc79cdd0a9ff", "study", "other"))


def test_an_unpublished_study_admits_no_rater(campaign: Campaign, study: Recruitment) -> None:
    draft = make_recruitment(campaign, study.account, publish=False)
    with pytest.raises(ArrivalRefused, match="not been published"):
        arrivals.arrival_admit(recruitment=draft, arrival=Arrival(PERSON, "", "session"))
    assert Rater.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_processes_of_which_one_has_the_new_key_store_a_person_once(
    study: Recruitment, fake_prolific: FakeProlific, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While all are restarted, one writes digests under the new key, another under the former; both know both."""
    addresses = [fake_prolific.participant_enters(study.external_id)[1] for _ in range(4)]
    keys, process = ("a former key" * 5, "a new key" * 5), threading.local()
    monkeypatch.setattr(identities, "_secrets", lambda: process.secrets)

    def arrive(number: int) -> tuple[int, int]:
        process.secrets = keys if number % 2 else keys[::-1]
        try:
            admitted = arrivals.arrival_admit(recruitment=study, arrival=arrival_of(study, addresses[number // 6]))
            return admitted.rater.pk, admitted.submission.pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        admitted = list(pool.map(arrive, range(24)))
    assert len(set(admitted)) == 4
    assert (Rater.objects.count(), RaterIdentity.objects.count(), Submission.objects.count()) == (4, 4, 4)


@pytest.mark.django_db(transaction=True)
def test_many_tabs_opened_at_once_are_one_rater_and_one_submission(campaign: Campaign) -> None:
    recruitment = make_recruitment(campaign, None)

    def arrive(_: int) -> int:
        try:
            return arrivals.arrival_admit(recruitment=recruitment, arrival=Arrival(PERSON, "study", "session")).rater.pk
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        raters = set(pool.map(arrive, range(12)))
    assert len(raters) == 1
    assert (Rater.objects.count(), Submission.objects.count()) == (1, 1)
    assert not Slot.objects.filter(rater__isnull=False).exists()
