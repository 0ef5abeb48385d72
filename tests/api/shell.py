"""Enough of sh, curl and jq to run the examples of docs/api.md where they are not installed."""

import json
import re
import shlex
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import encode_multipart

BOUNDARY = "tour"


def blocks(markdown: str) -> Iterator[str]:
    """Yield the text of every ``sh`` block, in order."""
    yield from re.findall(r"^```sh\n(.*?)^```$", markdown, flags=re.MULTILINE | re.DOTALL)


class Answer(NamedTuple):
    command: str
    status: int
    body: Any


class Shell:
    """Runs a script line by line: assignments, here-documents, curl, and loops that wait for a job."""

    def __init__(self, folder: Path, root: Path, **variables: str) -> None:
        self.folder, self.root, self.variables = folder, root, variables
        self.answers: list[Answer] = []

    def run(self, script: str) -> None:
        lines = iter(script.splitlines())
        for line in lines:
            if here_document := re.fullmatch(r"cat > (\S+) <<'END'", line):
                self._write(here_document[1], lines)
            elif assigned := re.fullmatch(r"(\w+)=\$\((curl .*) \| jq -r \.(\w+)\)", line):
                self.variables[assigned[1]] = str(self._curl(assigned[2])[assigned[3]])
            elif assigned := re.fullmatch(r"(\w+)=(.*)", line):
                # Variables given by the test, such as the server, replace what a reader would type.
                self.variables.setdefault(assigned[1], self._words(assigned[2])[0])
            elif waited := re.fullmatch(r"until (curl .*) \| jq -e \.finished_at; do sleep 1; done", line):
                self._wait(waited[1])
            elif line.startswith("curl "):
                self._curl(line.split(" | jq ")[0])
            elif line:
                raise ValueError(f"docs/api.md uses more of sh than this test knows: {line}")

    def _write(self, name: str, lines: Iterator[str]) -> None:
        content = list(iter(lines.__next__, "END"))
        (self.folder / name).write_text("\n".join(content) + "\n")

    def _wait(self, command: str) -> None:
        ends = time.monotonic() + 60
        while not (job := self._curl(command))["finished_at"]:
            assert time.monotonic() < ends, f"{command} never finished: {job}"
            time.sleep(0.1)
        assert job["state"] == "done", job

    def _words(self, text: str) -> list[str]:
        """Substitute variables before splitting: no quoted JSON contains a dollar sign."""
        return shlex.split(re.sub(r"\$\{?(\w+)\}?", lambda match: self.variables[match[1]], text))

    def _curl(self, command: str) -> Any:
        words = iter(self._words(command)[1:])
        address, method, data, form, headers = "", None, [], {}, {}
        for word in words:
            if word == "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            elif word == "-X":
                method = next(words)
            elif word == "-d":
                argument = next(words)
                data.append(self._path(argument[1:]).read_text() if argument.startswith("@") else argument)
            elif word == "-F":
                name, _, value = next(words).partition("=")
                form[name] = self._file(value[1:]) if value.startswith("@") else value
            elif word != "-sf":
                address = word
        body = "&".join(data).encode() or None
        if form:
            body = encode_multipart(BOUNDARY, form)
            headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
        request = urllib.request.Request(address, data=body, headers=headers, method=method)
        with urllib.request.urlopen(request) as response:
            self.answers.append(Answer(command, response.status, json.load(response)))
        return self.answers[-1].body

    def _path(self, name: str) -> Path:
        written = self.folder / name
        return written if written.exists() else self.root / name

    def _file(self, name: str) -> SimpleUploadedFile:
        return SimpleUploadedFile(name, self._path(name).read_bytes())
