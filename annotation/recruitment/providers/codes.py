"""Completion codes: one for each outcome, by which the provider knows how a submission ended."""

import re
import secrets
from collections.abc import Mapping, Sequence

from annotation.recruitment.providers.base import AfterCode, CompletionCode, Outcome
from annotation.recruitment.providers.errors import ProviderError

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # without letters that look alike
LENGTH = 8
CODE = re.compile(r"[A-Za-z0-9_-]{4,60}")

# No one is paid without a person's decision, and no one who worked is asked to return unpaid.
# The first action is the default.
ACTIONS: Mapping[Outcome, tuple[AfterCode, ...]] = {
    Outcome.COMPLETED: (AfterCode.REVIEW, AfterCode.APPROVE),
    Outcome.FAILED_QUALIFICATION: (AfterCode.ASK_RETURN, AfterCode.REVIEW, AfterCode.PAY_SCREEN_OUT),
    Outcome.FAILED_ATTENTION: (AfterCode.REVIEW,),
    Outcome.SCREENED_OUT: (AfterCode.ASK_RETURN, AfterCode.REVIEW, AfterCode.PAY_SCREEN_OUT),
    Outcome.NO_CONSENT: (AfterCode.ASK_RETURN,),
    Outcome.OUT_OF_WORK: (AfterCode.REVIEW, AfterCode.APPROVE),
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
    """Return a new, unguessable code for every outcome."""
    texts: set[str] = set()
    while len(texts) < len(Outcome):
        texts.add("".join(secrets.choice(LETTERS) for _ in range(LENGTH)))
    codes = []
    for outcome, text in zip(Outcome, texts, strict=True):
        action = (after or {}).get(outcome, ACTIONS[outcome][0])
        reason = RETURN_REASONS[outcome] if action == AfterCode.ASK_RETURN else ""
        codes.append(CompletionCode(outcome, text, action, reason=reason))
    return codes


def code_for(codes: Sequence[CompletionCode], outcome: Outcome) -> str:
    """Return the outcome's code, or '' if the study has none for it."""
    return next((code.code for code in codes if code.outcome == outcome), "")


def check_codes(codes: Sequence[CompletionCode]) -> None:
    """Refuse codes that a provider would refuse, or that two outcomes share."""
    outcome_by_code: dict[str, Outcome] = {}
    for code in codes:
        if not CODE.fullmatch(code.code):
            message = f"{code.outcome}: found {code.code!r}; accepted: 4 to 60 letters, digits, - and _."
            raise ProviderError.at("codes", message)
        if other := outcome_by_code.get(code.code):
            message = f"{code.outcome}: found {code.code!r}, the code of {other}; accepted: another code."
            raise ProviderError.at("codes", message)
        if code.outcome in outcome_by_code.values():
            raise ProviderError.at("codes", f"{code.outcome}: found two codes; accepted: one for each outcome.")
        if code.after == AfterCode.ASK_RETURN and not code.reason.strip():
            message = f"{code.outcome}: found no reason; accepted: a text for the rater who is asked to return."
            raise ProviderError.at("codes", message)
        outcome_by_code[code.code] = code.outcome
    if Outcome.COMPLETED not in outcome_by_code.values():
        raise ProviderError.at("codes", f"found no code for {Outcome.COMPLETED}; accepted: at least that one.")
