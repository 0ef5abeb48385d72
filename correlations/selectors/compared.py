"""Studies side by side: rows of the same metric, settings and references; differences, pooled values and ranks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.models import JobState, Project
from correlations.models import Study
from correlations.results.report import MOST_REPORTS
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors.ceilings import raters_are_known
from correlations.selectors.tuned import MARK, of_metrics_chosen
from correlations.stats.coefficients.coefficient import Coefficient
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.intervals import NOWHERE, Interval
from correlations.stats.pooled import (
    AverageRanks,
    Difference,
    Pooled,
    average_ranks,
    correlation_difference,
    pooled_correlation,
)
from metrics.scoring.external import External
from metrics.scoring.settings import with_settings

MOST_STUDIES = MOST_REPORTS  # whose results one page reads
ONE_DATASET = "two of the studies are of one data set, whose items would count twice"
# Fields of signatures that name data and not settings.
OF_DATA = ("version", "weights", "content", "release", "data", "items", "references", "outputs", "sources")
Key = tuple[str, str]  # a row's settings and references


class Cell(NamedTuple):
    """A row of one study."""

    row: StudyRow
    place: int  # in its study
    value: float | None
    interval: Interval
    observations: float  # mirror images counted once
    reason: str  # why it cannot be ranked or pooled, or empty

    @property
    def is_sure(self) -> bool:
        """Return whether the study has units enough to draw a conclusion of it."""
        return self.value is not None and not self.reason


@dataclass(frozen=True)
class Line:
    """A metric with its settings and references, and the row of each study that has one."""

    label: str
    short: str  # without settings that need not be named within one study
    references: str
    signature: str
    cells: Sequence[Cell | None]
    difference: Difference | None  # of two studies
    pooled: Pooled | None  # over several data sets

    @property
    def is_shared(self) -> bool:
        return all(cell is not None for cell in self.cells)

    @property
    def is_sure(self) -> bool:
        """Return whether every study has the row, with units enough."""
        return all(cell is not None and cell.is_sure for cell in self.cells)

    @property
    def apart(self) -> float:
        """Return the difference of two studies; 0 if there is none."""
        return 0.0 if self.difference is None else self.difference.value

    @property
    def name(self) -> str:
        return self.short if self.references == "none" else f"{self.short} with {named_references(self.references)}"


class Setting(NamedTuple):
    """Something that studies specify or rest on, and what it is in each."""

    name: str
    values: Sequence[str]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Ranked:
    """The lines that every study has, and their ranks in each."""

    lines: Sequence[Line]
    ranks: AverageRanks

    def of(self, line: Line) -> tuple[float, int] | None:
        """Return a line's average rank, and in how many studies it is first; None if it is not ranked."""
        if line not in self.lines:
            return None
        place = list(self.lines).index(line)
        return float(self.ranks.means[place]), int(self.ranks.leads[place])


