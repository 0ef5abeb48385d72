"""Blocks of code can be used as they stand: they parse, and name programs, commands and options that exist."""

import argparse
import ast
import doctest
import importlib.util
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache

from django.core.management import get_commands, load_command_class

from metrics.cli.main import _parser as metrics_parser
from tests.conftest import ROOT
from tests.docs.documents import FILES, Block, blocks, inner

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
MAKE_VARIABLES = set(re.findall(r"^([A-Z_]+) \?=", (ROOT / "Makefile").read_text(), re.MULTILINE)) | {"TESTS", "HOST"}
END_OF_COMMAND = re.compile(r"[|;&<>]|\s#")
WEIGHT_ABOVE = re.compile(r"\bw>=?")  # of a subset such as "w>=0.6": it redirects nothing
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")
COMMAND = re.compile(r"(?:^|[\s/])manage\.py ([a-z_]+)(?!\w)(.*)")
MODULE = re.compile(r"python[\d.]* -m ([\w.]+)(.*)")
SCRIPT = re.compile(r"python[\d.]* ([\w./-]+\.py)\b")
MAKE = re.compile(r"(?:^|&& )make((?: [A-Za-z_.=/:0-9-]+)+)")
NOT_COMMANDS = {"may"}  # “manage.py may …”
ELSEWHERE = {"pip", "venv", "pytest"}


def of_python(text: str) -> None:
    compile(text, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def of_session(text: str) -> None:
    for example in doctest.DocTestParser().get_examples(text):
        compile(example.source, "block", "single")


def of_json(text: str) -> None:
    """Parse a document, or lines of which each is one."""
    try:
        json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():
            json.loads(line)


READERS = {"python": of_python, "pycon": of_session, "json": of_json, "toml": tomllib.loads}


def test_blocks_parse_in_the_language_that_they_name() -> None:
    wrong, counted = [], dict.fromkeys(READERS, 0)
    for block in blocks(*READERS):
        counted[block.language] += 1
        try:
            READERS[block.language](block.text)
        except (SyntaxError, ValueError) as error:
            wrong.append(f"{block.place}: {error}")
    assert wrong == []
    assert min(counted.values()) > 0


def lines(block: Block) -> list[str]:
    """Return the commands of a block, each on one line."""
    return block.text.replace("\\\n", " ").splitlines()


def commands() -> Iterator[tuple[str, str]]:
    """Yield what readers may type, and where it stands: lines of blocks, and code within sentences."""
    for block in blocks("sh", "bash", "", "text"):
        yield from ((line.strip(), block.place) for line in lines(block))
    for path in FILES:
        for token in inner(path):
            if token.type == "code_inline":
                yield token.content.strip(), str(path.relative_to(ROOT))


@cache
def options_of(command: str) -> frozenset[str]:
    parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    return frozenset(parser._option_string_actions)


@cache
def options_of_metrics(subcommand: str) -> frozenset[str]:
    (chosen,) = (action for action in metrics_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return frozenset(chosen.choices[subcommand]._option_string_actions)


def unknown_of_command(name: str, rest: str) -> Iterator[str]:
    if name not in get_commands():
        if name not in NOT_COMMANDS:
            yield f"no command {name}"
        return
    used = OPTION.findall(END_OF_COMMAND.split(rest)[0])
    yield from (f"{name} has no {option}" for option in used if option not in options_of(name))


def unknown_of_module(name: str, rest: str) -> Iterator[str]:
    if name in ELSEWHERE:
        return
    if importlib.util.find_spec(name) is None:
        yield f"no module {name}"
    elif name == "metrics" and (words := shlex.split(END_OF_COMMAND.split(WEIGHT_ABOVE.sub("w", rest))[0])):
        used = [word for word in words if word.startswith("--")]
        yield from (f"metrics {words[0]} has no {word}" for word in used if word not in options_of_metrics(words[0]))


def unknown_of_make(words: list[str]) -> Iterator[str]:
    for word in words:
        name, is_variable, _ = word.partition("=")
        if is_variable and name not in MAKE_VARIABLES:
            yield f"make has no variable {name}"
        if not is_variable and name not in TARGETS:
            yield f"make has no target {name}"


def unknown_parts(line: str) -> Iterator[str]:
    """Yield what a command line names that does not exist."""
    for name, rest in COMMAND.findall(line):
        yield from unknown_of_command(name, rest)
    for name, rest in MODULE.findall(line):
        yield from unknown_of_module(name, rest)
    for path in SCRIPT.findall(line):
        if not (ROOT / path).is_file():
            yield f"no file {path}"
    for words in MAKE.findall(line):
        yield from unknown_of_make(words.split())


def test_commands_and_their_options_exist() -> None:
    typed = list(commands())
    assert sum("manage.py" in line for line, _ in typed) > 80
    assert [f"{place}: {problem}" for line, place in typed for problem in unknown_parts(line)] == []


def test_what_does_not_exist_is_found() -> None:
    for line in (
        "python manage.py nothing",
        "python manage.py backup --nothing",
        "python -m metrics score --nothing 1",
        "python -m scripts.nothing",
        "python scripts/nothing.py",
        "make nothing",
        "make test NOTHING=1",
    ):
        assert list(unknown_parts(line)), line
    assert not list(unknown_parts('python manage.py backup x.tar --binaries bin | grep --colour "x"'))
