"""What rooms and apps put on a project's front page. Apps above this one register theirs when they are ready."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from annotation.models import Job, Project


@dataclass(frozen=True)
class Bar:
    """A system in the picture of a finding: its value with the interval, and where they are in percent of its width."""

    name: str
    value: str
    interval: str
    standing: str  # as the results mark it
    start: float
    width: float
    at: float


@dataclass(frozen=True)
class Picture:
    """Systems, best first; ``title`` says what their values are."""

    title: str
    bars: list[Bar]
    more: int = 0  # that are left out
    note: str = ""  # what would surprise in it


class Source(NamedTuple):
    """What a finding is from, by name, and its page."""

    name: str
    url: str


@dataclass(frozen=True)
class Finding:
    """A sentence about the data, how sure it is, and the page that shows it.

    ``about`` is the name of what it is from, if several may say the same, and ``also`` are older ones that do. The
    newest that ``leads`` comes first; the newest that ``stays`` is shown, not folded, if its source yields it.
    """

    kind: str
    at: datetime
    text: str
    sure: str
    url: str
    leads: bool = False
    stays: bool = False
    about: str = ""
    picture: Picture | None = None
    also: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Running:
    """Work under way: of workers, or of raters."""

    at: datetime
    label: str
    url: str
    done: int
    total: int
    note: str = ""
    end: datetime | None = None  # when it will be done at its pace


@dataclass(frozen=True)
class Need:
    """Something that waits for a person, and the button that leads to it."""

    at: datetime
    text: str
    action: str
    url: str


class NextStep(NamedTuple):
    """What to do next: a sentence, and the button that leads there; ``other`` is another way to the same end."""

    text: str
    action: str
    url: str
    other: str = ""
    other_url: str = ""


@dataclass(frozen=True)
class JobKind:
    """A job with a page. ``label`` may name the fields ``name``, ``first`` and ``second``: the field that ``name``
    names, and the arguments of the page's address after the project's. ``retry`` is the name of the address, with the
    same arguments, that starts a failed one again; empty if its page asks for something first. ``shown`` turns what the
    field holds into what people call it."""

    model: type[Job]
    label: str
    name: str
    url_name: str
    address: tuple[str, ...] = ("pk",)
    project: str = "project"
    retry: str = ""
    shown: Callable[[str], str] = str


FindingSource = Callable[[Project, int], Iterable[Finding]]  # the newest ones, at most so many
NeedSource = Callable[[Project], Iterable[Need]]
Setback = Callable[[Project], NextStep | None]  # what to do about a result that allows no conclusion

FINDINGS: list[FindingSource] = []
NEEDS: list[NeedSource] = []
JOBS: list[JobKind] = []
SETBACKS: list[Setback] = []


def register(
    *,
    findings: Iterable[FindingSource] = (),
    needs: Iterable[NeedSource] = (),
    jobs: Iterable[JobKind] = (),
    setbacks: Iterable[Setback] = (),
) -> None:
    FINDINGS.extend(findings)
    NEEDS.extend(needs)
    JOBS.extend(jobs)
    SETBACKS.extend(setbacks)
