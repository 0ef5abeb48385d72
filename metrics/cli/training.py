"""Train a model on text files, and store it under its hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from metrics.cli.errors import CommandError
from metrics.cli.files import numbered_lines
from metrics.scoring.models import training
from metrics.scoring.models.files import model_name
from metrics.scoring.models.store import ModelStore

STEP = 10_000  # texts between two reports
ACCEPTED = {
    bool: "yes or no",
    int: "a whole number",
    float: "a number",
    type(None): "whole numbers such as 1/1/2",
}


def train(
    kind: str, texts: Sequence[str], options: Sequence[str], models: Path, progress: Callable[[str], None]
) -> None:
    """Train a model, store it and print its path; the same texts and options give the same file."""

    def report(read: int) -> None:
        if read % STEP == 0:
            progress(f"{read:,} texts read")

    try:
        model = training.train(kind, _texts(texts), progress=report, **_options(kind, options))
    except CommandError:
        raise
    except ValueError as error:
        raise CommandError(f"train {kind}: {error}") from error
    try:
        reference = ModelStore([models]).add(model)
    except OSError as error:
        raise CommandError(f"--models {models}: cannot be written: {error.strerror}") from error
    print(f"{reference}\n{models / model_name(kind, model.digest)}")  # noqa: T201 # what the command is for


def _texts(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        for _, line in numbered_lines(path):
            if line.strip():
                yield line


def _options(kind: str, written: Sequence[str]) -> dict[str, Any]:
    defaults = training.options_of(kind)
    values = {}
    for option in written:
        name, equals, value = option.partition("=")
        if name not in defaults or not equals:
            accepted = ", ".join(f"{known}={default}" for known, default in defaults.items())
            raise CommandError(f"--option: found {option!r}; accepted: {accepted}")
        values[name] = _as(defaults[name], value, option)
    return values


def _as(default: object, value: str, option: str) -> object:
    """Read a value of the default's type; without a default it is a list of whole numbers."""
    try:
        if isinstance(default, bool):
            return {"yes": True, "true": True, "no": False, "false": False}[value.lower()]
        if isinstance(default, int | float):
            return type(default)(value)
        return value if isinstance(default, str) else tuple(int(part) for part in value.split("/"))
    except (KeyError, ValueError) as error:
        raise CommandError(f"--option: found {option!r}; accepted: {ACCEPTED[type(default)]}") from error