@dataclass(frozen=True)
class Compared:
    """Two or more finished studies."""

    studies: Sequence[Study]
    results: Sequence[StudyResult]
    coefficient: Coefficient
    lines: Sequence[Line]
    by_dataset: bool = False  # whether a study is called by its data set

    @property
    def names(self) -> list[str]:
        """Return the studies' names; those that are alike with their number."""
        if self.by_dataset and self.is_independent:
            return [study.dataset.name for study in self.studies]
        names = [study.name for study in self.studies]
        return [
            name if names.count(name) == 1 else f"{name} ({study.pk})"
            for name, study in zip(names, self.studies, strict=True)
        ]

    @property
    def datasets(self) -> int:
        return len({study.dataset_id for study in self.studies})

    @property
    def is_independent(self) -> bool:
        """Return whether no two studies are of one data set."""
        return self.datasets == len(self.studies)

    @property
    def is_pair(self) -> bool:
        return len(self.studies) == 2

    @property
    def pools(self) -> bool:
        return any(line.pooled is not None and line.pooled.reason is None for line in self.lines)

    @cached_property
    def ranked(self) -> Ranked | None:
        """Return the ranks of the rows that every study has; None if there are fewer than two."""
        lines = [line for line in self.lines if line.is_sure]
        if len(lines) < 2:
            return None
        values = [[cell.value for cell in line.cells if cell is not None] for line in lines]
        return Ranked(lines, average_ranks(np.array(values, dtype=np.float64).T))

    @property
    def shared(self) -> Sequence[Line]:
        return [line for line in self.lines if line.is_shared]

    @property
    def only_some(self) -> Sequence[Line]:
        return [line for line in self.lines if not line.is_shared]

    @cached_property
    def is_of_one_choice(self) -> bool:
        """Return whether all rows read the same references, if any, so that they need not be named."""
        return len({line.references for line in self.shared} - {"none"}) < 2

    def named(self, line: Line) -> str:
        """Return a row as part of a sentence."""
        return line.short if self.is_of_one_choice else line.name

    def mark(self, line: Line) -> str:
        """Return that a row has the best average rank of several choices of its metric's references; else nothing."""
        ranked = self.ranked
        if ranked is None or line not in ranked.lines:
            return ""
        means = dict(enumerate(ranked.ranks.means.tolist()))
        same = [means[place] for place, each in enumerate(ranked.lines) if each.short == line.short]
        return MARK if len(same) > 1 and means[list(ranked.lines).index(line)] == min(same) else ""

    @property
    def references_chosen(self) -> str:
        """Return of which rows with the first rank the references were chosen, in a sentence; empty if of none."""
        if self.ranked is None:
            return ""
        means = self.ranked.ranks.means
        first = [line for line, mean in zip(self.ranked.lines, means, strict=True) if mean == means.min()]
        return of_metrics_chosen([line.short for line in first if self.mark(line)])

    @property
    def different(self) -> Sequence[Line]:
        """Return the rows of two studies that differ by more than their intervals allow."""
        return [line for line in self.lines if line.difference is not None and line.difference.is_significant]

    @cached_property
    def settings(self) -> Sequence[Setting]:
        return _settings(self.studies, self.results)


def finished_studies(project: Project) -> QuerySet[Study]:
    """Return the studies that can be compared, newest first."""
    studies = Study.objects.filter(project=project, state=JobState.DONE, result__isnull=False)
    return studies.select_related("dataset", "release__reference_set").order_by("-pk")


def compared_studies(studies: Sequence[Study], coefficient: str | None = None) -> Compared | None:
    """Return studies side by side by a coefficient; None if they share none, or not this one.

    By default it is the leading one of the first study that all have.
    """
    results = [study.read_result() for study in studies]
    shared = [key for key in results[0].coefficients if all(key in result.coefficients for result in results)]
    if not shared or (coefficient is not None and coefficient not in shared):
        return None
    entry = COEFFICIENTS[coefficient or shared[0]]
    rows = [_cells(study, result, entry) for study, result in zip(studies, results, strict=True)]
    keys = dict.fromkeys(key for cells in rows for key in cells)
    independent = len({study.dataset_id for study in studies}) == len(studies)
    lines = [_line([cells.get(key) for cells in rows], independent=independent) for key in keys]
    return Compared(studies, results, entry, sorted(lines, key=_order, reverse=True))


def shared_coefficients(results: Sequence[StudyResult]) -> list[Coefficient]:
    return [entry for entry in results[0].entries if all(entry.key in result.coefficients for result in results)]


def named_references(label: str) -> str:
    """Return a choice of references as part of a sentence."""
    return {"all": "all references", "single": "the single original"}.get(label, f"references {label}")


def _cells(study: Study, result: StudyResult, entry: Coefficient) -> dict[Key, Cell]:
    mirrored = study.specification["orientation"] == "both"
    cells: dict[Key, Cell] = {}
    for index, row in enumerate(result.rows):
        estimate = row.coefficients[entry.key]
        interval = NOWHERE if estimate.over_items is None else Interval(*estimate.over_items)
        observations = row.n_observations / 2 if mirrored else row.n_observations
        reason = estimate.reason or row.few_units
        key = _key(row)
        # Of two imports of one name the first is compared; the other stands for itself.
        key = (row.signature, row.subset) if key in cells else key
        cells[key] = Cell(row, index, estimate.value, interval, observations, reason)
    return cells


