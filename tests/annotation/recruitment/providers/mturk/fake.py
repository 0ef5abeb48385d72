"""A fake of Mechanical Turk: the Requester API (AWS JSON 1.1), and what workers do on its pages.

Speaks as the API Reference of 2017-01-17 documents. Signatures are checked (AWS Signature Version 4). Knows nothing of
Assay's own code.
"""

import hashlib
import hmac
import itertools
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape as xml_escape

from tests.annotation.recruitment.providers.fake_server import Answer, FakeProvider, Request, page

TARGET = "MTurkRequesterServiceV20170117."
ANSWERS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
QUESTION = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd}"
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
REQUIRED = {
    "CreateHITType": ("AssignmentDurationInSeconds", "Reward", "Title", "Description"),
    "CreateHITWithHITType": ("HITTypeId", "LifetimeInSeconds"),
    "GetHIT": ("HITId",),
    "UpdateExpirationForHIT": ("HITId", "ExpireAt"),
    "CreateAdditionalAssignmentsForHIT": ("HITId", "NumberOfAdditionalAssignments"),
    "ListAssignmentsForHIT": ("HITId",),
    "GetAssignment": ("AssignmentId",),
    "ApproveAssignment": ("AssignmentId",),
    "RejectAssignment": ("AssignmentId", "RequesterFeedback"),
    "SendBonus": ("WorkerId", "BonusAmount", "AssignmentId", "Reason"),
    "ListBonusPayments": (),
    "GetAccountBalance": (),
}


class Refused(Exception):
    def __init__(self, message: str, turk: str = "ParameterValidationError", *, kind: str = "RequestError") -> None:
        code = f"AWS.{turk}" if turk == "ParameterValidationError" else f"AWS.MechanicalTurk.{turk}"
        stamp = int(time.time() * 1000)
        data = {"__type": kind, "Message": f"{message} ({stamp})", "TurkErrorCode": code}
        self.answer = Answer(400, data, content_type="application/x-amz-json-1.1")


@dataclass
class FakeAssignment:
    id: str
    hit_id: str
    worker_id: str
    status: str  # Accepted until it is submitted; the API shows only submitted ones
    accepted_at: float
    submitted_at: float | None = None
    answer: str = ""
    feedback: str = ""

    def shown(self) -> dict[str, Any]:
        return {
            "AssignmentId": self.id,
            "WorkerId": self.worker_id,
            "HITId": self.hit_id,
            "AssignmentStatus": self.status,
            "AcceptTime": self.accepted_at,
            "SubmitTime": self.submitted_at,
            "Answer": self.answer,
            "RequesterFeedback": self.feedback,
        }


