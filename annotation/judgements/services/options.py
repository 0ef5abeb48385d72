"""Options for reading a file of ratings: chosen or recognised, and stored with the import as JSON."""

from dataclasses import dataclass, field, fields
from typing import Any

from annotation.core.errors import AnnotationError
from annotation.core.problems import storable_json
from annotation.core.rows import ENDINGS, FORMATS

ROWS, RATERS, AGGREGATE, APPRAISE, LABEL_STUDIO, ASSAY = (
    "rows",
    "raters",
    "aggregate",
    "appraise",
    "label-studio",
    "assay",
)
SHAPES = {
    ROWS: "One rating a row",
    RATERS: "A column for each rater",
    AGGREGATE: "Medians or means only",
    APPRAISE: "Appraise's export of scores (CSV)",
    LABEL_STUDIO: "Label Studio's export (JSON)",
    ASSAY: "A log of ratings downloaded from Assay",
}
AGGREGATES = {"median": "Medians", "mean": "Means"}
RATING_FORMATS = {**FORMATS, "json": "JSON (Label Studio)"}
RATING_ENDINGS = {**ENDINGS, ".json": "json"}

# What the columns of a table may be called, whatever its shape; `sent` is another name of `time`.
OWN_COLUMNS = (
    "rater",
    "item",
    "system",
    "text",
    "time",
    "shown",
    "seconds",
    "criterion",
    "value",
    "n",
)
DEFAULT_CRITERION = "rating"
ITEM_PARTS = ("{item}", "{document}", "{source}", "{target}")
ITEM_TYPES = ("TGT", "CHK", "REF", "BAD")
OWN_SYSTEM = "*"
DEFAULT_SCALES = {APPRAISE: (0, 100)}


@dataclass
class RatingOptions:
    """Everything about a file that it does not state itself.

    ``columns`` maps Assay's names to the file's; ``criteria`` chooses what is rated on and ``raters`` the columns of
    raters, all others by default; ``only_systems`` leaves other rows out; ``aliases`` maps a name that was judged to a
    system whose outputs were shown. ``criterion`` names the criterion where the file names none. ``item`` makes the
    item's id of Appraise's numbers; ``item_types`` says which of its checks are judgements, and of which system (``*``:
    the row's own). ``choices`` gives labels of Label Studio their numbers.
    """

    shape: str = ""  # empty: recognised
    columns: dict[str, str] = field(default_factory=dict)
    criteria: list[str] = field(default_factory=list)
    raters: list[str] = field(default_factory=list)
    criterion: str = DEFAULT_CRITERION
    aggregate: str = ""
    only_systems: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    item: str = "{item}"
    item_types: dict[str, str] = field(default_factory=dict)
    choices: dict[str, str] = field(default_factory=dict)
    scale_min: int | None = None
    scale_max: int | None = None

    def __post_init__(self) -> None:
        _check_known("shape", self.shape, ["", *SHAPES])
        _check_known("aggregate", self.aggregate, ["", *AGGREGATES])
        for name in self.columns:
            _check_known("columns", name, OWN_COLUMNS)
        for name in self.item_types:
            _check_known("item_types", name, ITEM_TYPES[1:])
        if "{item}" not in self.item:
            _refuse("item", self.item, f"a pattern that holds {{item}}, and perhaps {', '.join(ITEM_PARTS[1:])}")
        if not self.criterion.strip():
            _refuse("criterion", self.criterion, "a name")
        for label, number in self.choices.items():
            try:
                float(number)
            except ValueError:
                _refuse("choices", f"{label} = {number}", "label = number")
        low, high = self.scale
        if not -32768 <= low < high <= 32767:
            message = f"Scale: found {low} to {high}; accepted: a lower end below the upper end."
            raise AnnotationError.at("scale_max", message)

    @property
    def scale(self) -> tuple[int, int]:
        """Return the given ends of the scale, or the usual ends for the shape."""
        low, high = DEFAULT_SCALES.get(self.shape, (1, 5))
        return low if self.scale_min is None else self.scale_min, high if self.scale_max is None else self.scale_max

    def as_json(self) -> dict[str, Any]:
        low, high = self.scale
        options: dict[str, Any] = {spec.name: getattr(self, spec.name) for spec in fields(self)} | {
            "scale_min": low,
            "scale_max": high,
        }
        document: dict[str, Any] = storable_json(options)
        return document


def _check_known(name: str, value: str, accepted: Any) -> None:
    if value not in accepted:
        _refuse(name, value, ", ".join(known for known in accepted if known))


def _refuse(name: str, value: str, accepted: str) -> None:
    raise AnnotationError.at(name, f"{name}: found {value!r}; accepted: {accepted}.")
