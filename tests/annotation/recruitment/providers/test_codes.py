import dataclasses

import pytest

from annotation.recruitment.providers.base import AfterCode, CompletionCode, Outcome
from annotation.recruitment.providers.codes import check_codes, code_for, new_codes
from annotation.recruitment.providers.errors import ProviderError


def test_every_outcome_gets_its_own_code() -> None:
    codes = new_codes()
    assert {code.outcome for code in codes} == set(Outcome)
    assert len({code.code for code in codes}) == len(Outcome)
    check_codes(codes)


def test_by_default_submissions_with_work_are_reviewed_and_others_are_asked_to_return() -> None:
    after = {code.outcome: code.after for code in new_codes()}
    assert after[Outcome.COMPLETED] == after[Outcome.FAILED_ATTENTION] == AfterCode.REVIEW
    assert after[Outcome.OUT_OF_WORK] == AfterCode.REVIEW
    assert after[Outcome.NO_CONSENT] == after[Outcome.SCREENED_OUT] == AfterCode.ASK_RETURN


def test_the_manager_chooses_what_a_code_does() -> None:
    codes = new_codes({Outcome.COMPLETED: AfterCode.APPROVE, Outcome.OUT_OF_WORK: AfterCode.ASK_RETURN})
    after = {code.outcome: code.after for code in codes}
    assert after[Outcome.COMPLETED] == AfterCode.APPROVE
    assert after[Outcome.OUT_OF_WORK] == AfterCode.ASK_RETURN
    check_codes(codes)


def test_each_outcome_has_its_code() -> None:
    codes = new_codes()
    for code in codes:
        assert code_for(codes, code.outcome) == code.code
    assert code_for([], Outcome.COMPLETED) == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"code": "no"}, "accepted: 4 to 60"),
        ({"code": "sp ace"}, "accepted: 4 to 60"),
        ({"outcome": Outcome.NO_CONSENT}, "accepted: one for each outcome"),
        ({"after": AfterCode.ASK_RETURN, "reason": " "}, "accepted: a text for the rater"),
    ],
)
def test_codes_that_a_provider_would_refuse_are_refused(change: dict[str, object], message: str) -> None:
    codes = new_codes()
    codes[1] = dataclasses.replace(codes[1], **change)  # type: ignore[arg-type]
    codes = [code for code in codes if code.outcome != Outcome.NO_CONSENT or code is codes[1]] + codes[4:5]
    with pytest.raises(ProviderError, match=message) as refusal:
        check_codes(codes)
    assert "codes" in refusal.value.fields


def test_two_outcomes_may_not_share_a_code() -> None:
    with pytest.raises(ProviderError, match="the code of completed"):
        check_codes(
            [
                CompletionCode(Outcome.COMPLETED, "SAME1234", AfterCode.REVIEW),
                CompletionCode(Outcome.OUT_OF_WORK, "SAME1234", AfterCode.REVIEW),
            ]
        )


def test_there_must_be_a_code_for_completed() -> None:
    with pytest.raises(ProviderError, match="no code for completed"):
        check_codes([])
