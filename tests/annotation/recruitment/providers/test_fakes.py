"""The fakes' pages for browsers."""

import time
from collections.abc import Callable

import httpx

from annotation.recruitment.providers.base import Outcome, StudyDraft, SubmissionStatus
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.mturk.client import MechanicalTurk
from annotation.recruitment.providers.prolific.client import Prolific
from tests.annotation.recruitment.providers.mturk.fake import FakeMechanicalTurk
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific

Draft = Callable[..., StudyDraft]


def test_a_browser_takes_part_at_prolific_and_returns_with_a_code(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft
) -> None:
    codes = new_codes()
    study = prolific.study_publish(prolific.study_create(draft(codes=codes)).id, draft())
    person = "60bf9310e8dec401be6e9615"
    with httpx.Client() as browser:
        start = browser.get(fake_prolific.start_url(study.id, person))
        arrival = prolific.arrival(dict(httpx.URL(start.headers["Location"]).params))
        assert arrival is not None
        assert arrival.rater == person
        completion = prolific.completion(arrival, Outcome.COMPLETED, codes)
        assert "AWAITING REVIEW" in browser.get(completion.url).text
        assert "1 places taken" in browser.get(study.url).text
    assert prolific.submission(arrival.session).code == code_for(codes, Outcome.COMPLETED)


def test_a_browser_sees_the_preview_of_a_hit_and_then_works_in_its_frame(
    mturk: MechanicalTurk, fake_mturk: FakeMechanicalTurk, draft: Draft
) -> None:
    study = mturk.study_publish(mturk.study_create(draft()).id, draft())
    page = f"{fake_mturk.base_url}/hits/{study.id}"
    assert "ASSIGNMENT_ID_NOT_AVAILABLE" in httpx.get(page).text
    assert fake_mturk.assignments == {}
    working = httpx.get(page, params={"worker": "A1WORKER"}).text
    (assignment,) = fake_mturk.assignments.values()
    assert assignment.id in working
    assert httpx.get(page, params={"worker": "A1WORKER"}).text == working


def test_messages_can_be_delivered_at_once(draft: Draft) -> None:
    with (
        FakeProlific(auto_deliver=True) as fake,
        FakeMechanicalTurk() as listener,  # any server will do
        Prolific(token=fake.token, workspace=fake.workspace, endpoint=fake.base_url) as client,
    ):
        client.webhook_subscribe(f"{listener.base_url}/hook")
        study = client.study_publish(client.study_create(draft()).id, draft())
        submission, _ = fake.participant_enters(study.id)
        fake.participant_returns(submission.id)
        deadline = time.monotonic() + 10
        while len(listener.requests) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert sorted(request.json()["status"] for request in listener.requests) == ["ACTIVE", "ACTIVE", "RETURNED"]
        assert client.submission(submission.id).status == SubmissionStatus.RETURNED
