"""What a file of scores does not say about itself: the options of an import, and the scale of each column."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from annotation.models import Dataset
from metrics.errors import ScoreRunRefused
from metrics.scoring.external import SEGMENT
from metrics.selectors.score_scales import (
    IN_FILE,
    NONE,
    PROPOSED,
    RANGE,
    STATED,
    RatersScale,
    ScoresSummary,
    bounds_text,
    points_of,
    proposed_scale,
    raters_scales,
    scale_kind,
    stated_scale,
)
from metrics.services.score_files import FileScores

Floats = npt.NDArray[np.float64]

ROUNDING = 1e-9  # of a bound: sums of floats may lie above 1 by a last bit


@dataclass(frozen=True)
class ImportOptions:
    """What a file of scores does not say about itself. Metrics of several columns go by the names of these."""

    name: str = ""  # of the metric; with several columns, of the only one that is imported
    names: Collection[str] = ()  # COLUMN=NAME: what the metric of a column is called instead
    shown_names: Mapping[str, str] = field(default_factory=dict)  # the same by column, as a page shows them
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
    """The scores of a column, and the scale that they are taken to have.

    Attributes
    ----------
    lowest, highest : float or None
        None: no bound.
    source : {"stated", "file", "proposed"}
    scores : ScoresSummary
    raters : sequence of RatersScale
        Those of the data set, the ones with ratings first.
    proposed : RatersScale or None
        The one that the column seems to lie on.
    points_of : {"judge", "unnamed", ""}
        Whose points the scores seem to be.
    is_asked : bool
        The preview asks for it: scores of systems have the scale of the same metric's segments.
    """

    lowest: float | None
    highest: float | None
    source: str
    scores: ScoresSummary
    raters: Sequence[RatersScale]
    proposed: RatersScale | None
    points_of: str = ""
    is_asked: bool = True

    @property
    def kind(self) -> str:
        return scale_kind(self.lowest, self.highest, self.raters)

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Return the values that a form offers, with their labels, and whether each is chosen."""
        values = self.scores.values
        fitting = [scale for scale in self.raters if ((scale.low <= values) & (values <= scale.high)).all()]
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
        """Return whether the scores look like points on a scale that is not known."""
        return self.kind == NONE and self.source == PROPOSED and bool(self.points_of)

    def summary(self) -> dict[str, Any]:
        return {"scores": self.scores.words, "lowest": self.lowest, "highest": self.highest, "range_from": self.source}

    def provenance(self) -> dict[str, str]:
        """Return what the run keeps of it beside its parameters."""
        return {"scores": self.scores.words, "range_from": self.source}


def options_by_column(options: ImportOptions, columns: Sequence[str]) -> ImportOptions:
    """Return the options in which each name stands beside its column; of a single column it is *the* name."""
    stated = _stated_names(options.names, columns)
    if len(columns) == 1:
        return replace(options, name=options.name or stated.get(columns[0], ""), names=(), shown_names={})
    options = replace(options, names=(), shown_names={**options.shown_names, **stated})
    if options.name:
        left = sorted(set(columns) - set(options.skip))
        if len(left) > 1:
            message = (
                f"name: found {options.name!r} for {len(left)} columns of scores ({', '.join(left)}); accepted: no "
                "name, or one column that is imported. Without a name each is called like its column."
            )
            raise ScoreRunRefused.at("name", message)
        options = replace(options, name="", shown_names={**options.shown_names, **dict.fromkeys(left, options.name)})
    called: dict[str, str] = {}
    for column in dict.fromkeys(columns):
        if column not in options.skip:
            name = options.shown_names.get(column) or column
            if name in called:
                message = f"name: found {name!r} for {called[name]} and {column}; accepted: a name for each."
                raise ScoreRunRefused.at("name", message)
            called[name] = column
    return options


