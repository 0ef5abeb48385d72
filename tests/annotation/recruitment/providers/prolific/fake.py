"""A fake of Prolific: its API, what participants do on its pages, and the signed messages it sends.

It follows docs.prolific.com (2026) and imports none of Assay's own code.
"""

import base64
import hashlib
import hmac
import itertools
import json
import re
import secrets
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from tests.annotation.recruitment.providers.fake_server import Answer, FakeProvider, Request, page
from tests.annotation.recruitment.providers.prolific.fake_checks import FILTERS, study_problems

REJECTIONS = {
    "BAD_CODE",
    "FAILED_CHECK",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "NO_DATA",
    "OTHER",
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "UNSUPP_DEVICE",
}
EVENT_TYPES = ("study.status.change", "submission.status.change", "study.progress.change")
FEES = 1 / 3
OPEN = {"RESERVED", "ACTIVE"}
GONE = {"RETURNED", "TIMED-OUT"}


class Refused(Exception):
    def __init__(self, status: int, detail: Any, title: str = "Bad request") -> None:
        self.answer = Answer(
            status,
            {
                "error": {
                    "status": status,
                    "error_code": 140000 + status,
                    "title": title,
                    "detail": detail,
                    "additional_information": "/api/v1/errors/",
                }
            },
        )


@dataclass
class FakeSubmission:
    id: str
    study_id: str
    participant_id: str
    status: str = "ACTIVE"
    started_at: str = ""
    completed_at: str | None = None
    study_code: str | None = None
    return_requested: str | None = None
    rejection: dict[str, str] = field(default_factory=dict)

    def listed(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "participant_id": self.participant_id,
            "status": self.status,
            "started_at": self.started_at,
            "completed_at": self.completed_at,
            "study_code": self.study_code,
            "return_requested": self.return_requested,
            "has_siblings": False,
        }

    def detailed(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "study_id": self.study_id,
            "participant": self.participant_id,
            "status": self.status,
            "started_at": self.started_at,
            "completed_at": self.completed_at,
            "entered_code": self.study_code,
            "return_requested": self.return_requested,
            "bonus_payments": [],
        }


@dataclass
class FakeEvent:
    id: str
    payload: dict[str, Any]
    happened_at: float
    deliveries: int = 0


