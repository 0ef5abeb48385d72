"""What indexing and mining found, in numbers and in words: one wording for pages and commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import CandidateFate, MiningRun, SourceKind

WORDS = {
    "lines": "Lines, or rows of Parquet",
    "triples": "Triples",
    "empty_messages": "Lines whose message says nothing, left out",
    "empty_responses": "Lines whose response says nothing, left out",
    "byte_order_mark": "Byte-order mark, skipped",
    "windows_line_ends": "Lines ending in CR LF",
    "blank_lines": "Blank lines, skipped",
    "quote_cells": "Cells with quote characters that are text, not quoting",
}


def corpus_report_rows(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """(what, how many), in a fixed order, as far as there was any."""
    return [(words, counts[key]) for key, words in WORDS.items() if counts.get(key)]


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
    """The report of a run that is done."""
    found = run.report
    kinds = [
        KindRow(
            kind, SourceKind(kind).label, {fate: found["kinds"][kind].get(fate, 0) for fate in CandidateFate.values}
        )
        for kind in SourceKind.values
        if kind in found["kinds"]
    ]
    return RunReport(
        kinds=kinds,
        steps=[StepRow(row["step"], row["fate"], row["n"], row["examples"]) for row in found["reasons"]],
        kept=sorted((int(n), seeds) for n, seeds in found["seeds"]["kept"].items()),
        seeds=found["seeds"]["all"],
        fewer=found["seeds"]["fewer"],
        near=found["near_duplicates"]["all"],
        near_kept=found["near_duplicates"]["kept"],
    )
