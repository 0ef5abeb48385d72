"""Prolific, through its API version 1.

Written after docs.prolific.com as of 2026: API reference (Studies: The study object, Create a draft study, Transition a
study's status, List study submissions; Submissions: Approve or reject, Request return, Bulk approve; Bonuses: Set up,
Pay; Webhooks: Subscribing, Receiving, Verifying, Idempotency and the X-Event-ID header) and the guides API fundamentals
and Managing high loads.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

import httpx

from annotation.recruitment.providers.addresses import require_https, with_query
from annotation.recruitment.providers.base import (
    Account,
    Arrival,
    Bonus,
    BonusBatch,
    Capability,
    Completion,
    CompletionCode,
    Field,
    FieldKind,
    Outcome,
    Provider,
    RejectionReason,
    RejectionRules,
    Section,
    Setting,
    Study,
    StudyDraft,
    StudyState,
    Submission,
    WebhookEvent,
    WebhookSubscription,
)
from annotation.recruitment.providers.codes import code_for
from annotation.recruitment.providers.errors import ArrivalRefused, ProviderError
from annotation.recruitment.providers.http import JsonApi
from annotation.recruitment.providers.prolific import wire
from annotation.recruitment.providers.prolific.webhooks import EVENTS, read_event
from annotation.recruitment.providers.retry import Backoff

APP = "https://app.prolific.com"
PARTICIPANT = re.compile(r"[0-9A-Za-z]{24}")
IDENTIFIER = re.compile(r"[0-9A-Za-z_-]{1,64}")
PAGE = 200
BULK = 100
SHORTEST_REJECTION = 100  # characters, a rule of Prolific's


class Prolific(Provider):
    key: ClassVar[str] = "prolific"
    label: ClassVar[str] = "Prolific"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(Capability) - {Capability.EMBEDDED}
    settings: ClassVar[tuple[Setting, ...]] = (Setting("app_url", "PROLIFIC_APP_URL"),)  # raters are sent back there
    account_fields: ClassVar[tuple[Field, ...]] = (
        Field(
            "token",
            "API token",
            "Made at Prolific under Settings, API tokens.",
            kind=FieldKind.SECRET,
            required=True,
        ),
        Field(
            "workspace",
            "Workspace id",
            "The part after /workspaces/ in the address of your workspace.",
            required=True,
        ),
        Field("project", "Project id", "Studies are made in this project; empty for your default project."),
    )
    api: ClassVar[str] = "https://api.prolific.com"
    connect_text: ClassVar[str] = (
        "Studies are made, followed, approved and paid from here. You need an API token and your workspace's id."
    )
    study_fields: ClassVar[tuple[Field, ...]] = (
        Field(
            "devices",
            "Devices",
            "None chosen means all; pages fit each.",
            kind=FieldKind.CHOICES,
            choices=tuple(wire.DEVICES.items()),
            section=Section.ELIGIBILITY,
        ),
    )
    recruit_text: ClassVar[str] = (
        "People who take part in studies for pay. With an account of yours the study is made, followed and paid from "
        "here; without one you make it there and paste a link and codes."
    )
    by_hand_hint: ClassVar[str] = "and choose “I'll use URL parameters”"
    least_per_hour: ClassVar[Mapping[str, Decimal]] = {"GBP": Decimal("6.00"), "USD": Decimal("8.00")}
    fair_source: ClassVar[str] = "which Prolific recommends at least"
    parameters: ClassVar[tuple[str, ...]] = wire.PARAMETERS
    rater_id: ClassVar[str] = "Prolific ID"
    rejection: ClassVar[RejectionRules] = RejectionRules(
        min_length=SHORTEST_REJECTION,
        help=f"At least {SHORTEST_REJECTION} characters. Say what was wrong, with an example.",
        advice="; Prolific allows few reasons, and when in doubt asking to return is kinder",
    )

    def __init__(
        self,
        *,
        token: str = "",
        workspace: str = "",
        project: str = "",
        endpoint: str = "",
        app_url: str = "",
        backoff: Backoff | None = None,
    ) -> None:
        """Without a token raters are still recognised and sent back; the rest needs one."""
        super().__init__(endpoint=endpoint, backoff=backoff)
        token = token.strip()
        if any(not (character.isascii() and character.isprintable()) or character == " " for character in token):
            raise ProviderError.at("token", "Found spaces or other characters that no token has; accepted: one word.")
        self._token = token
        self._workspace = workspace.strip()
        self._project = project.strip()
        self._app = (app_url or APP).rstrip("/")
        self._open: JsonApi | None = None

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        if agreed_fee:
            return []
        return ["The campaign sets no fee, so that none is counted here; Prolific adds a fee to every reward."]

    # --- Raters ------------------------------------------------------------------------------------------------------

    def arrival(self, query: Mapping[str, str]) -> Arrival | None:
        found = {name: query.get(name, "").strip() for name in wire.PARAMETERS}
        if not any(found.values()):
            return None
        for name, value in found.items():
            pattern = PARTICIPANT if name == "PROLIFIC_PID" else IDENTIFIER
            if not pattern.fullmatch(value):
                what = "24 letters and digits" if name == "PROLIFIC_PID" else "letters, digits, - and _"
                raise ArrivalRefused(
                    f"{name}: found {value[:80]!r}; accepted: the id that Prolific fills in, {what}.",
                    fields={name: [f"Accepted: {what}."]},
                )
        return Arrival(rater=found["PROLIFIC_PID"], study=found["STUDY_ID"], session=found["SESSION_ID"])

    def entry_url(self, url: str) -> str:
        return with_query(url, {name: f"{{{{%{name}%}}}}" for name in wire.PARAMETERS}, verbatim="{}%")

    def completion(self, arrival: Arrival, outcome: Outcome, codes: Sequence[CompletionCode]) -> Completion:
        code = code_for(codes, outcome)
        if not code:
            return Completion()
        return Completion(url=f"{self._app}/submissions/complete?{urlencode({'cc': code})}", code=code)

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> Account:
        data, _ = self._call("GET", "/api/v1/users/me/")
        balance = data.get("available_balance", data.get("balance"))
        return Account(
            id=wire.text(data.get("id")),
            name=wire.text(data.get("name") or data.get("email") or data.get("username")),
            currency=wire.text(data.get("currency_code")),
            balance=None if balance is None else wire.from_minor(balance),
        )

    def filters(self) -> list[wire.Filter]:
        """What raters can be chosen by, for a manager to pick from."""
        return [wire.filter_of(found) for found in self._pages("/api/v1/filters/")]

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: StudyDraft) -> Study:
        self.check_extra(draft)
        body = wire.study_body(draft, project=self._project)
        try:
            # A second draft costs nothing and is seen by nobody, so a lost answer is no reason to give up.
            data, _ = self._call("POST", "/api/v1/studies/", body=body, idempotent=True)
        except ProviderError as error:
            raise wire.in_our_words(error) from error
        return self._study(data)

    def study_publish(self, study: str, draft: StudyDraft) -> Study:
        return self._study_transition(study, "PUBLISH", unless={StudyState.DRAFT})

    def study_pause(self, study: str) -> Study:
        return self._study_transition(study, "PAUSE", unless={StudyState.DRAFT, StudyState.PUBLISHED})

    def study_resume(self, study: str, draft: StudyDraft) -> Study:
        return self._study_transition(study, "START", unless={StudyState.DRAFT, StudyState.PAUSED})

    def study_stop(self, study: str) -> Study:
        return self._study_transition(study, "STOP", unless={StudyState.DRAFT, StudyState.PUBLISHED, StudyState.PAUSED})

    def study_fetch(self, study: str) -> Study:
        data, _ = self._call("GET", f"/api/v1/studies/{_id(study)}/")
        return self._study(data)

    def study_extend(self, study: str, *, places: int, reference: str) -> Study:
        has = self.study_fetch(study).places or 0
        if places < has:
            raise ProviderError.at("places", f"Found {places}; accepted: {has} or more, Prolific takes no place back.")
        data, _ = self._call(
            "PATCH", f"/api/v1/studies/{_id(study)}/", body={"total_available_places": places}, idempotent=True
        )
        return self._study(data)

    def _study_transition(self, study: str, action: str, *, unless: set[StudyState]) -> Study:
        """``unless`` are the states in which it has plainly not happened yet."""
        path = f"/api/v1/studies/{_id(study)}/transition/"
        try:
            data, _ = self._call("POST", path, body={"action": action}, idempotent=False)
        except ProviderError as error:
            if not error.unknown:
                raise
            found = self.study_fetch(study)
            if found.state is None or found.state in unless:
                raise
            return found
        return self._study(data) if isinstance(data, dict) and data.get("status") else self.study_fetch(study)

    def _study(self, data: Mapping[str, Any]) -> Study:
        return wire.study_of(data, app=self._app)

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[Submission]:
        path = f"/api/v1/studies/{_id(study)}/submissions/"
        for found in self._pages(path, {"limit": PAGE, "offset": 0}):
            yield wire.submission_of(found, study=study)

    def submission(self, submission: str) -> Submission:
        data, _ = self._call("GET", f"/api/v1/submissions/{_id(submission)}/")
        return wire.submission_of(data)

    def approve(self, submission: str) -> None:
        self._submission_transition(submission, {"action": "APPROVE"})

    def approve_many(self, submissions: Sequence[str]) -> None:
        """In batches, one after the other: many single approvals at once contend for one wallet and are turned away."""
        for start in range(0, len(submissions), BULK):
            batch = list(submissions[start : start + BULK])
            self._call("POST", "/api/v1/submissions/bulk-approve/", body={"submission_ids": batch}, idempotent=False)

    def reject(self, submission: str, *, reason: RejectionReason, message: str) -> None:
        message = " ".join(message.split())
        if len(message) < SHORTEST_REJECTION:
            raise ProviderError.at(
                "message",
                f"Found {len(message)} characters; accepted: {SHORTEST_REJECTION} or more. The participant reads them.",
            )
        body = {"action": "REJECT", "message": message, "rejection_category": wire.REJECTIONS[reason]}
        self._submission_transition(submission, body)

    def request_return(self, submission: str, *, reason: str) -> None:
        if not reason.strip():
            raise ProviderError.at("reason", "Found no reason; accepted: a text that the participant reads.")
        path = f"/api/v1/submissions/{_id(submission)}/request-return/"
        self._call("POST", path, body={"request_return_reasons": [reason.strip()]}, idempotent=False)

    def _submission_transition(self, submission: str, body: Mapping[str, str]) -> None:
        # Documented as idempotent: the second of two equal requests is ignored.
        self._call("POST", f"/api/v1/submissions/{_id(submission)}/transition/", body=body, idempotent=True)

    # --- Bonuses -----------------------------------------------------------------------------------------------------

    def bonus_prepare(self, study: str, payments: Sequence[Bonus]) -> BonusBatch:
        wire.check_bonuses(payments)
        lines = "\n".join(f"{payment.submission},{payment.amount:.2f}" for payment in payments)
        body = {"study_id": study, "csv_bonuses": lines}
        # Setting up pays nothing: one set up twice is one never paid.
        data, _ = self._call("POST", "/api/v1/submissions/bonus-payments/", body=body, idempotent=True)
        asked = sum((payment.amount for payment in payments), Decimal(0))
        amount, total = wire.from_minor(data["amount"]), wire.from_minor(data["total_amount"])
        if amount != asked:
            raise ProviderError(
                f"Prolific would pay {amount} where {asked} was asked for; nothing has been paid.", said=str(data)
            )
        return BonusBatch(
            str(data["id"]), study, tuple(payments), amount, total - amount, total, prepared_at=datetime.now(UTC)
        )

    def bonus_pay(self, batch: BonusBatch) -> None:
        # Documented as not idempotent: sent twice, everybody is paid twice.
        self._call("POST", f"/api/v1/bulk-bonus-payments/{_id(batch.id)}/pay/", body={}, idempotent=False)

    # --- Webhooks ----------------------------------------------------------------------------------------------------

    def webhook_secret(self) -> str:
        workspace = self._need_workspace()
        found = list(self._pages("/api/v1/hooks/secrets/", {"workspace_id": workspace}))
        for secret in found:
            if secret.get("workspace_id") in {workspace, None} and secret.get("value"):
                return str(secret["value"])
        # Only where there is none: a new secret ends the old one, and with it everything else that relies on it.
        data, _ = self._call("POST", "/api/v1/hooks/secrets/", body={"workspace_id": workspace}, idempotent=False)
        return str(data["value"])

    def webhook_subscribe(self, url: str) -> list[WebhookSubscription]:
        require_https(url, field="url")
        workspace = self._need_workspace()
        self.webhook_secret()
        existing = {
            found["event_type"]: wire.subscription_of(found)
            for found in self._pages("/api/v1/hooks/subscriptions/", {"workspace_id": workspace})
            if found.get("target_url") == url and found.get("is_enabled", True)
        }
        return [existing.get(event) or self._subscribe(event, url, workspace) for event in EVENTS]

    def _subscribe(self, event: str, url: str, workspace: str) -> WebhookSubscription:
        body = {"event_type": event, "target_url": url, "workspace_id": workspace}
        data, headers = self._call("POST", "/api/v1/hooks/subscriptions/", body=body, idempotent=False)
        # The reference shows a list and the guide a single object.
        made = next((one for one in data.get("results", []) if wire.is_for(one, event, url)), data)
        path = f"/api/v1/hooks/subscriptions/{_id(str(made['id']))}/"
        self._call("POST", path, body={"secret": headers.get("X-Hook-Secret", "")}, idempotent=True)
        return WebhookSubscription(str(made["id"]), event, url)

    def webhook_unsubscribe(self, subscription: str) -> None:
        self._call("DELETE", f"/api/v1/hooks/subscriptions/{_id(subscription)}/")

    def webhook_event(self, *, headers: Mapping[str, str], body: bytes, secret: str, now: datetime) -> WebhookEvent:
        return read_event(headers=headers, body=body, secret=secret, now=now)

    # --- The wire ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        if self._open:
            self._open.close()
            self._open = None

    def _call(self, method: str, path: str, **options: Any) -> tuple[Any, httpx.Headers]:
        if self._open is None:
            if not self._token:
                raise ProviderError.at("token", "Found none; accepted: an API token, to be entered with the account.")
            self._open = JsonApi(
                self._endpoint,
                name=self.label,
                headers={"Authorization": f"Token {self._token}"},
                backoff=self._backoff,
            )
        data, headers = self._open.call(method, path, **options)
        return data, headers

    def _pages(self, path: str, params: Mapping[str, str | int] | None = None) -> Iterator[dict[str, Any]]:
        """Every result of a list, following the addresses of next pages that the answers name."""
        seen: set[str] = set()
        while path and path not in seen:
            seen.add(path)
            data, _ = self._call("GET", path, params=params)
            yield from data.get("results", [])
            links = data.get("_links") or {}
            path, params = wire.text((links.get("next") or {}).get("href")), None

    def _need_workspace(self) -> str:
        if not self._workspace:
            raise ProviderError.at("workspace", "Found none; accepted: the id of your workspace at Prolific.")
        return self._workspace


def _id(value: str) -> str:
    if not IDENTIFIER.fullmatch(value):
        raise ProviderError(f"Found {value[:80]!r}; accepted: an id as Prolific gives them.")
    return quote(value, safe="")