class FakeProlific(FakeProvider):
    """``participant_…`` methods act as participants on its pages; ``deliver`` sends pending messages."""

    def __init__(
        self,
        *,
        token: str = "fake-prolific-token",
        workspace: str = "63722982f9cc073ecc730f6b",
        balance: int = 1_000_000,
        auto_deliver: bool = False,
    ) -> None:
        super().__init__()
        self.values = {"token": token, "workspace": workspace}
        self.token = token
        self.workspace = workspace
        self.balance = balance
        self.auto_deliver = auto_deliver
        self.studies: dict[str, dict[str, Any]] = {}
        self.people: dict[str, FakeSubmission] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.bonuses_paid: list[tuple[str, float]] = []
        self.secrets: dict[str, str] = {}
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.events: list[FakeEvent] = []
        self._numbers = itertools.count(1)

    # --- What participants do ----------------------------------------------------------------------------------------

    @property
    def settings(self) -> dict[str, object]:
        return {"PROLIFIC_APP_URL": self.base_url}

    def rater_comes(self, study: str) -> tuple[str, str]:
        submission, url = self.participant_enters(study)
        return submission.id, url

    def rater_finishes(self, submission: str, *, code: str, fields: dict[str, str]) -> None:
        self.participant_completes(submission, code)

    def participant_enters(self, study_id: str, participant: str = "") -> tuple[FakeSubmission, str]:
        """Take a place; return the submission and the address that the participant's browser opens."""
        study = self.studies[study_id]
        if study["status"] != "ACTIVE" or self.places_taken(study_id) >= study["total_available_places"]:
            raise ValueError(f"the study is {study['status']} or full")
        person = participant or self._new_id()
        submission = FakeSubmission(self._new_id(), study_id, person, started_at=_now())
        self.people[submission.id] = submission
        url = str(study["external_study_url"])
        for name, value in {"PROLIFIC_PID": person, "STUDY_ID": study_id, "SESSION_ID": submission.id}.items():
            url = url.replace(f"{{{{%{name}%}}}}", value)
        self._submission_changed(submission)
        return submission, url

    def participant_completes(self, submission_id: str, code: str) -> FakeSubmission:
        submission = self.people[submission_id]
        if submission.status not in OPEN:
            return submission
        submission.study_code, submission.completed_at = code, _now()
        submission.status = "AWAITING REVIEW"
        for action in self._actions(submission.study_id, code):
            if action["action"] == "AUTOMATICALLY_APPROVE":
                submission.status = "APPROVED"
            elif action["action"] == "REQUEST_RETURN":
                submission.return_requested = _now()
            elif action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                submission.status = "SCREENED OUT"
        self._submission_changed(submission)
        return submission

    def participant_returns(self, submission_id: str) -> FakeSubmission:
        return self._leaves(submission_id, "RETURNED")

    def participant_times_out(self, submission_id: str) -> FakeSubmission:
        return self._leaves(submission_id, "TIMED-OUT")

    def _leaves(self, submission_id: str, status: str) -> FakeSubmission:
        submission = self.people[submission_id]
        submission.status, submission.completed_at = status, _now()
        self._submission_changed(submission)
        return submission

    def start_url(self, study_id: str, participant: str) -> str:
        """Return the address behind a participant's button Take part."""
        return f"{self.base_url}/start/{study_id}?{urlencode({'participant': participant})}"

    def places_taken(self, study_id: str) -> int:
        return sum(
            submission.study_id == study_id and submission.status not in GONE for submission in self.people.values()
        )

    def _actions(self, study_id: str, code: str) -> list[dict[str, Any]]:
        codes = self.studies[study_id]["completion_codes"]
        return next((completion_code["actions"] for completion_code in codes if completion_code["code"] == code), [])

    # --- Messages ----------------------------------------------------------------------------------------------------

    def signed(
        self, payload: dict[str, Any], *, event_id: str = "", at: float | None = None, happened_at: float | None = None
    ) -> tuple[dict[str, str], bytes]:
        """Return headers and body of a message, as a receiver would get them."""
        body = json.dumps(payload).encode()
        stamp = str(int(at if at is not None else datetime.now(UTC).timestamp()))
        digest = hmac.new(self.secrets[self.workspace].encode(), stamp.encode() + body, hashlib.sha256).digest()
        headers = {
            "Content-Type": "application/json",
            "X-Prolific-Request-Timestamp": stamp,
            "X-Prolific-Request-Signature": base64.b64encode(digest).decode(),
            "X-Event-ID": event_id or self._new_id(),
            "X-Timestamp": str(int(happened_at)) if happened_at is not None else stamp,
        }
        return headers, body

    def deliver(self, *, again: bool = False) -> list[int]:
        """Send every pending event (or all of them again) to every confirmed subscriber; return the status codes."""
        with self.lock:
            due = [event for event in self.events if again or not event.deliveries]
            for event in due:
                event.deliveries += 1
            subscribers = [
                subscription
                for subscription in self.subscriptions.values()
                if subscription["confirmed"] and subscription["is_enabled"]
            ]
        answers = []
        for event in due:
            for subscriber in subscribers:
                if subscriber["event_type"] == event.payload["event_type"]:
                    headers, body = self.signed(event.payload, event_id=event.id, happened_at=event.happened_at)
                    answers.append(_post(subscriber["target_url"], headers, body))
        return answers

    def _happens(self, payload: dict[str, Any]) -> None:
        self.events.append(FakeEvent(self._new_id(), payload, datetime.now(UTC).timestamp()))
        if self.auto_deliver and self.subscriptions:
            threading.Thread(target=self.deliver, daemon=True).start()

    def _submission_changed(self, submission: FakeSubmission) -> None:
        self._happens(
            {
                "resource_id": submission.id,
                "event_type": "submission.status.change",
                "participant_id": submission.participant_id,
                "status": submission.status,
            }
        )
        study = self.studies[submission.study_id]
        entered = [
            other
            for other in self.people.values()
            if other.study_id == submission.study_id and other.status not in GONE
        ]
        full = len(entered) >= study["total_available_places"] and all(other.status not in OPEN for other in entered)
        if full and study["status"] == "ACTIVE":
            self._study_becomes(study, "AWAITING REVIEW")

    def _study_becomes(self, study: dict[str, Any], status: str) -> None:
        study["status"] = status
        self._happens(
            {"resource_id": study["id"], "event_type": "study.status.change", "metadata": {}, "status": status}
        )

    # --- HTTP --------------------------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Answer:
        if not request.path.startswith("/api/"):
            return self._site(request)
        if request.headers.get("authorization") != f"Token {self.token}":
            return Refused(401, "Authentication credentials were not provided or are invalid.", "Unauthorized").answer
        for pattern, handler in ROUTES:
            if match := re.fullmatch(pattern, f"{request.method} {request.path}"):
                try:
                    return handler(self, request, *match.groups())
                except Refused as refusal:
                    return refusal.answer
        return Refused(404, "The requested resource was not found.", "Not found").answer

    def _site(self, request: Request) -> Answer:
        """Answer browsers: Take part, the page that takes the code, and the manager's page of a study."""
        if match := re.fullmatch(r"/start/([0-9a-f]+)", request.path):
            submission, url = self.participant_enters(match[1], request.query.get("participant", ""))
            return Answer(302, headers={"Location": url, "Set-Cookie": f"submission={submission.id}; Path=/"})
        if match := re.fullmatch(r"/researcher/workspaces/studies/([0-9a-f]+)", request.path):
            study = self._study(match[1])
            return page(study["name"], f"<p>{study['status']}, {study['places_taken']} places taken")
        if request.path == "/submissions/complete":
            submission_id, code = request.cookie("submission"), request.query.get("cc", "")
            if submission_id not in self.people:
                return page("Prolific", f"<p>You have no open submission. Code: {code}")
            submission = self.participant_completes(submission_id, code)
            return page("Prolific", f"<p>Submission {submission.id}: <b>{submission.status}</b>, code {code}")
        return page("Not found", "", 404)

    def _me(self, request: Request) -> Answer:
        return Answer(
            data={
                "id": "60a42f4c693c29420793cb73",
                "name": "Rosa Researcher",
                "email": "rosa@example.org",
                "currency_code": "GBP",
                "balance": self.balance,
                "available_balance": self.balance,
            }
        )

    def _filters(self, request: Request) -> Answer:
        return self._paged(request, FILTERS)

    def _study_create(self, request: Request) -> Answer:
        data = request.json()
        if problems := study_problems(data):
            raise Refused(400, problems)
        study = {"id": self._new_id(), "status": "UNPUBLISHED", "places_taken": 0, **data}
        self.studies[study["id"]] = study
        return Answer(201, study)

    def _study(self, study_id: str) -> dict[str, Any]:
        if study_id not in self.studies:
            raise Refused(404, "Study was not found.", "Not found")
        study = self.studies[study_id]
        study["places_taken"] = self.places_taken(study_id)
        return study

    def _study_get(self, request: Request, study_id: str) -> Answer:
        return Answer(data=self._study(study_id))

    def _study_patch(self, request: Request, study_id: str) -> Answer:
        study, data = self._study(study_id), request.json()
        if study["status"] != "UNPUBLISHED":
            if set(data) - {"internal_name", "total_available_places"}:
                raise Refused(400, "A published study allows changes of internal_name and total_available_places only.")
            if data.get("total_available_places", study["total_available_places"]) < study["total_available_places"]:
                raise Refused(400, {"total_available_places": ["Places can only be increased."]})
        study.update(data)
        return Answer(data=study)

    def _study_transition(self, request: Request, study_id: str) -> Answer:
        study, action = self._study(study_id), request.json().get("action")
        moves = {
            "PUBLISH": ({"UNPUBLISHED"}, "ACTIVE"),
            "PAUSE": ({"ACTIVE"}, "PAUSED"),
            "START": ({"PAUSED"}, "ACTIVE"),
            "STOP": ({"ACTIVE", "PAUSED"}, "AWAITING REVIEW"),
        }
        if action not in moves or study["status"] not in moves[action][0]:
            raise Refused(400, f"The study is {study['status']}: {action} is not possible.")
        cost = study["reward"] * study["total_available_places"] * (1 + FEES)
        if action == "PUBLISH" and cost > self.balance:
            raise Refused(400, "You do not have enough funds to publish this study. Please top up your account.")
        self._study_becomes(study, moves[action][1])
        return Answer(data=study)

    def _study_submissions(self, request: Request, study_id: str) -> Answer:
        self._study(study_id)
        return self._paged(
            request, [submission.listed() for submission in self.people.values() if submission.study_id == study_id]
        )

    def _submission(self, submission_id: str) -> FakeSubmission:
        if submission_id not in self.people:
            raise Refused(404, "Submission was not found.", "Not found")
        return self.people[submission_id]

    def _submission_get(self, request: Request, submission_id: str) -> Answer:
        return Answer(data=self._submission(submission_id).detailed())

    def _submission_transition(self, request: Request, submission_id: str) -> Answer:
        submission, data = self._submission(submission_id), request.json()
        action = data.get("action")
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(action)
        if wanted is None:
            raise Refused(400, {"action": [f'"{action}" is not a valid choice.']})
        if action == "REJECT":
            problems: dict[str, list[str]] = {}
            if len(data.get("message", "")) < 100:
                problems["message"] = ["Ensure this field has at least 100 characters."]
            if data.get("rejection_category") not in REJECTIONS:
                problems["rejection_category"] = ["This field is required."]
            if problems:
                raise Refused(400, problems)
        if submission.status == wanted:  # documented: the second of two equal requests is ignored
            return Answer(data=submission.detailed())
        if submission.status != "AWAITING REVIEW":
            raise Refused(400, f"A submission that is {submission.status} cannot be {wanted.lower()}.")
        submission.status = wanted
        submission.rejection = {name: data[name] for name in ("message", "rejection_category") if name in data}
        self._submission_changed(submission)
        return Answer(data=submission.detailed())

    def _request_return(self, request: Request, submission_id: str) -> Answer:
        submission = self._submission(submission_id)
        if not request.json().get("request_return_reasons"):
            raise Refused(400, {"request_return_reasons": ["This field is required."]})
        submission.return_requested = _now()
        return Answer(data={"id": submission.id, "status": submission.status, "participant": submission.participant_id})

    def _bulk_approve(self, request: Request) -> Answer:
        ids = request.json().get("submission_ids") or []
        if unknown := [submission_id for submission_id in ids if submission_id not in self.people]:
            raise Refused(400, f"Submissions not found: {', '.join(unknown)}")
        for submission_id in ids:
            submission = self.people[submission_id]
            if submission.status == "AWAITING REVIEW":
                submission.status = "APPROVED"
                self._submission_changed(submission)
        return Answer(data={"message": "The request to bulk approve has been made successfully."})

    def _bonus_create(self, request: Request) -> Answer:
        data = request.json()
        self._study(data.get("study_id", ""))
        payments = []
        for line in data.get("csv_bonuses", "").strip().split("\n"):
            match = re.fullmatch(r"([0-9A-Za-z-]+),(\d+(?:\.\d{1,2})?)", line)
            if not match or not self._took_part(match[1], data["study_id"]):
                raise Refused(400, f"This line is not a participant or submission of the study and an amount: {line!r}")
            payments.append((match[1], float(match[2])))
        amount = round(sum(value for _, value in payments) * 100)
        batch = {"id": self._new_id(), "study": data["study_id"], "amount": amount, "vat": 0}
        batch["fees"] = round(amount * FEES, 2)
        batch["total_amount"] = round(amount + batch["fees"], 2)
        self.batches[batch["id"]] = {**batch, "payments": payments}
        return Answer(201, batch)

    def _took_part(self, person: str, study_id: str) -> bool:
        return any(
            submission.study_id == study_id and person in (submission.id, submission.participant_id)
            for submission in self.people.values()
        )

    def _bonus_pay(self, request: Request, batch_id: str) -> Answer:
        if batch_id not in self.batches:
            raise Refused(404, "Bulk bonus payment was not found.", "Not found")
        self.bonuses_paid += self.batches[batch_id]["payments"]  # not idempotent, as documented
        return Answer(202, f"Bulk bonus payment with ID {batch_id} is being processed asynchronously.")

    def _secrets(self, request: Request) -> Answer:
        wanted = request.query.get("workspace_id", "")
        results = [
            {"id": "63722971f9cc073ecc730f6a", "value": value, "workspace_id": workspace}
            for workspace, value in self.secrets.items()
            if workspace == wanted
        ]
        return Answer(data={"results": results})

    def _secret_create(self, request: Request) -> Answer:
        workspace = self._own_workspace(request.json())
        self.secrets[workspace] = secrets.token_urlsafe(32)
        return Answer(201, {"id": self._new_id(), "value": self.secrets[workspace], "workspace_id": workspace})

    def _own_workspace(self, data: dict[str, Any]) -> str:
        if data.get("workspace_id") != self.workspace:
            raise Refused(400, {"workspace_id": ["You do not belong to this workspace."]})
        return self.workspace

    def _subscriptions(self, request: Request) -> Answer:
        subscriptions = [
            subscription
            for subscription in self.subscriptions.values()
            if subscription["workspace_id"] == request.query.get("workspace_id")
        ]
        shown = [
            {name: subscription[name] for name in subscription if name not in {"secret", "confirmed"}}
            for subscription in subscriptions
        ]
        return self._paged(request, shown)

    def _subscription_create(self, request: Request) -> Answer:
        data = request.json()
        workspace = self._own_workspace(data)
        if workspace not in self.secrets:
            raise Refused(400, "Create a secret for your workspace before subscribing.")
        if data.get("event_type") not in EVENT_TYPES:
            raise Refused(400, {"event_type": ["Unknown event type."]})
        shown = {**data, "id": self._new_id(), "is_enabled": True}
        secret = secrets.token_urlsafe(16)
        self.subscriptions[shown["id"]] = {**shown, "secret": secret, "confirmed": False}
        return Answer(201, shown, {"X-Hook-Secret": secret})

    def _subscription_confirm(self, request: Request, subscription_id: str) -> Answer:
        subscription = self.subscriptions.get(subscription_id)
        if subscription is None or request.json().get("secret") != subscription["secret"]:
            raise Refused(400, {"secret": ["The secret does not match."]})
        subscription["confirmed"] = True
        return Answer(data={name: subscription[name] for name in ("id", "event_type", "target_url", "workspace_id")})

    def _subscription_delete(self, request: Request, subscription_id: str) -> Answer:
        if self.subscriptions.pop(subscription_id, None) is None:
            raise Refused(404, "Subscription was not found.", "Not found")
        return Answer(204)

    def _paged(self, request: Request, rows: list[dict[str, Any]]) -> Answer:
        limit, offset = int(request.query.get("limit", 20)), int(request.query.get("offset", 0))
        following = None
        if offset + limit < len(rows):
            query = urlencode({**request.query, "limit": limit, "offset": offset + limit})
            following = f"{self.base_url}{request.path}?{query}"
        links = {"self": {"href": request.path}, "next": {"href": following, "title": "Next"}}
        return Answer(data={"results": rows[offset : offset + limit], "_links": links, "meta": {"count": len(rows)}})

    def _new_id(self) -> str:
        """Return 24 hexadecimal digits, like Prolific's ids."""
        return f"{0x60A0000000000000:016x}{next(self._numbers):08x}"