def _key(row: StudyRow) -> Key:
    """Return what is the same for one metric on other data: not its version, weights, or imported scores."""
    if row.metric == External.name:
        return f"{External.name}|{row.label}", row.subset
    fields = [field for field in row.signature.split("|") if field.partition(":")[0] not in OF_DATA]
    return "|".join(fields), row.subset


def _line(cells: Sequence[Cell | None], *, independent: bool) -> Line:
    first = next(cell for cell in cells if cell is not None)
    difference = None
    if len(cells) == 2 and all(cell is not None and cell.is_sure for cell in cells):
        a, b = (cell for cell in cells if cell is not None)
        difference = correlation_difference(_number(a), a.interval, _number(b), b.interval)
    return Line(
        label=with_settings(first.row.label, first.row.signature),
        short=first.row.label,
        references=first.row.subset_label,
        signature=first.row.signature,
        cells=cells,
        difference=difference,
        pooled=_pooled([cell for cell in cells if cell is not None], len(cells), independent=independent),
    )


def _pooled(cells: Sequence[Cell], n_studies: int, *, independent: bool) -> Pooled | None:
    """Pool a row that every study has; None for studies that share items, or lack the row."""
    if not independent or len(cells) < n_studies or not all(cell.is_sure for cell in cells):
        return None
    return pooled_correlation(
        [_number(cell) for cell in cells],
        [cell.observations for cell in cells],
        [list(cell.interval) for cell in cells],
    )


def _number(cell: Cell) -> float:
    return math.nan if cell.value is None else cell.value


def _order(line: Line) -> tuple[bool, bool, float]:
    """Return what sorts lines: those of all studies first, then by the mean coefficient."""
    values = [cell.value for cell in line.cells if cell is not None and cell.value is not None]
    return line.is_shared, bool(values), sum(values) / len(values) if values else 0.0


# --- What differs -----------------------------------------------------------------------------------------------------

LABELS = {
    "criteria": "Criteria",
    "campaigns": "Campaigns",
    "systems": "Systems",
    "pairs": "Pairs of systems",
    "subsets": "References",
    "unit_size": "Unit size",
    "assignments": "Assignments",
    "bootstrap": "Bootstrap replicates",
    "orientation": "Orientation",
    "remainder": "Last, shorter unit",
    "tokenize": "Tokeniser",
    "lowercase": "Lowercase first",
    "order": "Longest n-gram",
    "seed": "Seed of the random numbers",
}


def _settings(studies: Sequence[Study], results: Sequence[StudyResult]) -> list[Setting]:
    """Return what each study specifies and rests on; what differs first."""
    rows: dict[str, list[str]] = {
        "Data set": [study.dataset.name for study in studies],
        "Release": [str(study.release or "none") for study in studies],
    }
    rows |= {label: [_written(study.specification.get(key)) for study in studies] for key, label in LABELS.items()}
    rows |= {
        "Items": [f"{result.items.used:,}" for result in results],
        "Items left out": [f"{result.items.left_out:,}" for result in results],
        "Human judgements": [f"{result.counts.judgements:,}" for result in results],
        "Raters": [f"{result.counts.raters:,}" if raters_are_known(result) else "unknown" for result in results],
        "Raters excluded": [f"{result.counts.raters_excluded:,}" for result in results],
        "Version of Assay": [result.versions.assay for result in results],
        "Version of NumPy": [result.versions.numpy for result in results],
    }
    settings = [Setting(name, values) for name, values in rows.items()]
    return sorted(settings, key=lambda setting: not setting.differs)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(" – ".join(entry) if isinstance(entry, list) else str(entry) for entry in value) or "all"
    return "–" if value is None else f"{value}"
