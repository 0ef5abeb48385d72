"""The reports of indexing and mining, in numbers and words, for pages and commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import CandidateFate, MiningRun, SourceKind

LABELS = {
    "lines": "Lines, or rows of Parquet",
    "triples": "Triples",
    "empty_messages": "Lines whose message says nothing, left out",
    "empty_responses": "Lines whose response says nothing, left out",
    "byte_order_mark": "Byte-order mark, skipped",
    "windows_line_ends": "Lines with Windows line ends (CR LF)",
    "blank_lines": "Blank lines, skipped",
    "quote_cells": "Cells with quote characters that are text, not quoting",
}


def corpus_report_rows(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return labels and counts in a fixed order, without zeros."""
    return [(label, counts[key]) for key, label in LABELS.items() if counts.get(key)]


@dataclass(frozen=True)
class KindRow:
    kind: str
    label: str
    fates: Mapping[str, int]

    @property
    def all(self) -> int:
        return sum(self.fates.values())


@dataclass(frozen=True)
class StepRow:
    step: str
    fate: str
    n: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True)
class RunReport:
    kinds: list[KindRow]
    steps: list[StepRow]
    kept: list[tuple[int, int]]  # mined texts kept, seeds
    seeds: int
    fewer: int
    near: int
    near_kept: int

    @property
    def n_kept(self) -> int:
        return sum(row.fates.get("kept", 0) for row in self.kinds)

    @property
    def mines(self) -> bool:
        return any(row.kind == SourceKind.MINED for row in self.kinds)

    @property
    def tallest(self) -> int:
        return max((n for _, n in self.kept), default=1)


def run_report(run: MiningRun) -> RunReport:
    """Return the report of a run that is done."""
    report = run.report
    return RunReport(
        kinds=[
            KindRow(kind, SourceKind(kind).label, {fate: counts.get(fate, 0) for fate in CandidateFate.values})
            for kind in SourceKind.values
            if (counts := report["kinds"].get(kind)) is not None
        ],
        steps=[StepRow(**row) for row in report["reasons"]],
        kept=sorted((int(n), seeds) for n, seeds in report["seeds"]["kept"].items()),
        seeds=report["seeds"]["all"],
        fewer=report["seeds"]["fewer"],
        near=report["near_duplicates"]["all"],
        near_kept=report["near_duplicates"]["kept"],
    )
