"""A connection to a server: requests, pages of lists, uploads and downloads."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import httpx

from assay_client.errors import ApiError, Gone, Unreachable

if TYPE_CHECKING:
    from assay_client.project import Project

ROOT = "/api/v1/"
TIMEOUT = 60.0  # seconds for one answer
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds before a request is made again
LONGEST_PAUSE = 300.0  # seconds that a server may ask for
AWAY = frozenset({502, 503, 504})  # what a proxy answers while the server starts again


class Assay:
    """A server, and the account of a token.

    A request that did not come through is made again, with growing pauses, if it changes nothing (``GET``); one that
    the server put off (429) is made again after the time that it names.

    Parameters
    ----------
    url : str
        Of the server, without ``/api/v1/``.
    token : str, optional
        Of the account's page *API tokens*; else that of the environment variable ``ASSAY_TOKEN``.
    timeout : float
        Seconds for one answer.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = TIMEOUT) -> None:
        token = token if token is not None else os.environ.get("ASSAY_TOKEN", "")
        headers = {"Authorization": f"Token {token}"} if token else {}
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)

    @classmethod
    def sign_in(cls, url: str, username: str, password: str, *, name: str = "Python client") -> Self:
        """Return a connection with a new token, which ends after 30 days; the account's page calls it ``name``."""
        with cls(url, "") as stranger:
            token = stranger.post("token/", {"username": username, "password": password, "name": name})["token"]
        return cls(url, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # --- Projects -----------------------------------------------------------------------------------------------------

    def projects(self) -> Iterator[dict[str, Any]]:
        """Yield the projects of the account."""
        return self.rows("projects/")

    def project(self, slug: str) -> Project:
        """Return a project by the name in its address; nothing is asked of the server."""
        from assay_client.project import Project

        return Project(self, slug)

    def create_project(self, name: str, **fields: Any) -> Project:
        return self.project(self.post("projects/", {"name": name, **fields})["slug"])

    # --- Requests -----------------------------------------------------------------------------------------------------

    def get(self, path: str, **parameters: Any) -> Any:
        """Return what an address answers, from JSON: a path below ``/api/v1/``, or an address that the API gave."""
        return self._answer("GET", path, params=parameters or None).json()  # none keeps those of the address

    def rows(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """Yield all rows of a list, page by page."""
        page = self.get(path, **{"page_size": 1000, **parameters})
        yield from page["results"]
        while page["next"]:
            page = self.get(page["next"])
            yield from page["results"]

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a body as JSON; return the answer, None if it is empty."""
        return self._content(self._answer("POST", path, json=dict(body or {})))

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._content(self._answer("PATCH", path, json=dict(body)))

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._content(self._answer("PUT", path, json=dict(body)))

    def delete(self, path: str) -> None:
        self._answer("DELETE", path)

    def upload(self, path: str, files: Mapping[str, str | os.PathLike[str]], **fields: Any) -> Any:
        """Send files by field, with further fields; mappings and lists among these are sent as JSON."""
        texts = {
            name: json.dumps(value) if isinstance(value, Mapping | list) else str(value)
            for name, value in fields.items()
            if value is not None
        }
        with ExitStack() as opened:
            streams = {name: opened.enter_context(Path(file).open("rb")) for name, file in files.items()}
            return self._content(self._answer("POST", path, data=texts, files=streams))

    def download(self, path: str, to: str | os.PathLike[str]) -> Path:
        """Write what an address answers to a file, which is there only when it is whole; return its path."""
        target = Path(to)
        part = target.with_name(f"{target.name}.part")
        with self._http.stream("GET", self._address(path)) as answer:
            if answer.is_error:
                answer.read()
                self._refuse(answer)
            with part.open("wb") as stream:
                for block in answer.iter_bytes():
                    stream.write(block)
        part.replace(target)
        return target

    def _answer(self, method: str, path: str, **content: Any) -> httpx.Response:
        for pause in (*PAUSES, None):
            try:
                answer = self._http.request(method, self._address(path), **content)
            except httpx.TransportError as error:
                if method != "GET" or pause is None:
                    raise Unreachable(f"{method} {path}: {error or type(error).__name__}") from error
                time.sleep(pause)
                continue
            if pause is not None and (wait := _pause_before_again(method, answer, pause)) is not None:
                _rewind(content)
                time.sleep(wait)
                continue
            self._refuse(answer)
            return answer
        raise AssertionError("the last try returns or raises")

    @staticmethod
    def _address(path: str) -> str:
        """Return the path of an address; the token goes to no other server than the one that was named."""
        parts = urlsplit(path)
        if not parts.netloc and not path.startswith("/"):
            return f"{ROOT}{path}"
        return f"{parts.path}?{parts.query}" if parts.query else parts.path

    @staticmethod
    def _content(answer: httpx.Response) -> Any:
        return answer.json() if answer.content else None

    @staticmethod
    def _refuse(answer: httpx.Response) -> None:
        if not answer.is_error:
            return
        try:
            body = answer.json()
        except ValueError:
            body = {"detail": f"the server answered {answer.reason_phrase or 'without a reason'}"}
        raise (Gone if answer.status_code == httpx.codes.NOT_FOUND else ApiError)(answer.status_code, body)


def _pause_before_again(method: str, answer: httpx.Response, pause: float) -> float | None:
    """Return how long to wait before a request is made again; None if it is not."""
    if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
        asked = answer.headers.get("Retry-After", "")
        wait = float(asked) if asked.isdecimal() else pause
        return wait if wait <= LONGEST_PAUSE else None
    return pause if method == "GET" and answer.status_code in AWAY else None


def _rewind(content: Mapping[str, Any]) -> None:
    for stream in content.get("files", {}).values():
        stream.seek(0)
