"""Completion codes: one per outcome, so that the provider knows how a stay ended without being told more."""

import re
import secrets
from collections.abc import Mapping, Sequence

from annotation.recruitment.providers.base import AfterCode, CompletionCode, Outcome
from annotation.recruitment.providers.errors import ProviderError

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that look alike
LENGTH = 8
CODE = re.compile(r"[A-Za-z0-9_-]{4,60}")

# Nobody is paid without somebody's decision, and nobody who worked is asked to go unpaid.
DEFAULT_AFTER: Mapping[Outcome, AfterCode] = {
    Outcome.COMPLETED: AfterCode.REVIEW,
    Outcome.FAILED_QUALIFICATION: AfterCode.ASK_RETURN,
    Outcome.FAILED_ATTENTION: AfterCode.REVIEW,
    Outcome.SCREENED_OUT: AfterCode.ASK_RETURN,
    Outcome.NO_CONSENT: AfterCode.ASK_RETURN,
    Outcome.OUT_OF_WORK: AfterCode.REVIEW,
}

RETURN_REASONS: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "Something went wrong on our side; thank you for your time.",
    Outcome.FAILED_QUALIFICATION: "You did not pass the qualification at the start of this study.",
    Outcome.FAILED_ATTENTION: "Your answers to the attention checks did not match.",
    Outcome.SCREENED_OUT: "You are not among the people this study is looking for.",
    Outcome.NO_CONSENT: "You did not agree to take part.",
    Outcome.OUT_OF_WORK: "There was nothing left to rate when you came.",
}


def new_codes(after: Mapping[Outcome, AfterCode] | None = None) -> list[CompletionCode]:
    """A fresh, unguessable code for every outcome."""
    chosen = {**DEFAULT_AFTER, **(after or {})}
    codes: dict[str, CompletionCode] = {}
    for outcome in Outcome:
        code = _fresh(codes)
        what = chosen[outcome]
        reason = RETURN_REASONS[outcome] if what == AfterCode.ASK_RETURN else ""
        codes[code] = CompletionCode(outcome, code, what, reason=reason)
    return list(codes.values())


def code_for(codes: Sequence[CompletionCode], outcome: Outcome) -> str:
    """The outcome's code; empty where the study has none for it."""
    return next((code.code for code in codes if code.outcome == outcome), "")


def check_codes(codes: Sequence[CompletionCode]) -> None:
    """Refuse codes a provider would refuse, or that would not tell two outcomes apart."""
    seen: dict[str, Outcome] = {}
    outcomes: set[Outcome] = set()
    for code in codes:
        if not CODE.fullmatch(code.code):
            message = f"{code.outcome}: found {code.code!r}; accepted: 4 to 60 letters, digits, - and _."
            raise ProviderError.at("codes", message)
        if code.code in seen:
            message = f"{code.outcome}: found {code.code!r}, the code of {seen[code.code]}; accepted: one of its own."
            raise ProviderError.at("codes", message)
        if code.outcome in outcomes:
            raise ProviderError.at("codes", f"{code.outcome}: found two codes; accepted: one for each outcome.")
        if code.after == AfterCode.ASK_RETURN and not code.reason.strip():
            message = f"{code.outcome}: found no reason; accepted: what the rater who is asked to return shall read."
            raise ProviderError.at("codes", message)
        seen[code.code] = code.outcome
        outcomes.add(code.outcome)
    if Outcome.COMPLETED not in outcomes:
        raise ProviderError.at("codes", f"found no code for {Outcome.COMPLETED}; accepted: at least that one.")


def _fresh(taken: Mapping[str, CompletionCode]) -> str:
    while True:
        code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
        if code not in taken:
            return code
