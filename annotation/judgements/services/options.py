"""Options for reading a file of ratings: chosen or recognised, and stored with the import as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from annotation.core.errors import AnnotationError
from annotation.core.problems import storable_json
from annotation.core.rows import ENDINGS, FORMATS

ROWS, RATERS, AGGREGATE, APPRAISE = "rows", "raters", "aggregate", "appraise"
LABEL_STUDIO, ASSAY = "label-studio", "assay"


class Shape(NamedTuple):
    """What a file holds: in words, the formats it may have, and the usual ends of its scale."""

    label: str
    formats: tuple[str, ...] = ("csv", "tsv")
    scale: tuple[int, int] = (1, 5)
    is_name: bool = False  # whether the label begins with the name of a product

    @property
    def words(self) -> str:
        """Return the label for the middle of a sentence."""
        return self.label if self.is_name else self.label[0].lower() + self.label[1:]


SHAPES = {
    ROWS: Shape("One rating a row", ("csv", "tsv", "jsonl")),
    RATERS: Shape("A column for each rater"),
    AGGREGATE: Shape("Medians or means only"),
    APPRAISE: Shape("Appraise's export of scores (CSV)", scale=(0, 100), is_name=True),
    LABEL_STUDIO: Shape("Label Studio's export (JSON)", ("json",), is_name=True),
    ASSAY: Shape("A log of ratings downloaded from Assay", ("csv", "tsv", "jsonl")),
}
SHAPE_LABELS = {key: shape.label for key, shape in SHAPES.items()}
AGGREGATES = {"median": "Medians", "mean": "Means"}
RATING_FORMATS = {**FORMATS, "json": "JSON (Label Studio)"}
RATING_ENDINGS = {**ENDINGS, ".json": "json"}

# What the columns of a table may be called, whatever its shape; `sent` is another name of `time`.
OWN_COLUMNS = ("rater", "item", "system", "text", "time", "shown", "seconds", "criterion", "value", "n")
DEFAULT_CRITERION = "rating"
ITEM_PARTS = ("{item}", "{document}", "{source}", "{target}")
ITEM_TYPES = ("TGT", "CHK", "REF", "BAD")
OWN_SYSTEM = "*"


@dataclass
class RatingOptions:
    """Everything about a file that it does not state itself.

    ``columns`` maps Assay's names to the file's; ``criteria`` and ``raters`` choose columns, by default all others;
    ``only_systems`` leaves other rows out; ``aliases`` maps a name in the file to the system whose outputs were shown.
    ``criterion`` is the criterion's name if the file has none. ``item`` makes the item's id from Appraise's numbers;
    ``item_types`` says which of its checks are judgements, and of which system (``*``: that of the row). ``choices``
    maps labels of Label Studio to numbers.
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
        low, high = SHAPES[self.shape].scale if self.shape else (1, 5)
        return low if self.scale_min is None else self.scale_min, high if self.scale_max is None else self.scale_max

    def as_json(self) -> dict[str, Any]:
        low, high = self.scale
        document: dict[str, Any] = storable_json(asdict(self) | {"scale_min": low, "scale_max": high})
        return document


def _check_known(name: str, value: str, accepted: Any) -> None:
    if value not in accepted:
        _refuse(name, value, ", ".join(known for known in accepted if known))


def _refuse(name: str, value: str, accepted: str) -> None:
    raise AnnotationError.at(name, f"{name}: found {value!r}; accepted: {accepted}.")
