from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from annotation.recruitment.providers.errors import AccessRefused, NotFound, ProviderError
from annotation.recruitment.providers.http import JsonApi, retry_after
from annotation.recruitment.providers.retry import Backoff
from tests.annotation.recruitment.providers.fake_server import Answer, FakeServer, Request, page


class Echo(FakeServer):
    def answer(self, request: Request) -> Answer:
        if request.path == "/html/":
            return page("Down for maintenance", "")
        if request.path == "/empty/":
            return Answer(204)
        return Answer(data={"path": request.path, "token": request.headers.get("authorization", "")})


@pytest.fixture
def server() -> Iterator[Echo]:
    with Echo() as echo:
        yield echo


@pytest.fixture
def api(server: Echo, backoff: Backoff) -> Iterator[JsonApi]:
    client = JsonApi(server.base_url, name="Echo", headers={"Authorization": "Token x"}, backoff=backoff)
    yield client
    client.close()


def test_it_sends_the_token_and_decodes_the_answer(api: JsonApi) -> None:
    data, _ = api.call("GET", "/things/")
    assert data == {"path": "/things/", "token": "Token x"}


def test_a_429_is_retried_after_the_requested_pause(api: JsonApi, server: Echo, naps: list[float]) -> None:
    server.fail(429, retry_after="3")
    api.call("GET", "/things/")
    assert naps == [3.0]
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_read_from_a_failing_server_is_retried(api: JsonApi, server: Echo, status: int) -> None:
    server.fail(status, times=2)
    assert api.call("GET", "/things/")[0]["path"] == "/things/"
    assert len(server.requests) == 3


def test_the_outcome_of_a_write_to_a_failing_server_is_unknown(api: JsonApi, server: Echo) -> None:
    server.fail(502)
    with pytest.raises(ProviderError) as refusal:
        api.call("POST", "/pay/", body={})
    assert refusal.value.unknown
    assert len(server.requests) == 1


def test_the_outcome_of_a_write_without_an_answer_is_unknown(api: JsonApi, server: Echo) -> None:
    server.drop(after=True)
    with pytest.raises(ProviderError, match="broke off") as refusal:
        api.call("POST", "/pay/", body={})
    assert refusal.value.unknown
    assert len(server.requests) == 1


def test_a_write_refused_with_429_was_not_carried_out(api: JsonApi, server: Echo) -> None:
    server.fail(429)
    with pytest.raises(ProviderError) as refusal:
        api.call("POST", "/pay/", body={})
    assert refusal.value.retriable
    assert not refusal.value.unknown


def test_a_request_without_an_answer_in_time_fails(api: JsonApi, server: Echo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_backoff", Backoff(attempts=1))
    monkeypatch.setattr(api._client, "timeout", httpx.Timeout(0.1))
    server.hang(0.5)
    with pytest.raises(ProviderError, match="did not answer in time") as refusal:
        api.call("GET", "/things/")
    assert refusal.value.retriable


def test_a_refused_connection_means_that_nothing_was_sent(backoff: Backoff) -> None:
    api = JsonApi("http://127.0.0.1:9", name="Nobody", headers={}, backoff=backoff)
    with pytest.raises(ProviderError, match="Nobody could not be reached") as refusal:
        api.call("POST", "/pay/", body={})
    api.close()
    assert not refusal.value.sent
    assert not refusal.value.unknown


@pytest.mark.parametrize(("status", "kind"), [(401, AccessRefused), (403, AccessRefused), (404, NotFound)])
def test_each_refusal_has_its_exception(api: JsonApi, server: Echo, status: int, kind: type[ProviderError]) -> None:
    server.fail(status, data={"error": {"detail": "Not for you."}})
    with pytest.raises(kind, match="Not for you"):
        api.call("GET", "/things/")
    assert len(server.requests) == 1


def test_the_providers_messages_are_kept_by_field(api: JsonApi, server: Echo) -> None:
    server.fail(400, data={"error": {"detail": {"reward": ["Too low.", "Too odd."], "name": "Missing."}}})
    with pytest.raises(ProviderError, match=r"Echo said: reward: Too low\. Too odd\.; name: Missing\.") as refusal:
        api.call("POST", "/things/", body={})
    assert refusal.value.fields == {"reward": ["Too low.", "Too odd."], "name": ["Missing."]}


def test_an_answer_that_is_not_json_is_an_error(api: JsonApi) -> None:
    with pytest.raises(ProviderError, match="other than JSON") as refusal:
        api.call("POST", "/html/", body={})
    assert "Down for maintenance" in refusal.value.answer
    assert refusal.value.unknown


def test_an_empty_answer_is_none(api: JsonApi) -> None:
    assert api.call("DELETE", "/empty/")[0] is None


def test_a_redirect_is_not_followed(api: JsonApi, server: Echo) -> None:
    server.fail(302, location="https://elsewhere.example.org/")
    with pytest.raises(ProviderError):
        api.call("GET", "/things/")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "address", ["https://elsewhere.example.org/things/", "http://127.0.0.1:1/things/", "ftp://127.0.0.1/"]
)
def test_the_token_goes_to_no_other_host(api: JsonApi, server: Echo, address: str) -> None:
    with pytest.raises(ProviderError, match="accepted: an address at"):
        api.call("GET", address)
    assert server.requests == []


def test_retry_after_reads_seconds_and_dates() -> None:
    assert retry_after("120") == 120.0
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after(later) == pytest.approx(90, abs=2)
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert retry_after("soon") is None
    assert retry_after("") is None