ROUTES: list[tuple[str, Any]] = [
    (r"GET /api/v1/users/me/", FakeProlific._me),
    (r"GET /api/v1/filters/", FakeProlific._filters),
    (r"POST /api/v1/studies/", FakeProlific._study_create),
    (r"GET /api/v1/studies/(\w+)/", FakeProlific._study_get),
    (r"PATCH /api/v1/studies/(\w+)/", FakeProlific._study_patch),
    (r"POST /api/v1/studies/(\w+)/transition/", FakeProlific._study_transition),
    (r"GET /api/v1/studies/(\w+)/submissions/", FakeProlific._study_submissions),
    (r"POST /api/v1/submissions/bulk-approve/", FakeProlific._bulk_approve),
    (r"POST /api/v1/submissions/bonus-payments/", FakeProlific._bonus_create),
    (r"GET /api/v1/submissions/(\w+)/", FakeProlific._submission_get),
    (r"POST /api/v1/submissions/(\w+)/transition/", FakeProlific._submission_transition),
    (r"POST /api/v1/submissions/(\w+)/request-return/", FakeProlific._request_return),
    (r"POST /api/v1/bulk-bonus-payments/(\w+)/pay/", FakeProlific._bonus_pay),
    (r"GET /api/v1/hooks/secrets/", FakeProlific._secrets),
    (r"POST /api/v1/hooks/secrets/", FakeProlific._secret_create),
    (r"GET /api/v1/hooks/subscriptions/", FakeProlific._subscriptions),
    (r"POST /api/v1/hooks/subscriptions/", FakeProlific._subscription_create),
    (r"POST /api/v1/hooks/subscriptions/(\w+)/", FakeProlific._subscription_confirm),
    (r"DELETE /api/v1/hooks/subscriptions/(\w+)/", FakeProlific._subscription_delete),
]


def _post(url: str, headers: dict[str, str], body: bytes) -> int:
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
