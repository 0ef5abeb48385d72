"""Prolific's signed messages, as docs.prolific.com, Verifying, has them: base64(HMAC-SHA256(stamp + body))."""

import base64
import hashlib
import hmac
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.recruitment.providers.base import StudyDraft, StudyState, SubmissionStatus, WebhookEvent
from annotation.recruitment.providers.errors import ProviderError, WebhookRefused
from annotation.recruitment.providers.prolific.client import Prolific
from annotation.recruitment.providers.prolific.webhooks import EVENTS, read_event
from tests.annotation.recruitment.providers.prolific.fake import FakeProlific

SECRET = "secret-and-safe"
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PAYLOAD = {
    "resource_id": "60d9aadeb86739de712faee0",
    "event_type": "submission.status.change",
    "participant_id": "60bf9310e8dec401be6e9615",
    "status": "TIMED-OUT",
}


def message(
    payload: object = PAYLOAD, *, at: datetime = NOW, secret: str = SECRET, **changes: str
) -> tuple[dict[str, str], bytes]:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    stamp = str(int(at.timestamp()))
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    headers = {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
        "X-Event-ID": "6394cee483e14a167638b36c",
        "X-Timestamp": str(int(at.timestamp()) - 3600),
    }
    return {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}, body


def read(headers: dict[str, str], body: bytes, *, secret: str = SECRET, now: datetime = NOW) -> WebhookEvent:
    return read_event(headers=headers, body=body, secret=secret, now=now)


def test_a_genuine_message_is_read() -> None:
    event = read(*message())
    assert event == WebhookEvent(
        id="6394cee483e14a167638b36c",
        kind="submission.status.change",
        sent_at=NOW - timedelta(hours=1),  # when it happened; a repeat is stamped later
        submission="60d9aadeb86739de712faee0",
        rater="60bf9310e8dec401be6e9615",
        status=SubmissionStatus.TIMED_OUT,
        payload=PAYLOAD,
    )


def test_the_signature_is_the_one_that_openssl_computes() -> None:
    """An independent oracle: openssl dgst -sha256 -hmac."""
    headers, body = message()
    stamp = headers["X-Prolific-Request-Timestamp"].encode()
    result = subprocess.run(
        ["openssl", "dgst", "-sha256", "-hmac", SECRET, "-binary"], input=stamp + body, capture_output=True, check=True
    )
    headers["X-Prolific-Request-Signature"] = base64.b64encode(result.stdout).decode()
    assert read(headers, body).id == headers["X-Event-ID"]


def test_an_event_is_never_newer_than_its_signature() -> None:
    """X-Timestamp is not signed; it cannot make a message newer than its signature."""
    assert read(*message(X_Timestamp=str(int(NOW.timestamp()) + 60))).sent_at == NOW
    assert read(*message(X_Timestamp="")).sent_at == NOW


def test_names_of_headers_are_read_in_any_case() -> None:
    headers, body = message()
    assert read({name.lower(): value for name, value in headers.items()}, body).rater == PAYLOAD["participant_id"]


def test_a_change_of_a_study_is_about_a_study() -> None:
    event = read(*message({"resource_id": "s1", "event_type": "study.status.change", "status": "AWAITING REVIEW"}))
    assert (event.study, event.submission, event.study_state) == ("s1", "", StudyState.COMPLETED)


def test_an_event_of_another_kind_is_read_unchanged() -> None:
    event = read(*message({"resource_id": "s1", "event_type": "study.has_high_return_rate", "metadata": {"rate": 0.4}}))
    assert (event.kind, event.status, event.study_state) == ("study.has_high_return_rate", None, None)
    assert event.payload["metadata"] == {"rate": 0.4}


@pytest.mark.parametrize("away", [timedelta(minutes=-5), timedelta(minutes=5), timedelta(0)])
def test_a_message_within_the_window_is_accepted(away: timedelta) -> None:
    assert read(*message(at=NOW + away))


@pytest.mark.parametrize(
    "away", [timedelta(minutes=-5, seconds=-1), timedelta(minutes=5, seconds=1), timedelta(days=9)]
)
def test_a_message_replayed_later_is_refused(away: timedelta) -> None:
    with pytest.raises(WebhookRefused, match="accepted: at most 0:05:00 away"):
        read(*message(at=NOW + away))


@pytest.mark.parametrize(
    "changes",
    [
        {"X_Prolific_Request_Signature": ""},
        {"X_Prolific_Request_Timestamp": ""},
        {"X_Prolific_Request_Signature": "AAAA"},
        {"X_Prolific_Request_Signature": "ü"},
        {"X_Prolific_Request_Timestamp": str(int(NOW.timestamp()) + 1)},
    ],
)
def test_a_message_without_a_matching_signature_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(WebhookRefused, match="accepted: messages that Prolific has signed"):
        read(*message(**changes))


def test_a_message_signed_with_another_secret_is_refused() -> None:
    with pytest.raises(WebhookRefused, match="does not match"):
        read(*message(secret="guessed"))


def test_without_a_secret_nothing_can_be_verified() -> None:
    with pytest.raises(WebhookRefused, match="No secret"):
        read(*message(secret=""), secret="")


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_byte_of_the_body_can_be_changed(index: int, by: int) -> None:
    headers, body = message()
    changed = bytearray(body)
    changed[index % len(body)] ^= by
    with pytest.raises(WebhookRefused):
        read(headers, bytes(changed))


