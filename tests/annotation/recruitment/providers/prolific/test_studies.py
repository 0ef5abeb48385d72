"""Studies at Prolific, tested on a fake that checks requests as the API reference documents."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from annotation.recruitment.providers.base import (
    AfterCode,
    CompletionCode,
    Eligibility,
    Outcome,
    StudyDraft,
    StudyState,
)
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.errors import AccessRefused, NotFound, ProviderError
from annotation.recruitment.providers.prolific.client import Prolific
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific

Draft = Callable[..., StudyDraft]


def test_an_account_has_a_name_and_a_balance(prolific: Prolific) -> None:
    account = prolific.account()
    assert (account.name, account.currency, account.balance) == ("Rosa Researcher", "GBP", Decimal("10000.00"))


def test_a_wrong_token_is_refused(fake_prolific: FakeProlific) -> None:
    with Prolific(token="wrong", endpoint=fake_prolific.base_url) as client, pytest.raises(AccessRefused):
        client.account()


def test_a_draft_becomes_an_unpublished_study(prolific: Prolific, fake_prolific: FakeProlific, draft: Draft) -> None:
    study = prolific.study_create(
        draft(maximum_minutes=60, extra={"devices": ["desktop", "tablet"]}, internal_name="wave 1")
    )
    assert (study.state, study.reported, study.places, study.places_taken) == (StudyState.DRAFT, "UNPUBLISHED", 5, 0)
    stored = fake_prolific.studies[study.id]
    assert stored["name"] == "Rate short replies"
    assert stored["internal_name"] == "wave 1"
    assert stored["reward"] == 250  # pence
    assert stored["estimated_completion_time"] == 15
    assert stored["maximum_allowed_time"] == 60
    assert stored["device_compatibility"] == ["desktop", "tablet"]
    assert stored["prolific_id_option"] == "url_parameters"
    assert stored["submissions_config"] == {"max_submissions_per_participant": 1}
    assert stored["metadata"] == "recruitment-1"


def test_every_outcome_has_its_code_type_and_action(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft
) -> None:
    codes = [code for code in new_codes({Outcome.COMPLETED: AfterCode.APPROVE}) if code.outcome != "screened_out"]
    codes.append(CompletionCode(Outcome.SCREENED_OUT, "SCREEN01", AfterCode.PAY_SCREEN_OUT, "", Decimal("0.50"), 20))
    study = prolific.study_create(draft(codes=codes))
    stored = {code["code"]: code for code in fake_prolific.studies[study.id]["completion_codes"]}
    sent = {
        code.outcome: (stored[code.code]["code_type"], [action["action"] for action in stored[code.code]["actions"]])
        for code in codes
    }
    assert sent == {
        Outcome.COMPLETED: ("COMPLETED", ["AUTOMATICALLY_APPROVE"]),
        Outcome.FAILED_QUALIFICATION: ("OTHER", ["REQUEST_RETURN"]),
        Outcome.FAILED_ATTENTION: ("FAILED_ATTENTION_CHECK", ["MANUALLY_REVIEW"]),
        Outcome.SCREENED_OUT: ("FIXED_SCREENOUT", ["FIXED_SCREEN_OUT_PAYMENT"]),
        Outcome.NO_CONSENT: ("NO_CONSENT", ["REQUEST_RETURN"]),
        Outcome.OUT_OF_WORK: ("OTHER", ["MANUALLY_REVIEW"]),
    }
    assert stored["SCREEN01"]["actions"][0]["fixed_screen_out_reward"] == 50
    assert stored["SCREEN01"]["actions"][0]["slots"] == 20


def test_eligibility_becomes_prolifics_filters(prolific: Prolific, fake_prolific: FakeProlific, draft: Draft) -> None:
    earlier = prolific.study_create(draft())
    eligibility = Eligibility(
        approval_rate=95,
        approvals=20,
        exclude_studies=[earlier.id],
        exclude_raters=["60bf9310e8dec401be6e9615"],
        filters=[{"filter_id": "fluent-languages", "selected_values": ["19"]}],
    )
    study = prolific.study_create(draft(eligibility=eligibility))
    assert fake_prolific.studies[study.id]["filters"] == [
        {"filter_id": "fluent-languages", "selected_values": ["19"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
        {"filter_id": "approval_numbers", "selected_range": {"lower": 20, "upper": 1_000_000_000}},
        {"filter_id": "previous_studies_blocklist", "selected_values": [earlier.id]},
        {"filter_id": "custom_blocklist", "selected_values": ["60bf9310e8dec401be6e9615"]},
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": " "}, "title"),
        ({"description": ""}, "description"),
        ({"reward": Decimal("0")}, "reward"),
        ({"reward": Decimal("1.005")}, "reward"),
        ({"reward": Decimal("NaN")}, "reward"),
        ({"places": 0}, "places"),
        ({"minutes": 0}, "minutes"),
        ({"maximum_minutes": 3}, "maximum_minutes"),
        ({"extra": {"devices": ["watch"]}}, "devices"),
        ({"entry_url": "https://assay.example.org/r/abc/"}, "entry_url"),
        ({"entry_url": "http://assay.example.org/?p={{%PROLIFIC_PID%}}"}, "entry_url"),
        ({"codes": []}, "codes"),
        ({"extra": {"countries": ["GB"]}}, "countries"),
        ({"eligibility": Eligibility(approval_rate=101)}, "approval_rate"),
        (
            {"codes": [*new_codes()[:3], CompletionCode(Outcome.SCREENED_OUT, "S1234567", AfterCode.PAY_SCREEN_OUT)]},
            "codes",
        ),
    ],
)
def test_an_invalid_draft_is_refused_before_anything_is_sent(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft, change: dict[str, object], field: str
) -> None:
    with pytest.raises(ProviderError, match="accepted") as refusal:
        prolific.study_create(draft(**change))
    assert field in refusal.value.fields
    assert fake_prolific.requests == []


def test_prolifics_refusals_are_shown_at_the_forms_fields(prolific: Prolific, draft: Draft) -> None:
    with pytest.raises(ProviderError, match="below the minimum") as refusal:
        prolific.study_create(draft(reward=Decimal("0.10")))
    assert refusal.value.fields == {"reward": ["The reward per hour is below the minimum of £6.00."]}
    with pytest.raises(ProviderError, match="Unknown filter") as refusal:
        prolific.study_create(draft(eligibility=Eligibility(filters=[{"filter_id": "shoe-size"}])))
    assert "eligibility" in refusal.value.fields


def test_a_study_is_published_paused_resumed_and_stopped(prolific: Prolific, draft: Draft) -> None:
    study = prolific.study_create(draft())
    states = [
        prolific.study_publish(study.id, draft()).state,
        prolific.study_pause(study.id).state,
        prolific.study_resume(study.id, draft()).state,
        prolific.study_stop(study.id).state,
        prolific.study_fetch(study.id).state,
    ]
    assert states == [
        StudyState.PUBLISHED,
        StudyState.PAUSED,
        StudyState.PUBLISHED,
        StudyState.COMPLETED,
        StudyState.COMPLETED,
    ]


def test_too_little_money_is_an_error(prolific: Prolific, fake_prolific: FakeProlific, draft: Draft) -> None:
    fake_prolific.balance = 100
    study = prolific.study_create(draft())
    with pytest.raises(ProviderError, match="enough funds"):
        prolific.study_publish(study.id, draft())
    assert prolific.study_fetch(study.id).state == StudyState.DRAFT


def test_a_publication_whose_answer_is_lost_is_looked_up_and_not_repeated(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft
) -> None:
    study = prolific.study_create(draft())
    fake_prolific.drop(where="transition", after=True)
    assert prolific.study_publish(study.id, draft()).state == StudyState.PUBLISHED
    assert fake_prolific.count("transition") == 1


def test_a_publication_that_did_not_happen_is_an_error(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft
) -> None:
    study = prolific.study_create(draft())
    fake_prolific.drop(where="transition")
    with pytest.raises(ProviderError, match="broke off"):
        prolific.study_publish(study.id, draft())
    assert prolific.study_fetch(study.id).state == StudyState.DRAFT


def test_places_are_added_but_never_taken_away(prolific: Prolific, draft: Draft) -> None:
    study = prolific.study_create(draft())
    prolific.study_publish(study.id, draft())
    assert prolific.study_extend(study.id, places=8, reference="r").places == 8
    with pytest.raises(ProviderError, match="accepted: 8 or more"):
        prolific.study_extend(study.id, places=7, reference="r")


def test_an_unknown_state_is_not_guessed(prolific: Prolific, fake_prolific: FakeProlific, draft: Draft) -> None:
    study = prolific.study_create(draft())
    fake_prolific.studies[study.id]["status"] = "PROCESSING"
    fetched = prolific.study_fetch(study.id)
    assert (fetched.state, fetched.reported) == (None, "PROCESSING")


def test_an_unknown_study_is_not_found(prolific: Prolific) -> None:
    with pytest.raises(NotFound, match="Study was not found"):
        prolific.study_fetch("60aca280709ee40ec37d4885")


@pytest.mark.parametrize("study", ["", "../users/me", "a/b", "a?b", "x" * 65])
def test_an_id_that_would_change_the_path_is_refused(
    prolific: Prolific, fake_prolific: FakeProlific, study: str
) -> None:
    with pytest.raises(ProviderError, match="accepted: an id"):
        prolific.study_fetch(study)
    assert fake_prolific.requests == []


def test_creating_waits_when_prolific_answers_429(
    prolific: Prolific, fake_prolific: FakeProlific, draft: Draft, naps: list[float]
) -> None:
    fake_prolific.fail(429, retry_after="4")
    assert prolific.study_create(draft()).state == StudyState.DRAFT
    assert naps == [4.0]