def _stated_names(entries: Collection[str], columns: Sequence[str]) -> dict[str, str]:
    """Return what the entries call columns of the file, whose names may hold an equals sign."""
    stated: dict[str, str] = {}
    longest_first = sorted(filter(None, columns), key=len, reverse=True)
    for entry in entries:
        column = next((each for each in longest_first if entry.startswith(f"{each}=")), None)
        name = entry.removeprefix(f"{column}=").strip()
        if column is None or not name or column in stated:
            accepted = f"COLUMN=NAME, once for a column of {', '.join(columns)}"
            if not longest_first:
                accepted = "none, and “name”: the file has one column of scores, without a name"
            raise ScoreRunRefused.at("names", f"names: found {entry[:80]!r}; accepted: {accepted}.")
        stated[column] = name
    return stated


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
        of_segment, lower = ScoresSummary(looked_at.scores), is_lower(options, table, name)
        scale = ColumnScale(
            options.lowest,
            options.highest,
            STATED,
            ScoresSummary(table.scores),
            raters,
            proposed_scale(name, of_segment, raters, lower_is_better=lower),
            points_of(name, of_segment, lower_is_better=lower),
            looked_at is table,
        )
        text = of_each.get(name)
        if text is None and (scale.lowest, scale.highest) == (None, None):
            text = of_every
        scales.append(_settled(scale, name, text, table.description))
    return scales


def _settled(scale: ColumnScale, name: str, text: str | None, description: Mapping[str, Any]) -> ColumnScale:
    """Return the scale, which has the bounds stated for every metric, with the ends that come before or after these."""
    if text is not None:
        lowest, highest = _ends(name, text, scale.scores, scale.raters)
        return replace(scale, lowest=lowest, highest=highest)
    if (scale.lowest, scale.highest) != (None, None):
        return scale
    described = _described(description)
    if described != (None, None):
        return replace(scale, lowest=described[0], highest=described[1], source=IN_FILE)
    if scale.proposed is None:
        return replace(scale, source=PROPOSED)
    return replace(scale, lowest=scale.proposed.low, highest=scale.proposed.high, source=PROPOSED)


def _stated_texts(options: ImportOptions, names: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """Return the stated scales by metric, and the one for every other metric."""
    stated: dict[str, str] = {}  # "" for every metric
    for entry in options.scale:
        name, equals, text = (part.strip() for part in entry.rpartition("="))
        if equals and name not in names:
            raise ScoreRunRefused.at("scale", f"scale: found {name[:80]!r}; accepted: {', '.join(names)}.")
        key = name if equals else ""
        if key in stated:
            whose = f"of {name}" if equals else "of every metric"
            both = f"{stated[key][:80]!r} and {text[:80]!r}"
            raise ScoreRunRefused.at("scale", f"scale: found {both} {whose}; accepted: one of them.")
        stated[key] = text
    of_every = stated.pop("", None)
    return {**options.shown_scales, **stated}, of_every


def without_refused(
    dataset: Dataset, tables: Sequence[FileScores], options: ImportOptions, names: Collection[str] | None = None
) -> ImportOptions:
    """Return the options without the shown scales of these metrics, or of all, that an import refuses."""
    raters, kept = raters_scales(dataset), dict(options.shown_scales)
    for table in tables:
        name = options.name or table.name
        if name in kept and (names is None or name in names) and _refuses(kept[name], table, raters):
            del kept[name]
    return replace(options, shown_scales=kept)


def _refuses(text: str, table: FileScores, raters: Sequence[RatersScale]) -> bool:
    try:
        lowest, highest = stated_scale(text, ScoresSummary(table.scores), raters)
    except ValueError:
        return True
    low, high = -np.inf if lowest is None else lowest, np.inf if highest is None else highest
    return not low < high or bool(outside_range(table.scores, low, high).any())


def outside_range(scores: Floats, low: float, high: float) -> npt.NDArray[np.bool_]:
    """Return which of the scores lie outside a range; an end may be infinite."""
    slack = ROUNDING * max([1.0, *(abs(end) for end in (low, high) if np.isfinite(end))])
    return (scores < low - slack) | (scores > high + slack)


def _ends(
    name: str, text: str, scores: ScoresSummary, raters: Sequence[RatersScale]
) -> tuple[float | None, float | None]:
    try:
        return stated_scale(text, scores, raters)
    except ValueError as error:
        raise ScoreRunRefused.at("scale", f"Scale of {name or 'the scores'}: {error}.") from error


def _described(description: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the bounds that an archive's description gives; an archive of Assay's has null for an unknown one."""
    lowest, highest = (
        float(bound) if isinstance(bound, int | float) and not isinstance(bound, bool) else None
        for bound in (description.get("lowest"), description.get("highest"))
    )
    return lowest, highest
