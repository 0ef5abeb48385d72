import pytest

from annotation.recruitment.providers import PROVIDERS, open_provider, recruiting_provider
from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.prolific.client import Prolific


def test_an_unknown_kind_is_refused_with_those_known() -> None:
    with pytest.raises(ProviderError, match=f"accepted: {', '.join(PROVIDERS)}"):
        open_provider("clickworker")


def test_a_campaign_does_not_recruit_by_the_direct_link() -> None:
    with pytest.raises(ProviderError, match="Found 'direct'"):
        recruiting_provider("direct")


def test_raters_are_recognised_and_sent_back_without_any_account() -> None:
    """A study made by hand on the provider's own pages needs no token here."""
    codes = new_codes()
    prolific = open_provider("prolific")
    came = prolific.arrival({"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24})
    assert came is not None
    assert prolific.completion(came, Outcome.COMPLETED, codes).url.startswith("https://app.prolific.com/")
    with pytest.raises(ProviderError, match="accepted: an API token"):
        prolific.account()
    with pytest.raises(ProviderError, match="accepted: an AWS key"):
        open_provider("mturk").account()


def test_things_that_are_no_credentials_of_the_provider_are_left_out() -> None:
    assert isinstance(open_provider("prolific", {"token": "x", "colour": "red"}), Prolific)


@pytest.mark.parametrize(("key", "secret"), [("direct", []), ("prolific", ["token"]), ("mturk", ["secret_key"])])
def test_only_what_is_secret_is_marked_so(key: str, secret: list[str]) -> None:
    assert [field.name for field in PROVIDERS[key].account_fields if field.secret] == secret


def test_where_nobody_is_named_there_is_still_a_last_page() -> None:
    assert open_provider("mturk").completion(Arrival("", "", "", is_preview=True), Outcome.COMPLETED, []).url == ""
