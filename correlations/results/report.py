"""The report of a study as one JSON document: all that is needed to compute it again, and its result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from annotation.core.canonical import canonical_json

FORMAT = "assay-study-report/1"
MOST_RATINGS = 2**31


class ReportError(ValueError):
    """A document that is no report of a study; the message says what was found and what is accepted."""


@dataclass(frozen=True)
class StudyDocument:
    """``specification`` can be requested anywhere; ``named`` holds hashes of all that it names, as the signature does.

    ``releases``, ``campaigns`` and ``runs`` describe what was read, by names and hashes of content.
    """

    assay: str
    project: Mapping[str, Any]
    dataset: Mapping[str, Any]
    study: Mapping[str, Any]
    specification: Mapping[str, Any]
    named: Mapping[str, Any]
    releases: list[dict[str, Any]]
    campaigns: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    seed: int
    versions: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def signature(self) -> str:
        return str(self.study["signature"])

    @property
    def hashes(self) -> dict[str, str]:
        """Return the hashes by which a changed document is noticed."""
        return {"specification": sha256_of(self.specification), "result": sha256_of(self.result)}

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **asdict(self), "hashes": self.hashes}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read a document, and check that nothing in it was changed after it was written."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
            raise ReportError(f"found the format {found!r}; accepted: {FORMAT}, the JSON report of a study")
        kinds = {name: kind.split("[")[0] for name, kind in cls.__annotations__.items()}
        for name, kind in kinds.items():
            accepted = {"str": str, "int": int, "list": list, "Mapping": Mapping}[kind]
            if not isinstance(data.get(name), accepted):
                raise ReportError(f"{name}: found {str(data.get(name))[:40]!r}; accepted: what a report holds there")
        document = cls(**{name: data[name] for name in kinds})
        if not isinstance(document.study.get("signature"), str):
            raise ReportError("study: found no signature; accepted: that of a report")
        _check_named(document.named)
        for name, digest in document.hashes.items():
            if data.get("hashes", {}).get(name) != digest:
                raise ReportError(f"the {name} was changed after the report was written: its hash is not the one named")
        return document


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
