import pytest

from annotation.recruitment.providers import PROVIDERS, open_provider, recruiting_provider
from annotation.recruitment.providers.base import Arrival, Outcome
from annotation.recruitment.providers.codes import new_codes
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.prolific.client import Prolific


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ProviderError, match=f"accepted: {', '.join(PROVIDERS)}"):
        open_provider("clickworker")


def test_the_direct_link_is_no_recruiting_provider() -> None:
    with pytest.raises(ProviderError, match="Found 'direct'"):
        recruiting_provider("direct")


def test_raters_are_recognised_and_sent_back_without_an_account() -> None:
    """A study created by hand on the provider's own pages needs no token in Assay."""
    codes = new_codes()
    prolific = open_provider("prolific")
    arrival = prolific.arrival({"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24})
    assert arrival is not None
    assert prolific.completion(arrival, Outcome.COMPLETED, codes).url.startswith("https://app.prolific.com/")
    with pytest.raises(ProviderError, match="accepted: an API token"):
        prolific.account()
    with pytest.raises(ProviderError, match="accepted: an AWS key"):
        open_provider("mturk").account()


def test_unknown_credentials_are_ignored() -> None:
    assert isinstance(open_provider("prolific", {"token": "x", "colour": "red"}), Prolific)


@pytest.mark.parametrize(("key", "secret"), [("direct", []), ("prolific", ["token"]), ("mturk", ["secret_key"])])
def test_only_secret_fields_are_marked_secret(key: str, secret: list[str]) -> None:
    assert [field.name for field in PROVIDERS[key].account_fields if field.secret] == secret


def test_completion_of_a_preview_has_no_address() -> None:
    assert open_provider("mturk").completion(Arrival("", "", "", is_preview=True), Outcome.COMPLETED, []).url == ""
