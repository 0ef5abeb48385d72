import pytest

from annotation.recruitment.providers.addresses import origin, require_https, with_query
from annotation.recruitment.providers.errors import ProviderError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.mturk.com", "https://www.mturk.com"),
        ("https://WWW.mturk.com/", "https://www.mturk.com"),
        ("https://www.mturk.com:443/mturk/x?y", "https://www.mturk.com"),
        ("http://127.0.0.1:8123/", "http://127.0.0.1:8123"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://www.mturk.com@evil.example/", ""),
        ("https://user:word@www.mturk.com/", ""),
        ("javascript:alert(1)", ""),
        ("//www.mturk.com", ""),
        ("https://", ""),
        ("https://www.mturk.com:port/", ""),
        ("https://[www.mturk.com/", ""),
        ("", ""),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: str) -> None:
    assert origin(url) == expected


def test_parameters_are_added_to_those_already_there() -> None:
    assert with_query("https://a.example/r/?x=1#top", {"y": "a b"}) == "https://a.example/r/?x=1&y=a%20b#top"


@pytest.mark.parametrize("url", ["http://a.example/", "a.example", "https://", "ftp://127.0.0.1/", ""])
def test_addresses_on_the_network_are_encrypted(url: str) -> None:
    with pytest.raises(ProviderError, match="https://") as refusal:
        require_https(url, field="endpoint")
    assert "endpoint" in refusal.value.fields


def refusal(url: str) -> str:
    try:
        require_https(url, field="endpoint")
    except ProviderError as error:
        return error.message
    return ""


@pytest.mark.parametrize("url", ["https://a.example/", "http://127.0.0.1:1/", "http://localhost/"])
def test_loopback_addresses_may_be_unencrypted(url: str) -> None:
    assert refusal(url) == ""