class FakeMechanicalTurk(FakeProvider):
    """``worker_…`` methods act as workers on its pages. Its own address is the ``turkSubmitTo`` it sends."""

    def __init__(
        self,
        *,
        access_key: str = "AKIAFAKEFAKEFAKEFAKE",
        secret_key: str = "fake-secret-key",
        balance: str = "10000.00",
    ) -> None:
        super().__init__()
        self.values = {"access_key": access_key, "secret_key": secret_key}
        self.access_key = access_key
        self.secret_key = secret_key
        self.balance = balance
        self.types: dict[str, dict[str, Any]] = {}
        self.hits: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, FakeAssignment] = {}
        self.bonuses: list[dict[str, Any]] = []
        self._tokens: dict[str, str] = {}
        self._numbers = itertools.count(1)

    @property
    def settings(self) -> dict[str, object]:
        return {"MTURK_SUBMIT_ORIGINS": [self.base_url]}

    def rater_comes(self, study: str) -> tuple[str, str]:
        assignment, url = self.worker_accepts(study)
        return assignment.id, url

    def rater_finishes(self, submission: str, *, code: str, fields: dict[str, str]) -> None:
        self.worker_submits(submission, fields)

    # --- What workers do ---------------------------------------------------------------------------------------------

    def preview_url(self, hit_id: str) -> str:
        """Return the address in the preview's frame: no worker, no assignment."""
        return self._frame(hit_id, {"assignmentId": NO_ASSIGNMENT, "hitId": hit_id})

    def worker_accepts(self, hit_id: str, worker_id: str = "") -> tuple[FakeAssignment, str]:
        if self._available(hit_id) < 1 or self.hits[hit_id]["Expiration"] <= time.time():
            raise ValueError("the HIT has no assignments left or has expired")
        worker = worker_id or self._new_id("A")
        if any(accepted.hit_id == hit_id and accepted.worker_id == worker for accepted in self.assignments.values()):
            raise ValueError("the worker has had this HIT before")
        assignment = FakeAssignment(self._new_id("3"), hit_id, worker, "Accepted", time.time())
        self.assignments[assignment.id] = assignment
        return assignment, self.work_url(assignment.id)

    def work_url(self, assignment_id: str) -> str:
        assignment = self.assignments[assignment_id]
        return self._frame(
            assignment.hit_id,
            {
                "assignmentId": assignment.id,
                "hitId": assignment.hit_id,
                "workerId": assignment.worker_id,
                "turkSubmitTo": self.base_url,
            },
        )

    def worker_submits(self, assignment_id: str, fields: dict[str, str]) -> FakeAssignment:
        """Do what the form posted to /mturk/externalSubmit does."""
        assignment = self.assignments[assignment_id]
        if assignment.status != "Accepted":
            raise ValueError(f"the assignment is {assignment.status}")
        assignment.status, assignment.submitted_at = "Submitted", time.time()
        answers = "".join(
            f"<Answer><QuestionIdentifier>{xml_escape(name)}</QuestionIdentifier>"
            f"<FreeText>{xml_escape(value)}</FreeText></Answer>"
            for name, value in fields.items()
        )
        assignment.answer = (
            f'<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="{ANSWERS}">{answers}'
            "</QuestionFormAnswers>"
        )
        return assignment

    def worker_returns(self, assignment_id: str) -> None:
        """Undo the acceptance; the requester gets no message."""
        del self.assignments[assignment_id]

    def _frame(self, hit_id: str, parameters: dict[str, str]) -> str:
        url = ET.fromstring(self.hits[hit_id]["Question"]).findtext(f"{QUESTION}ExternalURL") or ""
        return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"

    def _available(self, hit_id: str) -> int:
        taken = sum(assignment.hit_id == hit_id for assignment in self.assignments.values())
        return int(self.hits[hit_id]["MaxAssignments"]) - taken

    # --- HTTP --------------------------------------------------------------------------------------------------------

    def name(self, request: Request) -> str:
        return f"{request.method} {request.path} {request.headers.get('x-amz-target', '')}"

    def answer(self, request: Request) -> Answer:
        target = request.headers.get("x-amz-target", "")
        if not target.startswith(TARGET):
            return self._site(request)
        if problem := self._access_problem(request):
            return problem
        operation = target.removeprefix(TARGET)
        data = request.json()
        try:
            if operation not in REQUIRED:
                raise Refused(f"{operation} is not known", kind="UnknownOperationException")
            for name in REQUIRED[operation]:
                if data.get(name) in (None, ""):
                    raise Refused(f"{name} is required")
            handler: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, f"_{operation}")
            return Answer(data=handler(data), content_type="application/x-amz-json-1.1")
        except Refused as refusal:
            return refusal.answer

    def _site(self, request: Request) -> Answer:
        """Answer a worker's browser: a HIT in its frame, and the address the last form is posted to."""
        if request.path == "/mturk/externalSubmit":
            fields = request.form() if request.method == "POST" else request.query
            assignment_id = fields.pop("assignmentId", "")
            if assignment_id not in self.assignments or not fields:
                message = "The assignmentId and at least one other field are needed."
                return page("There was a problem submitting your results", f"<p>{message}", 400)
            try:
                self.worker_submits(assignment_id, fields)
            except ValueError as error:
                return page("There was a problem submitting your results", f"<p>{escape(str(error))}", 400)
            return page("The HIT has been successfully submitted", f"<p>Assignment {escape(assignment_id)}")
        if match := re.fullmatch(r"/hits/(\w+)", request.path):
            return self._hit_page(match[1], request.query.get("worker", ""))
        return page("Not found", "", 404)

    def _hit_page(self, hit_id: str, worker: str) -> Answer:
        held = next(
            (
                assignment
                for assignment in self.assignments.values()
                if (assignment.hit_id, assignment.worker_id) == (hit_id, worker)
            ),
            None,
        )
        if worker and held is None:
            held, _ = self.worker_accepts(hit_id, worker)
        url = self.work_url(held.id) if held else self.preview_url(hit_id)
        frame = f'<iframe name=hit src="{escape(url)}" width=1000 height=700></iframe>'
        return page(self.types[self.hits[hit_id]["HITTypeId"]]["Title"], frame)

    def _access_problem(self, request: Request) -> Answer | None:
        authorization = request.headers.get("authorization", "")
        match = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=(\S+?)/(\d{8}/us-east-1/mturk-requester/aws4_request), "
            r"SignedHeaders=(\S+), Signature=([0-9a-f]{64})",
            authorization,
        )
        if not match or match[1] != self.access_key:
            return _aws_error("UnrecognizedClientException", "The security token included in the request is invalid.")
        if not hmac.compare_digest(match[4], self._signature(request, match[2], match[3])):
            return _aws_error("InvalidSignatureException", "The request signature we calculated does not match.")
        return None

    def _signature(self, request: Request, scope: str, signed: str) -> str:
        """Compute Signature Version 4, as AWS documents it."""
        headers = "".join(f"{name}:{request.headers[name].strip()}\n" for name in signed.split(";"))
        payload = hashlib.sha256(request.body).hexdigest()
        canonical = f"{request.method}\n{request.path}\n\n{headers}\n{signed}\n{payload}"
        hashed = hashlib.sha256(canonical.encode()).hexdigest()
        to_sign = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashed}"
        key = f"AWS4{self.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()

    # --- Operations --------------------------------------------------------------------------------------------------

    def _GetAccountBalance(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"AvailableBalance": self.balance}

    def _CreateHITType(self, data: dict[str, Any]) -> dict[str, Any]:
        if not re.fullmatch(r"[0-9]+\.?[0-9]{0,2}", data["Reward"]):
            raise Refused("Reward is not an amount in dollars")
        if len(data["Title"]) > 128 or len(data["Description"]) > 2000:
            raise Refused("Title or Description is too long")
        for name, existing in self.types.items():
            if existing == data:  # equal properties are one type
                return {"HITTypeId": name}
        hit_type = self._new_id("3")
        self.types[hit_type] = data
        return {"HITTypeId": hit_type}

    def _CreateHITWithHITType(self, data: dict[str, Any]) -> dict[str, Any]:
        token = data.get("UniqueRequestToken", "")
        if token and token in self._tokens:
            raise Refused(f"The HIT already exists: HITId={self._tokens[token]}", "HitAlreadyExists")
        if data["HITTypeId"] not in self.types:
            raise Refused(f"HITType {data['HITTypeId']} does not exist.", "HITTypeDoesNotExist")
        question = ET.fromstring(data["Question"])
        url = question.findtext(f"{QUESTION}ExternalURL") or ""
        if question.tag != f"{QUESTION}ExternalQuestion" or question.find(f"{QUESTION}FrameHeight") is None:
            raise Refused("The question does not follow the ExternalQuestion schema", "XMLParseError")
        if not url.startswith(("https://", "http://127.0.0.1")):
            raise Refused("ExternalURL must use HTTPS", "XMLParseError")
        hit = {
            "HITId": self._new_id("3"),
            "HITTypeId": data["HITTypeId"],
            "HITGroupId": self._new_id("3"),
            "Question": data["Question"],
            "MaxAssignments": data.get("MaxAssignments", 1),
            "Expiration": time.time() + data["LifetimeInSeconds"],
            "RequesterAnnotation": data.get("RequesterAnnotation", ""),
            "CreationTime": time.time(),
        }
        self.hits[hit["HITId"]] = hit
        self._tokens[token] = hit["HITId"]
        return {"HIT": self._shown(hit["HITId"])}

    def _hit(self, hit_id: str) -> dict[str, Any]:
        if hit_id not in self.hits:
            raise Refused(f"Hit {hit_id} does not exist.", "HITDoesNotExist")
        return self.hits[hit_id]

    def _shown(self, hit_id: str) -> dict[str, Any]:
        hit, available = self._hit(hit_id), self._available(hit_id)
        assignments = [assignment for assignment in self.assignments.values() if assignment.hit_id == hit_id]
        pending = sum(assignment.status == "Accepted" for assignment in assignments)
        expired = hit["Expiration"] <= time.time()
        status = "Assignable" if available and not expired else "Unassignable" if pending else "Reviewable"
        return {
            **hit,
            **{name: self.types[hit["HITTypeId"]][name] for name in ("Title", "Description", "Reward")},
            "HITStatus": status,
            "NumberOfAssignmentsPending": pending,
            "NumberOfAssignmentsAvailable": available,
            "NumberOfAssignmentsCompleted": sum(
                assignment.status in {"Approved", "Rejected"} for assignment in assignments
            ),
        }

    def _GetHIT(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"HIT": self._shown(data["HITId"])}

    def _UpdateExpirationForHIT(self, data: dict[str, Any]) -> dict[str, Any]:
        # A time that has passed expires the HIT now.
        self._hit(data["HITId"])["Expiration"] = max(float(data["ExpireAt"]), time.time())
        return {}

    def _CreateAdditionalAssignmentsForHIT(self, data: dict[str, Any]) -> dict[str, Any]:
        hit, more, token = (
            self._hit(data["HITId"]),
            data["NumberOfAdditionalAssignments"],
            data.get("UniqueRequestToken"),
        )
        if token and token in self._tokens:
            raise Refused("A request with this token already exists", "DuplicateRequest")
        if hit["MaxAssignments"] < 10 <= hit["MaxAssignments"] + more:
            raise Refused("From fewer than 10 assignments to 10 or more", "InvalidMaximumAssignmentsIncrease")
        hit["MaxAssignments"] += more
        self._tokens[token or self._new_id("T")] = hit["HITId"]
        return {}

    def _ListAssignmentsForHIT(self, data: dict[str, Any]) -> dict[str, Any]:
        self._hit(data["HITId"])
        rows = [
            assignment.shown()
            for assignment in self.assignments.values()
            if assignment.hit_id == data["HITId"] and assignment.status != "Accepted"
        ]
        return self._page(data, "Assignments", rows)

    def _page(self, data: dict[str, Any], name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
        start, size = int(data.get("NextToken") or 0), min(int(data.get("MaxResults") or 10), 100)
        shown = rows[start : start + size]
        following = {"NextToken": str(start + size)} if start + size < len(rows) else {}
        return {name: shown, "NumResults": len(shown), **following}

    def _assignment(self, assignment_id: str) -> FakeAssignment:
        if assignment_id not in self.assignments:
            raise Refused(f"Assignment {assignment_id} does not exist.", "AssignmentDoesNotExist")
        return self.assignments[assignment_id]

    def _GetAssignment(self, data: dict[str, Any]) -> dict[str, Any]:
        assignment = self._assignment(data["AssignmentId"])
        if assignment.status == "Accepted":
            raise Refused("The assignment has not been submitted", "InvalidAssignmentState")
        return {"Assignment": assignment.shown(), "HIT": self._shown(assignment.hit_id)}

    def _ApproveAssignment(self, data: dict[str, Any]) -> dict[str, Any]:
        return self._decide(data, "Approved")

    def _RejectAssignment(self, data: dict[str, Any]) -> dict[str, Any]:
        return self._decide(data, "Rejected")

    def _decide(self, data: dict[str, Any], status: str) -> dict[str, Any]:
        assignment = self._assignment(data["AssignmentId"])
        if assignment.status != "Submitted":
            raise Refused("This operation needs an assignment that is Submitted", "InvalidAssignmentState")
        assignment.status, assignment.feedback = status, data.get("RequesterFeedback", "")
        return {}

    def _SendBonus(self, data: dict[str, Any]) -> dict[str, Any]:
        token = data.get("UniqueRequestToken", "")
        if token and token in self._tokens:
            raise Refused(f"A bonus with this token already exists: request {self._tokens[token]}", "DuplicateRequest")
        assignment = self._assignment(data["AssignmentId"])
        if assignment.worker_id != data["WorkerId"]:
            raise Refused("The worker has not worked on this assignment", "WorkerDoesNotExist")
        stored_fields = ("WorkerId", "BonusAmount", "AssignmentId", "Reason")
        self.bonuses.append({**{name: data[name] for name in stored_fields}, "GrantTime": time.time()})
        self._tokens[token] = self._new_id("R")
        return {}

    def _ListBonusPayments(self, data: dict[str, Any]) -> dict[str, Any]:
        rows = [bonus for bonus in self.bonuses if bonus["AssignmentId"] == data.get("AssignmentId")]
        return self._page(data, "BonusPayments", rows)

    def forget_tokens(self) -> None:
        """Forget request tokens, as Amazon does after 24 hours."""
        self._tokens.clear()

    def _new_id(self, prefix: str) -> str:
        """Return capital letters and digits, about as long as Amazon's ids."""
        return f"{prefix}FAKE{next(self._numbers):025d}"


def _aws_error(code: str, message: str) -> Answer:
    return Answer(400, {"__type": code, "message": message}, content_type="application/x-amz-json-1.1")
