"""How raters arrive from Prolific and return; addresses as in docs.prolific.com, The study object."""

from urllib.parse import parse_qs, urlsplit

import pytest

from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.errors import ArrivalRefused, ProviderError
from annotation.recruitment.providers.prolific.client import Prolific

QUERY = {
    "PROLIFIC_PID": "60bf9310e8dec401be6e9615",
    "STUDY_ID": "60aca280709ee40ec37d4885",
    "SESSION_ID": "60d9aadeb86739de712faee0",
}
ARRIVAL = Arrival(rater=QUERY["PROLIFIC_PID"], study=QUERY["STUDY_ID"], session=QUERY["SESSION_ID"])


def test_a_participant_is_recognised_by_the_three_parameters() -> None:
    assert Prolific().arrival({**QUERY, "utm": "x"}) == ARRIVAL


def test_a_query_without_the_parameters_names_no_participant() -> None:
    assert Prolific().arrival({}) is None
    assert Prolific().arrival({"PROLIFIC_PID": "", "workerId": "A1"}) is None


@pytest.mark.parametrize("missing", list(QUERY))
def test_a_missing_parameter_is_named(missing: str) -> None:
    with pytest.raises(ArrivalRefused, match=missing) as refusal:
        Prolific().arrival({name: value for name, value in QUERY.items() if name != missing})
    assert missing in refusal.value.fields


@pytest.mark.parametrize("participant_id", ["{{%PROLIFIC_PID%}}", "60bf9310", "../../etc/passwd", "<script>", "a" * 25])
def test_an_id_that_is_not_prolifics_is_refused(participant_id: str) -> None:
    with pytest.raises(ArrivalRefused, match="accepted: the id that Prolific fills in"):
        Prolific().arrival({**QUERY, "PROLIFIC_PID": participant_id})


def test_the_address_for_prolific_keeps_its_placeholders_as_they_are() -> None:
    assert Prolific().entry_url("https://assay.example.org/r/abc/") == (
        "https://assay.example.org/r/abc/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert "?lang=de&PROLIFIC_PID={{" in Prolific().entry_url("https://assay.example.org/r/abc/?lang=de")


@pytest.mark.parametrize("outcome", list(Outcome))
def test_each_outcome_returns_its_own_code(outcome: Outcome) -> None:
    codes = new_codes()
    completion = Prolific().completion(ARRIVAL, outcome, codes)
    parts = urlsplit(completion.url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://app.prolific.com/submissions/complete"
    assert parse_qs(parts.query) == {"cc": [code_for(codes, outcome)]}
    assert completion.method == "GET"
    assert completion.code == code_for(codes, outcome)


def test_an_outcome_without_a_code_has_no_completion_address() -> None:
    codes = [code for code in new_codes() if code.outcome == Outcome.COMPLETED]
    assert Prolific().completion(ARRIVAL, Outcome.NO_CONSENT, codes).url == ""


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "tökén"])
def test_a_malformed_token_is_refused_at_once(token: str) -> None:
    with pytest.raises(ProviderError) as refusal:
        Prolific(token=token)
    assert "token" in refusal.value.fields


def test_the_endpoint_must_be_encrypted() -> None:
    with pytest.raises(ProviderError, match="https://"):
        Prolific(token="x", endpoint="http://api.prolific.com")
