import pytest

from annotation.recruitment.providers import PROVIDERS, Direct, MechanicalTurk, Prolific, provider
from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.errors import ProviderError


def test_each_kind_gives_its_provider() -> None:
    assert isinstance(provider("direct"), Direct)
    assert isinstance(provider("prolific", {"token": "x"}), Prolific)
    assert isinstance(provider("mturk", {"access_key": "a", "secret_key": "b"}), MechanicalTurk)
    assert list(PROVIDERS) == ["direct", "prolific", "mturk"]


def test_an_unknown_kind_is_refused_with_those_known() -> None:
    with pytest.raises(ProviderError, match="accepted: direct, prolific, mturk"):
        provider("clickworker")


def test_raters_are_recognised_and_sent_back_without_any_account() -> None:
    """A study made by hand on the provider's own pages needs no token here."""
    codes = new_codes()
    prolific = provider("prolific")
    came = prolific.arrival({"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24})
    assert came is not None
    assert prolific.completion(came, Outcome.COMPLETED, codes).url.startswith("https://app.prolific.com/")
    with pytest.raises(ProviderError, match="accepted: an API token"):
        prolific.account()
    with pytest.raises(ProviderError, match="accepted: an AWS key"):
        provider("mturk").account()


def test_things_that_are_no_credentials_of_the_provider_are_left_out() -> None:
    assert isinstance(provider("prolific", {"token": "x", "colour": "red"}), Prolific)


def test_only_what_is_secret_is_marked_so() -> None:
    secret = {kind: [one.name for one in cls.credentials if one.secret] for kind, cls in PROVIDERS.items()}
    assert secret == {"direct": [], "prolific": ["token"], "mturk": ["secret_key"]}


def test_where_nobody_is_named_there_is_still_a_last_page() -> None:
    assert provider("mturk").completion(Arrival("", "", "", is_preview=True), Outcome.COMPLETED, []).url == ""
