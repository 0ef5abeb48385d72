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
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from annotation.recruitment.providers import base
from annotation.recruitment.providers.addresses import require_https, with_query
from annotation.recruitment.providers.codes import code_for
from annotation.recruitment.providers.errors import ArrivalRefused, NotFound, ProviderError
from annotation.recruitment.providers.http import JsonApi
from annotation.recruitment.providers.prolific import wire
from annotation.recruitment.providers.prolific.webhooks import EVENTS, read_event
from annotation.recruitment.providers.retry import Backoff

APP = "https://app.prolific.com"
PARTICIPANT = re.compile(r"[0-9A-Za-z]{24}")
IDENTIFIER = re.compile(r"[0-9A-Za-z_-]{1,64}")
PAGE = 200
BULK = 100
SHORTEST_REJECTION = 100  # characters, by Prolific's rules


class Prolific(base.Provider):
    key = "prolific"
    label = "Prolific"
    capabilities = frozenset(base.Capability) - {base.Capability.EMBEDDED}
    settings = (base.Setting("app_url", "PROLIFIC_APP_URL"),)  # raters are sent back there
    account_fields = (
        base.Field(
            "token",
            "API token",
            "Made at Prolific under Settings, API tokens.",
            kind=base.FieldKind.SECRET,
            required=True,
        ),
        base.Field(
            "workspace",
            "Workspace id",
            "The part after /workspaces/ in the address of your workspace.",
            required=True,
        ),
        base.Field("project", "Project id", "Studies are made in this project; empty for your default project."),
    )
    api = "https://api.prolific.com"
    connect_text = (
        "Studies are made, followed, approved and paid from here. You need an API token and your workspace's id."
    )
    study_fields = (
        base.Field(
            "devices",
            "Devices",
            "None chosen means all; pages fit each.",
            kind=base.FieldKind.CHOICES,
            choices=tuple(wire.DEVICES.items()),
            section=base.Section.ELIGIBILITY,
        ),
    )
    recruit_text = (
        "People who take part in studies for pay. With an account of yours the study is made, followed and paid from "
        "here; without one you make it there and paste a link and codes."
    )
    by_hand_hint = "and choose “I'll use URL parameters”"
    least_per_hour = {"GBP": Decimal("6.00"), "USD": Decimal("8.00")}
    fair_per_hour = {"GBP": Decimal("9.00"), "USD": Decimal("12.00")}
    fair_source = "which Prolific recommends at least"
    parameters = wire.PARAMETERS
    rater_id = "Prolific ID"
    rejection = base.RejectionRules(
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
        """Connect with a token. Without it raters are still recognised and sent back."""
        super().__init__(endpoint=endpoint, backoff=backoff)
        token = token.strip()
        if any(not (character.isascii() and character.isprintable()) or character == " " for character in token):
            raise ProviderError.at("token", "Found spaces or other characters that no token has; accepted: one word.")
        self._token = token
        self._workspace = workspace.strip()
        self._project = project.strip()
        self._app = (app_url or APP).rstrip("/")
        self._api: JsonApi | None = None

    @classmethod
    def warnings(cls, *, places: int, agreed_fee: Decimal) -> list[str]:
        if agreed_fee:
            return []
        return ["The campaign sets no fee, so that none is counted here; Prolific adds a fee to every reward."]

    # --- Raters ------------------------------------------------------------------------------------------------------

    def arrival(self, query: Mapping[str, str]) -> base.Arrival | None:
        ids = {name: query.get(name, "").strip() for name in wire.PARAMETERS}
        if not any(ids.values()):
            return None
        for name, value in ids.items():
            pattern = PARTICIPANT if name == "PROLIFIC_PID" else IDENTIFIER
            if not pattern.fullmatch(value):
                accepted = "24 letters and digits" if name == "PROLIFIC_PID" else "letters, digits, - and _"
                raise ArrivalRefused(
                    f"{name}: found {value[:80]!r}; accepted: the id that Prolific fills in, {accepted}.",
                    fields={name: [f"Accepted: {accepted}."]},
                )
        return base.Arrival(rater=ids["PROLIFIC_PID"], study=ids["STUDY_ID"], session=ids["SESSION_ID"])

    def arrival_proof(self, arrival: base.Arrival) -> base.Proof:
        try:
            return base.confirmed(self.submission(arrival.session), arrival)
        except NotFound as error:
            raise ArrivalRefused(
                "SESSION_ID: Prolific knows no such submission; accepted: one that has begun."
            ) from error

    def entry_url(self, url: str) -> str:
        return with_query(url, {name: f"{{{{%{name}%}}}}" for name in wire.PARAMETERS}, verbatim="{}%")

    def completion(
        self, arrival: base.Arrival, outcome: base.Outcome, codes: Sequence[base.CompletionCode]
    ) -> base.Completion:
        code = code_for(codes, outcome)
        if not code:
            return base.Completion()
        return base.Completion(url=f"{self._app}/submissions/complete?{urlencode({'cc': code})}", code=code)

    # --- Account -----------------------------------------------------------------------------------------------------

    def account(self) -> base.Account:
        data, _ = self._call("GET", "/api/v1/users/me/")
        balance = data.get("available_balance", data.get("balance"))
        return base.Account(
            id=wire.text(data.get("id")),
            name=wire.text(data.get("name") or data.get("email") or data.get("username")),
            currency=wire.text(data.get("currency_code")),
            balance=None if balance is None else wire.from_minor(balance),
        )

    # --- Studies -----------------------------------------------------------------------------------------------------

    def study_create(self, draft: base.StudyDraft) -> base.Study:
        self.check_extra(draft)
        body = wire.study_body(draft, project=self._project)
        try:
            # A second draft costs nothing and is not visible, so the request may be repeated after a lost answer.
            data, _ = self._call("POST", "/api/v1/studies/", body=body, idempotent=True)
        except ProviderError as error:
            raise wire.with_field_names(error) from error
        return self._study(data)

    def study_publish(self, study: str, draft: base.StudyDraft) -> base.Study:
        return self._study_transition(study, "PUBLISH", unless={base.StudyState.DRAFT})

    def study_pause(self, study: str) -> base.Study:
        return self._study_transition(study, "PAUSE", unless={base.StudyState.DRAFT, base.StudyState.PUBLISHED})

    def study_resume(self, study: str, draft: base.StudyDraft) -> base.Study:
        return self._study_transition(study, "START", unless={base.StudyState.DRAFT, base.StudyState.PAUSED})

    def study_stop(self, study: str) -> base.Study:
        return self._study_transition(
            study, "STOP", unless={base.StudyState.DRAFT, base.StudyState.PUBLISHED, base.StudyState.PAUSED}
        )

    def study_fetch(self, study: str) -> base.Study:
        data, _ = self._call("GET", f"/api/v1/studies/{_id(study)}/")
        return self._study(data)

    def study_extend(self, study: str, *, places: int, reference: str) -> base.Study:
        current = self.study_fetch(study).places or 0
        if places < current:
            message = f"Found {places}; accepted: {current} or more, because Prolific removes no places."
            raise ProviderError.at("places", message)
        data, _ = self._call(
            "PATCH", f"/api/v1/studies/{_id(study)}/", body={"total_available_places": places}, idempotent=True
        )
        return self._study(data)

    def _study_transition(self, study: str, action: str, *, unless: set[base.StudyState]) -> base.Study:
        """Change the state; after an unclear answer, accept every state but those in ``unless``."""
        path = f"/api/v1/studies/{_id(study)}/transition/"
        try:
            data, _ = self._call("POST", path, body={"action": action}, idempotent=False)
        except ProviderError as error:
            if not error.unknown:
                raise
            fetched = self.study_fetch(study)
            if fetched.state is None or fetched.state in unless:
                raise
            return fetched
        return self._study(data) if isinstance(data, dict) and data.get("status") else self.study_fetch(study)

    def _study(self, data: Mapping[str, Any]) -> base.Study:
        return wire.study_of(data, app=self._app)

    # --- Submissions -------------------------------------------------------------------------------------------------

    def submissions(self, study: str) -> Iterator[base.Submission]:
        path = f"/api/v1/studies/{_id(study)}/submissions/"
        for data in self._pages(path, {"limit": PAGE, "offset": 0}):
            yield wire.submission_of(data, study=study)

    def submission(self, submission: str) -> base.Submission:
        data, _ = self._call("GET", f"/api/v1/submissions/{_id(submission)}/")
        return wire.submission_of(data)

    def approve(self, submission: str) -> None:
        self._submission_transition(submission, {"action": "APPROVE"})

    def approve_many(self, submissions: Sequence[str]) -> None:
        """Approve in batches: Prolific refuses many single approvals at once."""
        for start in range(0, len(submissions), BULK):
            batch = list(submissions[start : start + BULK])
            self._call("POST", "/api/v1/submissions/bulk-approve/", body={"submission_ids": batch}, idempotent=False)

    def reject(self, submission: str, *, reason: base.RejectionReason, message: str) -> None:
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

    def bonus_prepare(self, study: str, payments: Sequence[base.Bonus]) -> base.BonusBatch:
        wire.check_bonuses(payments)
        lines = "\n".join(f"{payment.submission},{payment.amount:.2f}" for payment in payments)
        body = {"study_id": study, "csv_bonuses": lines}
        # This pays nothing: after a repeated request, the first batch is never paid.
        data, _ = self._call("POST", "/api/v1/submissions/bonus-payments/", body=body, idempotent=True)
        expected = sum((payment.amount for payment in payments), Decimal(0))
        amount, total = wire.from_minor(data["amount"]), wire.from_minor(data["total_amount"])
        if amount != expected:
            message = f"Prolific would pay {amount} instead of {expected}; nothing has been paid."
            raise ProviderError(message, answer=str(data))
        return base.BonusBatch(
            str(data["id"]), study, tuple(payments), amount, total - amount, total, prepared_at=datetime.now(UTC)
        )

    def bonus_pay(self, batch: base.BonusBatch) -> None:
        # Documented as not idempotent: a second request pays everyone twice.
        self._call("POST", f"/api/v1/bulk-bonus-payments/{_id(batch.id)}/pay/", body={}, idempotent=False)

    # --- Webhooks ----------------------------------------------------------------------------------------------------

    def webhook_secret(self) -> str:
        workspace = self._need_workspace()
        for secret in list(self._pages("/api/v1/hooks/secrets/", {"workspace_id": workspace})):
            if secret.get("workspace_id") in {workspace, None} and secret.get("value"):
                return str(secret["value"])
        # Only if there is none: a new secret invalidates the old one, and everything that relies on it.
        data, _ = self._call("POST", "/api/v1/hooks/secrets/", body={"workspace_id": workspace}, idempotent=False)
        return str(data["value"])

    def webhook_subscribe(self, url: str) -> list[base.WebhookSubscription]:
        require_https(url, field="url")
        workspace = self._need_workspace()
        self.webhook_secret()
        existing = {
            data["event_type"]: wire.subscription_of(data)
            for data in self._pages("/api/v1/hooks/subscriptions/", {"workspace_id": workspace})
            if data.get("target_url") == url and data.get("is_enabled", True)
        }
        return [existing.get(event) or self._subscribe(event, url, workspace) for event in EVENTS]

    def _subscribe(self, event: str, url: str, workspace: str) -> base.WebhookSubscription:
        body = {"event_type": event, "target_url": url, "workspace_id": workspace}
        data, headers = self._call("POST", "/api/v1/hooks/subscriptions/", body=body, idempotent=False)
        # Prolific's reference shows a list, its guide a single object.
        listed = (each for each in data.get("results", []) if (each["event_type"], each["target_url"]) == (event, url))
        created = next(listed, data)
        path = f"/api/v1/hooks/subscriptions/{_id(str(created['id']))}/"
        self._call("POST", path, body={"secret": headers.get("X-Hook-Secret", "")}, idempotent=True)
        return base.WebhookSubscription(str(created["id"]), event, url)

    def webhook_event(
        self, *, headers: Mapping[str, str], body: bytes, secret: str, now: datetime
    ) -> base.WebhookEvent:
        return read_event(headers=headers, body=body, secret=secret, now=now)

    # --- Requests ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        if self._api:
            self._api.close()
            self._api = None

    def _call(self, method: str, path: str, **options: Any) -> tuple[Any, httpx.Headers]:
        if self._api is None:
            if not self._token:
                raise ProviderError.at("token", "Found none; accepted: an API token, to be entered with the account.")
            self._api = JsonApi(
                self._endpoint,
                name=self.label,
                headers={"Authorization": f"Token {self._token}"},
                backoff=self._backoff,
            )
        return self._api.call(method, path, **options)

    def _pages(self, path: str, params: Mapping[str, str | int] | None = None) -> Iterator[dict[str, Any]]:
        """Yield every result of a list, following each page's link to the next."""
        visited: set[str] = set()
        while path and path not in visited:
            visited.add(path)
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
        raise ProviderError(f"Found {value[:80]!r}; accepted: an id from Prolific.")
    return quote(value, safe="")