@pytest.mark.parametrize("stamp", ["soon", "nan", "inf", "-5", "1e300"])
def test_a_signed_but_invalid_timestamp_is_refused(stamp: str) -> None:
    body = json.dumps(PAYLOAD).encode()
    digest = hmac.new(SECRET.encode(), stamp.encode() + body, hashlib.sha256).digest()
    headers, _ = message()
    headers["X-Prolific-Request-Timestamp"] = stamp
    headers["X-Prolific-Request-Signature"] = base64.b64encode(digest).decode()
    with pytest.raises(WebhookRefused, match="seconds since 1970"):
        read(headers, body)


@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b"{}", b'{"resource_id": "x"}', b"\xff\xfe"])
def test_a_signed_body_without_an_event_is_refused(body: bytes) -> None:
    with pytest.raises(WebhookRefused, match=r"not JSON|no event_type"):
        read(*message(body))


@pytest.mark.parametrize("event_id", ["", " ", "x" * 121])
def test_a_message_without_a_valid_id_is_refused(event_id: str) -> None:
    with pytest.raises(WebhookRefused, match="X-Event-ID"):
        read(*message(X_Event_ID=event_id))


# --- Over HTTP -------------------------------------------------------------------------------------------------------


class Receiver:
    """A subscriber that verifies its messages, as a view would."""

    def __init__(self, secret: Callable[[], str]) -> None:
        self.events: list[WebhookEvent] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    event = Prolific().webhook_event(
                        headers=dict(self.headers.items()), body=body, secret=secret(), now=datetime.now(UTC)
                    )
                except WebhookRefused:
                    self.send_response(403)
                else:
                    receiver.events.append(event)
                    self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's signature
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver(fake_prolific: FakeProlific) -> Iterator[Receiver]:
    server = Receiver(lambda: fake_prolific.secrets[fake_prolific.workspace])
    yield server
    server.close()


def test_subscribers_get_every_change_of_a_submission(
    prolific: Prolific, fake_prolific: FakeProlific, receiver: Receiver, draft: Callable[..., StudyDraft]
) -> None:
    prolific.webhook_subscribe(receiver.url)
    study = prolific.study_publish(prolific.study_create(draft()).id, draft())
    submission, _ = fake_prolific.participant_enters(study.id)
    fake_prolific.participant_returns(submission.id)
    assert set(fake_prolific.deliver()) == {200}
    assert [(event.kind, event.status or event.study_state) for event in receiver.events] == [
        ("study.status.change", StudyState.PUBLISHED),
        ("submission.status.change", SubmissionStatus.ACTIVE),
        ("submission.status.change", SubmissionStatus.RETURNED),
    ]


def test_a_redelivered_message_has_the_same_id(
    prolific: Prolific, fake_prolific: FakeProlific, receiver: Receiver, draft: Callable[..., StudyDraft]
) -> None:
    prolific.webhook_subscribe(receiver.url)
    prolific.study_publish(prolific.study_create(draft()).id, draft())
    fake_prolific.deliver()
    fake_prolific.deliver(again=True)
    assert [event.id for event in receiver.events] == [fake_prolific.events[0].id] * 2


def test_subscribing_confirms_each_kind_of_event(prolific: Prolific, fake_prolific: FakeProlific) -> None:
    subscriptions = prolific.webhook_subscribe("https://assay.example.org/hook/")
    assert {subscription.event for subscription in subscriptions} == set(EVENTS)
    assert all(stored["confirmed"] for stored in fake_prolific.subscriptions.values())


def test_subscribing_again_adds_nothing(prolific: Prolific, fake_prolific: FakeProlific) -> None:
    first = prolific.webhook_subscribe("https://assay.example.org/hook/")
    assert prolific.webhook_subscribe("https://assay.example.org/hook/") == first
    assert len(fake_prolific.subscriptions) == len(EVENTS)


def test_an_existing_secret_is_not_replaced(prolific: Prolific, fake_prolific: FakeProlific) -> None:
    """docs.prolific.com, Create/replace a secret: a new one deletes the old one."""
    fake_prolific.secrets[fake_prolific.workspace] = "used elsewhere too"
    assert prolific.webhook_secret() == "used elsewhere too"
    prolific.webhook_subscribe("https://assay.example.org/hook/")
    assert fake_prolific.count("POST /api/v1/hooks/secrets/") == 0


def test_a_missing_secret_is_created(prolific: Prolific, fake_prolific: FakeProlific) -> None:
    assert prolific.webhook_secret() == fake_prolific.secrets[fake_prolific.workspace]


def test_the_address_for_messages_must_be_encrypted(prolific: Prolific) -> None:
    with pytest.raises(ProviderError, match="https://"):
        prolific.webhook_subscribe("http://assay.example.org/hook/")


def test_webhooks_belong_to_a_workspace(fake_prolific: FakeProlific) -> None:
    with (
        Prolific(token=fake_prolific.token, endpoint=fake_prolific.base_url) as client,
        pytest.raises(ProviderError, match="workspace"),
    ):
        client.webhook_secret()
