"""Any address or message from outside is read as a rater, as no rater, or refused."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.recruitment.providers import PROVIDERS, open_provider
from annotation.recruitment.providers.base import Capability
from annotation.recruitment.providers.errors import ArrivalRefused, WebhookRefused
from annotation.recruitment.providers.prolific.client import Prolific

NAMES = ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID", "assignmentId", "hitId", "workerId", "turkSubmitTo", "x"]
VALUES = st.one_of(
    st.text(max_size=80),
    st.from_regex(r"[0-9a-f]{24}", fullmatch=True),
    st.sampled_from(["ASSIGNMENT_ID_NOT_AVAILABLE", "https://www.mturk.com/", "https://evil.example/", "A1"]),
)
QUERIES = st.dictionaries(st.sampled_from(NAMES), VALUES)


@given(st.sampled_from(list(PROVIDERS)), QUERIES)
def test_an_arrival_is_complete_or_refused(key: str, query: dict[str, str]) -> None:
    provider = open_provider(key)
    try:
        arrival = provider.arrival(query)
    except ArrivalRefused:
        return
    if arrival is None:
        return
    if arrival.is_preview:
        assert (arrival.rater, arrival.session, arrival.return_to) == ("", "", "")
        return
    for value in (arrival.rater, arrival.study, arrival.session):
        assert value.isascii()
        assert value.replace("-", "").replace("_", "").isalnum()
    if Capability.EMBEDDED in provider.capabilities:
        assert arrival.return_to in provider.form_targets


@given(
    st.dictionaries(
        st.sampled_from(["X-Prolific-Request-Timestamp", "x-prolific-request-signature", "X-Event-ID", "X-Timestamp"]),
        st.text(max_size=40),
    ),
    st.binary(max_size=60),
)
def test_an_unsigned_message_is_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(WebhookRefused):
        Prolific().webhook_event(headers=headers, body=body, secret="secret", now=datetime.now(UTC))
