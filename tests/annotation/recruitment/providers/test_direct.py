from collections.abc import Callable
from typing import Any

import pytest

from annotation.recruitment.providers.base import Arrival, Outcome, StudyDraft
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.direct import Direct
from annotation.recruitment.providers.errors import NotSupported

ANYBODY = Arrival("", "", "")


def test_a_direct_link_names_nobody() -> None:
    assert Direct().arrival({"PROLIFIC_PID": "x", "name": "Ada"}) is None


def test_its_address_is_the_campaigns_own() -> None:
    assert Direct().entry_url("https://assay.example.org/r/abc/") == "https://assay.example.org/r/abc/"


def test_at_the_end_there_is_a_code_to_write_down_and_nowhere_to_go() -> None:
    codes = new_codes()
    done = Direct().completion(ANYBODY, Outcome.COMPLETED, codes)
    assert (done.url, done.code) == ("", code_for(codes, Outcome.COMPLETED))


@pytest.mark.parametrize(
    "ask",
    [
        lambda one, draft: one.account(),
        lambda one, draft: one.study_create(draft),
        lambda one, draft: one.study_publish("x", draft),
        lambda one, draft: one.study_pause("x"),
        lambda one, draft: one.study_resume("x", draft),
        lambda one, draft: one.study_stop("x"),
        lambda one, draft: one.study_fetch("x"),
        lambda one, draft: one.study_extend("x", places=1, reference="r"),
        lambda one, draft: one.submissions("x"),
        lambda one, draft: one.submission("x"),
        lambda one, draft: one.approve("x"),
        lambda one, draft: one.reject("x", reason=None, message=""),
        lambda one, draft: one.request_return("x", reason=""),
        lambda one, draft: one.bonus_prepare("x", []),
        lambda one, draft: one.bonus_pay(None),
        lambda one, draft: one.webhook_secret(),
        lambda one, draft: one.webhook_subscribe("x"),
        lambda one, draft: one.webhook_event(headers={}, body=b"", secret="", now=None),
    ],
)
def test_there_is_nobody_to_ask_for_anything(
    ask: Callable[[Any, StudyDraft], object], draft: Callable[..., StudyDraft]
) -> None:
    with Direct() as direct, pytest.raises(NotSupported, match="Direct link has no"):
        ask(direct, draft())
