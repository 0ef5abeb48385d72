from collections.abc import Callable
from typing import Any

import pytest

from annotation.recruitment.providers.base import Arrival, Outcome, StudyDraft
from annotation.recruitment.providers.codes import code_for, new_codes
from annotation.recruitment.providers.direct import Direct
from annotation.recruitment.providers.errors import NotSupported

UNKNOWN_RATER = Arrival("", "", "")


def test_a_direct_link_names_no_rater() -> None:
    assert Direct().arrival({"PROLIFIC_PID": "x", "name": "Ada"}) is None


def test_its_address_is_the_campaigns_own() -> None:
    assert Direct().entry_url("https://assay.example.org/r/abc/") == "https://assay.example.org/r/abc/"


def test_completion_is_a_code_without_an_address() -> None:
    codes = new_codes()
    completion = Direct().completion(UNKNOWN_RATER, Outcome.COMPLETED, codes)
    assert (completion.url, completion.code) == ("", code_for(codes, Outcome.COMPLETED))


@pytest.mark.parametrize(
    "call",
    [
        lambda direct, draft: direct.account(),
        lambda direct, draft: direct.study_create(draft),
        lambda direct, draft: direct.study_publish("x", draft),
        lambda direct, draft: direct.study_pause("x"),
        lambda direct, draft: direct.study_resume("x", draft),
        lambda direct, draft: direct.study_stop("x"),
        lambda direct, draft: direct.study_fetch("x"),
        lambda direct, draft: direct.study_extend("x", places=1, reference="r"),
        lambda direct, draft: direct.submissions("x"),
        lambda direct, draft: direct.submission("x"),
        lambda direct, draft: direct.approve("x"),
        lambda direct, draft: direct.reject("x", reason=None, message=""),
        lambda direct, draft: direct.request_return("x", reason=""),
        lambda direct, draft: direct.bonus_prepare("x", []),
        lambda direct, draft: direct.bonus_pay(None),
        lambda direct, draft: direct.webhook_secret(),
        lambda direct, draft: direct.webhook_subscribe("x"),
        lambda direct, draft: direct.webhook_event(headers={}, body=b"", secret="", now=None),
    ],
)
def test_every_call_to_an_api_is_refused(
    call: Callable[[Any, StudyDraft], object], draft: Callable[..., StudyDraft]
) -> None:
    with Direct() as direct, pytest.raises(NotSupported, match="Direct link has no"):
        call(direct, draft())
