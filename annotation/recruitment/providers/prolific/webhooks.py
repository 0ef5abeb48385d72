"""Verify and read Prolific's messages.

docs.prolific.com, Webhooks: Receiving, Verifying, Idempotency and the X-Event-ID header, Handling event order.
"""

import base64
import hashlib
import hmac
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.recruitment.providers.base import WebhookEvent
from annotation.recruitment.providers.errors import WebhookRefused
from annotation.recruitment.providers.prolific.wire import STUDY_STATES, SUBMISSION_STATUSES, plain, text

EVENTS = ("submission.status.change", "study.status.change")
WINDOW = timedelta(minutes=5)  # redeliveries are signed anew, so that no genuine message is older


def read_event(*, headers: Mapping[str, str], body: bytes, secret: str, now: datetime) -> WebhookEvent:
    """Return a message once its bytes are verified.

    The signature covers the body and the time of sending, not the event's id and time. A message is therefore only a
    reason to read the submission through the API.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    stamp = fields.get("x-prolific-request-timestamp", "").strip()
    _check_signature(stamp, body, fields.get("x-prolific-request-signature", "").strip(), secret)
    sent_at = _moment(stamp)
    if sent_at is None:
        raise WebhookRefused(f"Found the timestamp {stamp[:40]!r}; accepted: seconds since 1970.")
    if abs(now - sent_at) > WINDOW:
        when = sent_at.isoformat(timespec="seconds")
        raise WebhookRefused(f"Found a message of {when}; accepted: at most {WINDOW} away from now.")
    event_id = fields.get("x-event-id", "").strip()
    if not 1 <= len(event_id) <= 120:
        raise WebhookRefused(
            "Found no X-Event-ID of 1 to 120 characters; accepted: one, to recognise repeated messages."
        )
    happened_at = _moment(fields.get("x-timestamp", "").strip()) or sent_at
    return _event(event_id, min(happened_at, sent_at), _payload(body))


def _check_signature(stamp: str, body: bytes, signature: str, secret: str) -> None:
    if not secret:
        raise WebhookRefused("No secret is stored for this account, so that no message can be verified.")
    if not stamp or not signature:
        raise WebhookRefused("Found no signature or no timestamp; accepted: messages that Prolific has signed.")
    digest = hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(base64.b64encode(digest), signature.encode()):
        raise WebhookRefused("The signature does not match; accepted: messages that Prolific has signed.")


def _moment(stamp: str) -> datetime | None:
    try:
        seconds = float(stamp)
    except ValueError:
        return None
    if not math.isfinite(seconds) or not 0 < seconds < 1e11:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def _payload(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except ValueError as error:
        raise WebhookRefused("The body is not JSON.") from error
    if not isinstance(payload, dict) or not text(payload.get("event_type")):
        raise WebhookRefused("Found no event_type; accepted: an object with event_type and resource_id.")
    return payload


def _event(event_id: str, sent_at: datetime, payload: dict[str, Any]) -> WebhookEvent:
    kind, resource, status = (text(payload.get(name)) for name in ("event_type", "resource_id", "status"))
    of_submission = kind.startswith("submission.")
    return WebhookEvent(
        id=event_id,
        kind=kind,
        sent_at=sent_at,
        study=text(payload.get("study_id")) if of_submission else resource,
        submission=resource if of_submission else "",
        rater=text(payload.get("participant_id")),
        status=SUBMISSION_STATUSES.get(plain(status)) if of_submission else None,
        study_state=None if of_submission else STUDY_STATES.get(plain(status)),
        payload=payload,
    )
