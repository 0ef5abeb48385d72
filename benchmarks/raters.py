"""Simulate many raters over HTTP in one process: python -m benchmarks.raters PORT LINK RATERS SECONDS [THINK]

Prints one JSON object: every acknowledged answer with its token and seconds, and counts of errors and retries.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

THINK, SPREAD = 6.0, 0.5  # median seconds at a screen by default, and the spread of their logarithm
PATIENCE = 20.0
GIVE_UP = 120.0  # a longer fault is an error of the benchmark

TOKEN = re.compile(r'name="token" value="([0-9a-f-]+)"')
CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
FIELD = re.compile(r'name="(r\d+-[\w.-]+)" value="3"')


@dataclass
class Report:
    answers: list[dict[str, Any]] = field(default_factory=list)
    errors: int = 0
    retried: int = 0
    longest: float = 0.0
    began: float = field(default_factory=time.perf_counter)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    cookies: list[str]
    text: str


@dataclass
class Rater:
    port: int
    link: str
    report: Report
    draw: random.Random
    think: float = THINK
    cookies: dict[str, str] = field(default_factory=dict)
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def work(self, ends: float) -> None:
        await asyncio.sleep(self.draw.uniform(0, self.think))  # raters do not all arrive at once
        page = await self.persist("GET", self.link)
        await self.persist("POST", f"{self.link}consent/", {"csrfmiddlewaretoken": CSRF.search(page.text)[1]})  # type: ignore[index]
        page = await self.persist("GET", f"{self.link}work/")
        while time.perf_counter() < ends and (token := TOKEN.search(page.text)):
            await asyncio.sleep(self.draw.lognormvariate(0, SPREAD) * self.think)
            form = dict.fromkeys(FIELD.findall(page.text), "3") | {"token": token[1]}
            if match := CSRF.search(page.text):
                self.cookies["form"] = match[1]
            form["csrfmiddlewaretoken"] = self.cookies["form"]
            began = time.perf_counter()
            page = await self.persist("POST", f"{self.link}submit/", form)
            if page.status not in (200, 204):
                raise RuntimeError(f"An answer was refused with status {page.status}: {page.text[:300]}")
            ended = time.perf_counter()
            self.report.answers.append({"token": token[1], "seconds": ended - began, "at": ended - self.report.began})

    async def persist(self, method: str, path: str, form: dict[str, str] | None = None) -> Answer:
        """Repeat a request until the server has answered, as the product's script does."""
        began, tries = time.perf_counter(), 0
        while True:
            try:
                answer = await asyncio.wait_for(self.send(method, path, form), PATIENCE)
            except (OSError, EOFError, TimeoutError):
                answer = None
                self.close()
            if answer is not None and answer.status < 500:
                break
            self.report.errors += answer is not None
            tries += 1
            if time.perf_counter() - began > GIVE_UP:
                raise RuntimeError(f"{method} {path} was not answered for {GIVE_UP:.0f} s.")
            await asyncio.sleep(min(0.5 * 2**tries, 5))
        if tries:
            self.report.retried += 1
            self.report.longest = max(self.report.longest, time.perf_counter() - began)
        return answer

    async def send(self, method: str, path: str, form: dict[str, str] | None) -> Answer:
        body = urlencode(form).encode() if form is not None else b""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items() if name != "form")
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {cookies}", f"Content-Length: {len(body)}"]
        if form is not None:
            lines += ["Content-Type: application/x-www-form-urlencoded"]
        if path.endswith("submit/"):
            lines += ["X-Rater-Part: 1"]
        if self.streams is None or self.streams[0].at_eof():  # the server closed an idle connection
            self.close()
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        answer = await self.read(reader)
        for cookie in answer.cookies:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    async def read(self, reader: asyncio.StreamReader) -> Answer:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = [line.split(": ", 1) for line in head[1:] if ": " in line]
        headers = {name.lower(): value for name, value in pairs}
        length = int(headers.get("content-length", 0))
        text = (await reader.readexactly(length)).decode() if length else ""
        cookies = [value for name, value in pairs if name.lower() == "set-cookie"]
        return Answer(int(head[0].split()[1]), headers, cookies, text)

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def load(port: int, link: str, raters: int, seconds: float, think: float = THINK) -> dict[str, Any]:
    report, began = Report(), time.perf_counter()
    crowd = [Rater(port, link, report, random.Random(number), think) for number in range(raters)]
    await asyncio.gather(*(rater.work(began + seconds) for rater in crowd))
    for rater in crowd:
        rater.close()
    return {**vars(report), "seconds": time.perf_counter() - began, "think": think}


def main() -> None:
    port, link, raters, *seconds = sys.argv[1:]
    print(json.dumps(asyncio.run(load(int(port), link, int(raters), *map(float, seconds)))))


if __name__ == "__main__":
    main()
