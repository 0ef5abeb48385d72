"""What a file of scores does not say about itself: the options of an import, and the scale of each column."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Dataset
from metrics.errors import ScoreRunRefused
from metrics.scoring.external import SEGMENT
from metrics.selectors.score_scales import (
    IN_FILE,
    NONE,
    PROPOSED,
    RANGE,
    STATED,
    FoundScores,
    RatersScale,
    bounds_text,
    proposed_scale,
    raters_scales,
    scale_kind,
    stated_scale,
)
from metrics.services.score_files import FileScores


@dataclass(frozen=True)
class ImportOptions:
    """What a file of scores does not say about itself."""

    name: str = ""  # of the metric; empty for an archive, whose files are named
    lower_is_better: bool = False  # for every metric in the file
    lower: Collection[str] = ()  # metrics for which lower is better
    skip: Collection[str] = ()  # metrics in the file that are not imported
    lowest: float | None = None  # of every metric; a file with a score outside the bounds is refused
    highest: float | None = None
    scale: Collection[str] = ()  # of every metric, or NAME=SCALE of one: raters, none, 1..5; else the proposed one
    shown_scales: Mapping[str, str] = field(default_factory=dict)  # by metric, as a page shows them
    note: str = ""  # version and settings of the scorer, licence, a link


@dataclass(frozen=True)
class ColumnScale:
    """What was found in a column, and the scale that its scores are taken to have.

    Attributes
    ----------
    lowest, highest : float or None
        None: no bound.
    source : {"stated", "file", "proposed"}
    found : FoundScores
    raters : sequence of RatersScale
        Those of the data set, the ones with ratings first.
    proposed : RatersScale or None
        The one that the column seems to lie on.
    is_asked : bool
        The preview asks for it: scores of systems have the scale of the same metric's segments.
    """

    lowest: float | None
    highest: float | None
    source: str
    found: FoundScores
    raters: Sequence[RatersScale]
    proposed: RatersScale | None
    is_asked: bool = True

    @property
    def kind(self) -> str:
        return scale_kind(self.lowest, self.highest, self.raters)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Return the values that a form offers, with their labels, and whether each is chosen."""
        found = self.found.values
        fitting = [scale for scale in self.raters if ((scale.low <= found) & (found <= scale.high)).all()]
        of_raters = [
            (scale.text, f"On the raters’ scale, {scale.words}", (scale.low, scale.high) == (self.lowest, self.highest))
            for scale in fitting
        ]
        chosen = any(is_chosen for *_, is_chosen in of_raters)
        is_range = self.kind != NONE and not chosen
        return [*of_raters, (RANGE, "Another range", is_range), (NONE, "No fixed range", self.kind == NONE)]

    @property
    def ends(self) -> list[str]:
        """Return both ends as a form shows them; empty for no bound."""
        return bounds_text(self.lowest, self.highest).split("..")

    @property
    def is_unknown_points(self) -> bool:
        """Return whether the scores look like a judge's points on a scale that is not known."""
        return self.kind == NONE and self.source == PROPOSED and self.found.are_points

    def summary(self) -> dict[str, Any]:
        return {"found": self.found.words, "lowest": self.lowest, "highest": self.highest, "range_from": self.source}

    def provenance(self) -> dict[str, str]:
        """Return what the run keeps of it beside its parameters."""
        return {"found": self.found.words, "range_from": self.source}


def is_lower(options: ImportOptions, table: FileScores, name: str) -> bool:
    """Return whether lower scores of this metric are better."""
    return options.lower_is_better or name in options.lower or table.description.get("lower_is_better") is True


def column_scales(dataset: Dataset, tables: Sequence[FileScores], options: ImportOptions) -> list[ColumnScale]:
    """Return the scale of each table's scores.

    That is the one stated for its metric; else the bounds, or the scale, stated for every metric; else what an archive
    says; else the proposed one, and no bound if none is proposed.
    """
    raters = raters_scales(dataset)
    names = [options.name or table.name for table in tables]
    of_each, of_every = _stated_texts(options, names)
    of_segments = {name: table for name, table in zip(names, tables, strict=True) if table.level == SEGMENT}
    scales = []
    for name, table in zip(names, tables, strict=True):
        # Means of points are no points: scores of systems have the scale of the same metric's segments.
        looked_at = of_segments.get(name, table)
        found = FoundScores(table.scores)
        proposed = proposed_scale(
            name, FoundScores(looked_at.scores), raters, lower_is_better=is_lower(options, table, name)
        )
        text = of_each.get(name, of_every)
        ends = (options.lowest, options.highest)
        if text is not None and (name in of_each or ends == (None, None)):
            ends, source = _ends(name, text, found, raters), STATED
        elif ends != (None, None):
            source = STATED
        elif {"lowest", "highest"} & set(table.description):
            ends, source = _described(table), IN_FILE
        else:
            ends, source = (proposed.low, proposed.high) if proposed else (None, None), PROPOSED
        scales.append(ColumnScale(*ends, source, found, raters, proposed, looked_at is table))
    return scales


def _stated_texts(options: ImportOptions, names: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """Return the stated scales by metric, and the one for every other metric."""
    of_each = dict(options.shown_scales)
    of_every: str | None = None
    for entry in options.scale:
        name, equals, text = entry.rpartition("=")
        if not equals:
            of_every = text.strip()
        elif name.strip() in names:
            of_each[name.strip()] = text.strip()
        else:
            raise ScoreRunRefused.at("scale", f"scale: found {name[:80]!r}; accepted: {', '.join(names)}.")
    return of_each, of_every


def _ends(name: str, text: str, found: FoundScores, raters: Sequence[RatersScale]) -> tuple[float | None, float | None]:
    try:
        return stated_scale(text, found, raters)
    except ValueError as error:
        raise ScoreRunRefused.at("scale", f"Scale of {name or 'the scores'}: {error}.") from error


def _described(table: FileScores) -> tuple[float | None, float | None]:
    """Return the bounds that an archive's description gives."""
    lowest, highest = (
        float(bound) if isinstance(bound, int | float) and not isinstance(bound, bool) else None
        for bound in (table.description.get("lowest"), table.description.get("highest"))
    )
    return lowest, highest
