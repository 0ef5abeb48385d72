"""How workers arrive from Mechanical Turk and return; AWS, How Mechanical Turk tasks are rendered."""

import pytest

from annotation.recruitment.providers.base import AfterCode, Arrival, Outcome
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.errors import ArrivalRefused
from annotation.recruitment.providers.mturk.client import MechanicalTurk

QUERY = {
    "assignmentId": "123RVWYBAZW00EXAMPLE456RVWYBAZW00EXAMPLE",
    "hitId": "123RVWYBAZW00EXAMPLE",
    "workerId": "AZ3456EXAMPLE",
    "turkSubmitTo": "https://www.mturk.com/",
}


def test_a_worker_who_has_accepted_is_recognised() -> None:
    assert MechanicalTurk().arrival(QUERY) == Arrival(
        rater="AZ3456EXAMPLE",
        study="123RVWYBAZW00EXAMPLE",
        session="123RVWYBAZW00EXAMPLE456RVWYBAZW00EXAMPLE",
        return_to="https://www.mturk.com",
    )


@pytest.mark.parametrize("extra", [{}, {"workerId": "AZ3456EXAMPLE", "turkSubmitTo": "https://evil.example/"}])
def test_a_preview_names_no_rater_and_has_no_completion_address(extra: dict[str, str]) -> None:
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": QUERY["hitId"], **extra}
    arrival = MechanicalTurk().arrival(preview)
    assert arrival == Arrival(rater="", study=QUERY["hitId"], session="", is_preview=True)
    assert arrival is not None
    assert MechanicalTurk().completion(arrival, Outcome.COMPLETED, new_codes()).url == ""


def test_a_query_without_the_parameters_names_no_worker() -> None:
    assert MechanicalTurk().arrival({"workerId": "AZ3456EXAMPLE", "PROLIFIC_PID": "x"}) is None


@pytest.mark.parametrize("missing", ["assignmentId", "hitId", "workerId"])
def test_a_missing_parameter_is_named(missing: str) -> None:
    with pytest.raises(ArrivalRefused, match=missing):
        MechanicalTurk().arrival({**QUERY, missing: ""})


@pytest.mark.parametrize(
    "submit_to",
    [
        "",
        "http://www.mturk.com/",
        "https://www.mturk.com.evil.example/",
        "https://evil.example/?https://www.mturk.com",
        "https://www.mturk.com@evil.example/",
        "https://evil.example\\@www.mturk.com/",
        "https://www.mturk.com:8443/",
        "https://mturk.com/",
        "//www.mturk.com/",
        "javascript:alert(1)",
        "http://127.0.0.1:8000/",
    ],
)
def test_a_form_is_posted_only_to_amazon(submit_to: str) -> None:
    with pytest.raises(ArrivalRefused, match="turkSubmitTo") as refusal:
        MechanicalTurk().arrival({**QUERY, "turkSubmitTo": submit_to})
    assert "https://www.mturk.com" in refusal.value.message


@pytest.mark.parametrize("outcome", list(Outcome))
def test_completion_posts_a_form_unless_the_hit_is_to_be_returned(outcome: Outcome) -> None:
    codes = new_codes()
    arrival = MechanicalTurk().arrival({**QUERY, "turkSubmitTo": "https://workersandbox.mturk.com"})
    assert arrival is not None
    completion = MechanicalTurk().completion(arrival, outcome, codes)
    is_return = next(code.after for code in codes if code.outcome == outcome) == AfterCode.ASK_RETURN
    if is_return:
        assert (completion.url, completion.fields) == ("", {})
        return
    assert (completion.url, completion.method) == ("https://workersandbox.mturk.com/mturk/externalSubmit", "POST")
    assert completion.fields == {
        "assignmentId": arrival.session,
        "outcome": outcome.value,
        "code": code_for(codes, outcome),
    }


def test_the_page_is_shown_in_amazons_frames_and_posts_to_amazon() -> None:
    assert "https://worker.mturk.com" in MechanicalTurk().frame_ancestors
    assert set(MechanicalTurk().form_targets) == {"https://www.mturk.com", "https://workersandbox.mturk.com"}
