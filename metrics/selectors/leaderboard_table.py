"""What a leaderboard consists of: columns, cells, rows, and the columns that share references and items."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from annotation.core.prose import enumerated
from annotation.models import Dataset, System
from annotation.results.selectors.leading import NAMED, basis, leading_sentence
from annotation.results.selectors.notes import rank_note
from annotation.results.selectors.verdicts import CriterionVerdict
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.selectors.run_items import OWN_REFERENCES, ItemSet
from metrics.selectors.runs import run_metric, run_range
from metrics.selectors.system_ratings import CampaignRatings

FIRST_METRICS = 6  # of a table of many, before the others are asked for
FEWEST_LEFT_OUT = 3
ON_PHONES = 2  # columns that a narrow screen has room for


@dataclass
class Column:
    """A run's scores, or what the raters of a campaign say on a criterion."""

    key: str
    label: str
    higher_is_better: bool
    judges_quality: bool
    run: ScoreRun | None = None
    ratings: CampaignRatings | None = None
    verdict: CriterionVerdict | None = None  # of the raters
    references: str = ""  # the release, or the data set's own; empty if it reads none
    items: ItemSet = field(default_factory=ItemSet)
    name: str = ""  # the label, with what tells it from another column of the same label and items
    parameters: str = ""
    settings: str = ""  # that depart from the field's usual ones, those that tell most
    all_settings: str = ""  # of which the metric has usual ones
    date: datetime | None = None
    is_tested: bool = False  # whether each system was compared with the best one
    digits: int = 3
    light: str = ""
    dark: str = ""
    best: list[str] = field(default_factory=list)  # systems with the best score, several if they are equal
    tied: list[str] = field(default_factory=list)  # systems that cannot be told from it
    apart: list[str] = field(default_factory=list)  # with too few items in common with it to be tested against it
    is_beaten: bool = False  # the best score's system is worse than another on the items that both have
    has_gaps: bool = False  # some system has a score over fewer items than the column
    is_open: bool = False  # each system may be the best
    level: int = 0  # systems with a score, if it is the same one
    unmatched: int | None = None  # that of the best score, whose factor for n-grams of this order is smoothed
    is_crossed: bool = False  # a system is behind that has a better score than one that may be the best
    is_sorted: bool = False
    aria_sort: str = "none"
    sort_query: str = ""  # of the address that sorts by it, or turns the order round
    begins_block: bool = False  # of columns with the same references and items
    is_on_phones: bool = False
    certain_pairs: int = 0  # that the first raters tell apart for certain
    agreed: int = 0  # of these, ordered as they do
    rewards_bad: bool = False  # reads all references of a release without their weights, those found bad, too

    def __post_init__(self) -> None:
        self.name = self.name or self.label

    @property
    def is_human(self) -> bool:
        return self.ratings is not None

    @property
    def head(self) -> str:
        """Return what stands above the column, below the name of its block."""
        return _capital(self.verdict.criterion) if self.verdict else self.label

    @property
    def estimates(self) -> str:
        """Return what the raters' numbers are: means on a scale, or strengths."""
        if self.verdict is None:
            return ""
        return f"mean rating {self.verdict.of_means}".strip() if self.verdict.by_means else "strength"

    @property
    def references_shown(self) -> str:
        """Return the references as a table names them; imported scores name none."""
        if self.run is not None and self.run.metric == External.name:
            return "imported"
        return self.references or "none"

    @property
    def block_heading(self) -> str:
        """Return what stands above columns that have their references in common."""
        shown = self.references_shown
        named = {
            "imported": "Imported scores",
            "none": "No references",
            OWN_REFERENCES: "The data set’s own references",
        }
        return named.get(shown, shown)

    @property
    def reads_weights(self) -> bool:
        metric = run_metric(self.run) if self.run else None
        return metric is not None and metric.needs_weights and self.run is not None and self.run.release_id is not None

    def is_named_in(self, sentence: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", sentence) is not None

    @property
    def scale(self) -> str:
        """Return what the numbers are on: the metric's range, if it has one, or what the raters' numbers are."""
        return run_range(self.run) if self.run else self.estimates

    @property
    def summary(self) -> str:
        """Return what the metric measures, in a sentence; '' for a metric that is no longer known, and for ratings."""
        metric = run_metric(self.run) if self.run else None
        return metric.summary if metric else ""

    @property
    def leads(self) -> bool:
        """Return whether the column says which system is best."""
        return self.judges_quality and bool(self.best) and self.unmatched is None and not self.level

    @property
    def is_sure(self) -> bool:
        """Return whether the best system was tested against each other one, and is better than each."""
        return self.is_tested and not (self.tied or self.apart or self.is_beaten)

    @property
    def block(self) -> tuple[int, str, ItemSet]:
        """Return what columns of one block have in common."""
        return self.ratings.campaign if self.ratings else 0, self.references_shown, self.items

    def is_beside(self, other: "Column") -> bool:
        return self.block == other.block


@dataclass(frozen=True)
class Cell:
    score: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    p_best: float | None = None
    # "best", "tied" with the best, "apart": no test, since they share no item
    standing: str = ""
    items: int | None = None  # that the score is over
    first_place: int | None = None  # one more than the systems that are better for certain; None: nothing was tested
    unmatched: int | None = None  # the shortest n-grams without a match, if smoothing still gives a score
    is_partial: bool = False  # over fewer items than the column
    start: float = 0.0  # of the interval on the column's scale, in percent
    width: float = 0.0
    at: float = 0.0


@dataclass(frozen=True)
class Row:
    system: System
    cells: list[Cell]
    columns: list[Column]
    same: list[str] = field(default_factory=list)  # other systems that gave the same outputs throughout

    @property
    def paired(self) -> list[tuple[Cell, Column]]:
        return list(zip(self.cells, self.columns, strict=True))


@dataclass(frozen=True)
class Block:
    """Columns side by side that have the same references and items, or are of one campaign's raters."""

    columns: list[Column]

    @property
    def first(self) -> Column:
        return self.columns[0]

    @property
    def rewards_bad(self) -> bool:
        return any(column.rewards_bad for column in self.columns)


@dataclass(frozen=True)
class RaterSentence:
    """Who leads by the raters of a campaign, on each criterion, and what that rests on."""

    text: str
    basis: str
    campaign: int
    note: str = ""  # why the ranks of a system begin before those of one with a higher mean


@dataclass(frozen=True)
class Leaderboard:
    dataset: Dataset
    columns: list[Column]
    rows: list[Row]
    sort: str = ""
    reversed: bool = False
    left_out: int = 0  # columns that a page shows on request

    def narrowed(self, sentence: str = "") -> "Leaderboard":
        """Return the table with the raters and some metrics only.

        Those that the sentence names and those that read weights come before others; what sorts the table is kept.
        """
        metrics = [column for column in self.columns if not column.is_human]
        by_claim = sorted(metrics, key=lambda column: not (column.reads_weights or column.is_named_in(sentence)))
        first = {column.key for column in by_claim[:FIRST_METRICS]} | {self.sort}
        kept = [place for place, column in enumerate(self.columns) if column.is_human or column.key in first]
        if len(self.columns) - len(kept) < FEWEST_LEFT_OUT:
            return self
        columns = [self.columns[place] for place in kept]
        shown = [
            replace(column, begins_block=before is not None and not column.is_beside(before))
            for before, column in zip([None, *columns], columns, strict=False)
        ]
        rows = [replace(row, cells=[row.cells[place] for place in kept], columns=shown) for row in self.rows]
        return replace(self, columns=shown, rows=rows, left_out=len(self.columns) - len(kept))

    def without(self, runs: Sequence[ScoreRun]) -> "Leaderboard":
        """Return what sentences are about if these runs are left out: columns, with the rows as they are."""
        numbers = {run.number for run in runs}
        return replace(self, columns=[each for each in self.columns if not each.run or each.run.number not in numbers])

    def with_phone_columns(self) -> "Leaderboard":
        """Mark the columns that a phone shows: the one that sorts and, if that is a metric, the raters beside it."""
        by_claim = sorted(self.columns, key=lambda column: (column.key != self.sort, not column.is_human))
        for place, column in enumerate(by_claim):
            column.is_on_phones = place < ON_PHONES
        return self

    @property
    def blocks(self) -> list[Block]:
        return [Block(list(columns)) for _, columns in groupby(self.columns, lambda column: column.block)]

    @property
    def all_columns(self) -> int:
        return len(self.columns) + self.left_out

    @property
    def is_tested(self) -> bool:
        return any(column.is_tested and column.judges_quality for column in self.columns)

    @property
    def marks(self) -> set[str]:
        """Return the standings that some cell is marked with."""
        return {cell.standing for row in self.rows for cell in row.cells}

    @property
    def untested(self) -> list[str]:
        """Return the metrics whose best system is marked without a test."""
        untested = [column for column in self.columns if column.judges_quality and not column.is_tested]
        return list(dict.fromkeys(column.name for column in untested))

    @property
    def has_gaps(self) -> bool:
        """Return whether some system's score is over fewer items than its column."""
        return any(column.has_gaps for column in self.columns)

    @property
    def has_apart(self) -> bool:
        """Return whether some system shares no item with the best of a column."""
        return any(column.apart for column in self.columns)

    @property
    def has_several_item_sets(self) -> bool:
        """Return whether two runs scored different items, so that their numbers cannot be compared."""
        return len({column.items for column in self.columns if column.run}) > 1

    @property
    def runs(self) -> list[Column]:
        return [column for column in self.columns if column.run]

    @property
    def ratings(self) -> list[CampaignRatings]:
        """Return the campaigns whose raters have a column, each once."""
        return list({column.ratings.campaign: column.ratings for column in self.columns if column.ratings}.values())

    @property
    def rater_sentences(self) -> list[RaterSentence]:
        """Return what the raters of each campaign say, on every criterion."""
        sentences = []
        for campaign, columns in groupby(self.columns, lambda column: column.ratings):
            verdicts = [column.verdict for column in columns if column.verdict]
            if campaign is not None and (text := _of_raters(verdicts, many=len(campaign.criteria) > 1)):
                rests = f"{basis(campaign.results)} in “{campaign.name}”"
                sentences.append(RaterSentence(text, rests, campaign.campaign, _first_note(verdicts)))
        return sentences

    @property
    def rank_note(self) -> str:
        """Return the note on ranks that are not in the order of the means, by the first raters that have one."""
        return next((each.note for each in self.rater_sentences if each.note), "")

    @property
    def name_query(self) -> str:
        """Return the query that sorts by name, or turns that order round."""
        return "sort=system" + ("&order=worst" if self.sort == "system" and not self.reversed else "")


def _of_raters(verdicts: Sequence[CriterionVerdict], *, many: bool) -> str:
    """Return who is first on which criteria, those with one answer together."""
    named: dict[str, list[str]] = {}
    for verdict in verdicts:
        if text := leading_sentence(verdict):
            named.setdefault(text, []).append(verdict.criterion)
    return " ".join(
        f"{_capital(enumerated(names, NAMED))}: {_small(text)}" if many else text for text, names in named.items()
    )


def _first_note(verdicts: Sequence[CriterionVerdict]) -> str:
    """Return the note on ranks that are not in the order of the means, on the first criterion that has one."""
    for verdict in verdicts:
        if note := rank_note(verdict):
            return f"By {verdict.criterion}, {note}" if len(verdicts) > 1 else note
    return ""


def _small(text: str) -> str:
    """Begin a sentence after a colon: a name or a number stays as it is."""
    return text.replace("Raters ", "raters ", 1)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
