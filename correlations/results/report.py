"""Reports of studies as JSON documents: all that is needed to compute a study again, and its result."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from annotation.core.canonical import canonical_json

MOST_RATINGS = 2**31
MOST_REPORTS = 20  # in a report over several data sets: each is a study to compute


class ReportError(ValueError):
    """A document that is no report of a study; the message says what was found and what is accepted."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What reports of every kind of study hold.

    ``specification`` can be requested anywhere; ``named`` holds hashes of all that it names, as the signature does.
    ``releases`` and ``campaigns`` describe what was read, by names and hashes of content.
    """

    FORMAT: ClassVar[str]
    OF: ClassVar[str]  # in words

    assay: str
    project: Mapping[str, Any]
    dataset: Mapping[str, Any]
    study: Mapping[str, Any]
    specification: Mapping[str, Any]
    named: Mapping[str, Any]
    releases: list[dict[str, Any]]
    campaigns: list[dict[str, Any]]
    versions: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def signature(self) -> str:
        return str(self.study["signature"])

    @property
    def name(self) -> str:
        """Return the study's name."""
        return str(self.study.get("name", ""))

    @property
    def hashes(self) -> dict[str, str]:
        """Return the hashes by which a changed document is noticed."""
        return {"specification": sha256_of(self.specification), "result": sha256_of(self.result)}

    def to_json(self) -> dict[str, Any]:
        return {"format": self.FORMAT, **asdict(self), "hashes": self.hashes}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read a document, and check that nothing in it was changed after it was written."""
        _check_form(data, cls)
        document = cls(**{field.name: data[field.name] for field in fields(cls)})
        if not isinstance(document.study.get("signature"), str):
            raise ReportError("study: found no signature; accepted: that of a report")
        _check_named(document.named)
        _check_hashes(document.hashes, data)
        return document


@dataclass(frozen=True, kw_only=True)
class StudyDocument(Report):
    """The report of a study. ``runs`` are the score runs of its rows."""

    FORMAT: ClassVar[str] = "assay-study-report/1"
    OF: ClassVar[str] = "a study"

    runs: list[dict[str, Any]]
    seed: int


@dataclass(frozen=True, kw_only=True)
class ParameterDocument(Report):
    """The report of a parameter study."""

    FORMAT: ClassVar[str] = "assay-parameter-study-report/1"
    OF: ClassVar[str] = "a parameter study"


@dataclass(frozen=True, kw_only=True)
class JointDocument:
    """The report of a study over several data sets: the reports of its studies, and what these say together."""

    FORMAT: ClassVar[str] = "assay-joint-study-report/1"
    OF: ClassVar[str] = "a study over several data sets"

    assay: str
    project: Mapping[str, Any]
    name: str
    signature: str
    specification: Mapping[str, Any]
    result: Mapping[str, Any]
    reports: list[StudyDocument]

    @property
    def hashes(self) -> dict[str, str]:
        """Return the hashes by which a changed document is noticed; each of its reports has its own."""
        return {"specification": sha256_of(self.specification), "result": sha256_of(self.result)}

    def to_json(self) -> dict[str, Any]:
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"format": self.FORMAT, **plain, "reports": [each.to_json() for each in self.reports]} | {
            "hashes": self.hashes
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read a document and the reports within it, and check that nothing was changed after it was written."""
        _check_form(data, cls)
        if not 2 <= (n := len(data["reports"])) <= MOST_REPORTS:
            raise ReportError(f"reports: found {n}; accepted: two to {MOST_REPORTS}, one of each data set")
        given = {field.name: data[field.name] for field in fields(cls)}
        document = cls(**given | {"reports": [StudyDocument.from_json(report) for report in data["reports"]]})
        datasets = [(report.dataset.get("slug"), report.dataset.get("name")) for report in document.reports]
        if twice := next((name for slug, name in datasets if datasets.count((slug, name)) > 1), None):
            raise ReportError(f"reports: found two of the data set {twice}; accepted: one of each data set")
        _check_hashes(document.hashes, data)
        return document


DOCUMENTS: tuple[type[Report] | type[JointDocument], ...] = (StudyDocument, ParameterDocument, JointDocument)


def read_report(data: Any) -> Report | JointDocument:
    """Read the report of a study of any kind."""
    kind = next((kind for kind in DOCUMENTS if _format_of(data) == kind.FORMAT), None)
    if kind is None:
        raise _other_format(data, *DOCUMENTS)
    return kind.from_json(data)


def joint_signature(signatures: Iterable[str]) -> str:
    """Return the signature of the study over the data sets of these studies."""
    return sha256_of({"studies": sorted(signatures)})


def _format_of(data: Any) -> Any:
    return data.get("format") if isinstance(data, Mapping) else None


def _check_form(data: Any, kind: type[Report] | type[JointDocument]) -> None:
    """Refuse data of another format, or whose fields are of other types than the kind's."""
    if _format_of(data) != kind.FORMAT:
        raise _other_format(data, kind)
    for field in fields(kind):
        accepted = {"str": str, "int": int, "list": list, "Mapping": Mapping}[str(field.type).split("[")[0]]
        if not isinstance(data.get(field.name), accepted):
            found = str(data.get(field.name))[:40]
            raise ReportError(f"{field.name}: found {found!r}; accepted: what a report holds there")


def _check_hashes(hashes: Mapping[str, str], data: Mapping[str, Any]) -> None:
    given = data.get("hashes")
    for name, digest in hashes.items():
        if not isinstance(given, Mapping) or given.get(name) != digest:
            raise ReportError(f"the {name} was changed after the report was written: its hash is not the one named")


def _other_format(data: Any, *accepted: type[Report] | type[JointDocument]) -> ReportError:
    found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
    known = ", or ".join(f"{kind.FORMAT}, the JSON report of {kind.OF}" for kind in accepted)
    return ReportError(f"found the format {found!r}; accepted: {known}")


def _check_named(named: Mapping[str, Any]) -> None:
    """Refuse hashes and numbers that a report does not hold in this form."""
    marks, without = named.get("ratings", {}), named.get("without_raters", [])
    if not isinstance(marks, Mapping) or not all(map(_is_mark, marks.values())):
        raise ReportError("named.ratings: found another form; accepted: count and sha256 of each campaign")
    if not isinstance(without, list) or not all(isinstance(place, int) for place in without):
        raise ReportError("named.without_raters: found another form; accepted: a list of numbers")


def _is_mark(mark: object) -> bool:
    if not isinstance(mark, Mapping):
        return False
    count = mark.get("count")
    return type(count) is int and 0 <= count < MOST_RATINGS and isinstance(mark.get("sha256"), str | None)


def sha256_of(data: Any) -> str:
    """Return the hash of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(data)).hexdigest()
