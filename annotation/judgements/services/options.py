"""Options for reading a file of ratings: chosen or recognised, and stored with the import as JSON."""

import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

from annotation.core.errors import AnnotationError
from annotation.core.file_limits import COLUMNS
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
# Assay's names, and what other tools call them; compared by ``near_names.plain``.
OTHER_NAMES = {
    "rater": (
        "raterid",
        "judge",
        "judgeid",
        "annotator",
        "annotatorid",
        "worker",
        "workerid",
        "user",
        "userid",
        "username",
    ),
    "item": ("itemid", "instance", "instanceid", "segment", "segmentid", "externalid", "id"),
    "system": ("systemid", "systemname", "model", "modelname"),
    "text": ("response", "output", "hypothesis", "responsetext"),
    "time": ("sentat", "timestamp", "submittedat", "endtime", "createdat"),
    "shown": ("shownat", "starttime", "startedat"),
    "seconds": ("duration", "durationinseconds", "timetaken", "secondstaken", "worktimeinseconds"),
    "n": ("count", "nratings", "numratings", "raters"),
}
DEFAULT_CRITERION = "rating"
ITEM_PARTS = ("{item}", "{document}", "{source}", "{target}")
_LEAST, _MOST = -32768, 32767  # of the ends of a scale
_ENDS = re.compile(r"(-?\d{1,6})\s*(?:to|[-–:,])\s*(-?\d{1,6})")
ITEM_TYPES = ("TGT", "CHK", "REF", "BAD")
OWN_SYSTEM = "*"


def _words(label: str, description: str, **more: Any) -> dict[str, Any]:
    """Return what forms, the API and commands say of an option."""
    return {"label": label, "description": description, **more}


@dataclass
class RatingOptions:
    """Everything about a file that it does not state itself."""

    shape: str = field(
        default="",
        metadata=_words("What the file holds", "Recognised from the file unless you choose.", choices=SHAPE_LABELS),
    )
    columns: dict[str, str] = field(
        default_factory=dict,
        metadata=_words(
            "Columns with other names",
            f"Assay's names to the file's, such as rater = JudgeID. Known: {', '.join(OWN_COLUMNS)}. For Label Studio: "
            "the fields of the tasks' data, such as item = doc_id, or task id.",
        ),
    )
    criteria: list[str] = field(
        default_factory=list, metadata=_words("Criteria", "Columns (or controls) with ratings; by default all others.")
    )
    raters: list[str] = field(
        default_factory=list, metadata=_words("Columns of raters", "If each rater has a column; by default all others.")
    )
    criterion: str = field(
        default=DEFAULT_CRITERION,
        metadata=_words("Name of the criterion", "If the file names none; by default “rating”.", max_length=60),
    )
    aggregate: str = field(
        default="",
        metadata=_words("If it holds medians or means", "As the columns say: median or mean.", choices=AGGREGATES),
    )
    only_systems: list[str] = field(
        default_factory=list, metadata=_words("Only these systems", "Rows of others are left out and counted.")
    )
    aliases: dict[str, str] = field(
        default_factory=dict,
        metadata=_words(
            "Other names of systems",
            "A name in the file to the system whose outputs were shown, such as TeamEC = TeamCE.",
        ),
    )
    item: str = field(
        default=ITEM_PARTS[0],
        metadata=_words(
            "Pattern of item ids from Appraise's numbers",
            f"Uses {', '.join(ITEM_PARTS)}; by default {{item}}. For example {{document}}#{{item}}.",
            max_length=100,
        ),
    )
    item_types: dict[str, str] = field(
        default_factory=dict,
        metadata=_words(
            "Appraise's checks that count as ratings",
            f"Of {', '.join(ITEM_TYPES[1:])}, which are left out otherwise. CHK = * keeps the system of the row, "
            "REF = Human takes it for an output of that system.",
        ),
    )
    choices: dict[str, str] = field(
        default_factory=dict,
        metadata=_words(
            "Numbers of Label Studio's choices", "Of labels that do not begin with their number, such as Good = 4."
        ),
    )
    scale_min: int | None = field(
        default=None, metadata=_words("Lowest point of the scale", "By default 1, or 0 for Appraise.")
    )
    scale_max: int | None = field(default=None, metadata=_words("Highest point", "By default 5, or 100 for Appraise."))
    scales: dict[str, str] = field(
        default_factory=dict,
        metadata=_words(
            "Criteria with another scale",
            "Such as engaging = 1 to 3. If no scale is given at all, a criterion's may be taken from its values.",
        ),
    )

    def __post_init__(self) -> None:
        _check_known("shape", self.shape, ["", *SHAPES])
        _check_known("aggregate", self.aggregate, ["", *AGGREGATES])
        for option in fields(self):
            value = getattr(self, option.name)
            if isinstance(value, list | dict) and len(value) > COLUMNS:
                _refuse(option.name, f"{len(value):,} names", f"at most {COLUMNS:,}")
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
        if not _LEAST <= low < high <= _MOST:
            message = f"Scale: found {low} to {high}; accepted: a lower end below the upper end."
            raise AnnotationError.at("scale_max", message)
        for criterion, written in self.scales.items():
            ends = _read_ends(written)
            if ends is None or not _LEAST <= ends[0] < ends[1] <= _MOST:
                _refuse("scales", f"{criterion} = {written}", "criterion = lower end to upper end, such as 1 to 3")

    @property
    def scale(self) -> tuple[int, int]:
        """Return the given ends of the scale, or the usual ends for the shape."""
        low, high = SHAPES[self.shape].scale if self.shape else (1, 5)
        return low if self.scale_min is None else self.scale_min, high if self.scale_max is None else self.scale_max

    @property
    def has_scale(self) -> bool:
        """Return whether a scale is given, so that none is taken from the values."""
        return not (self.scale_min is None and self.scale_max is None) or bool(self.scales)

    def scale_of(self, criterion: str) -> tuple[int, int]:
        """Return the ends of a criterion's scale."""
        return (_read_ends(self.scales.get(criterion, "")) or self.scale) if self.scales else self.scale

    def as_json(self) -> dict[str, Any]:
        document: dict[str, Any] = storable_json(asdict(self))
        return document


def write_ends(low: int, high: int) -> str:
    """Write the ends of a scale, as options hold them."""
    return f"{low} to {high}"


def _read_ends(written: str) -> tuple[int, int] | None:
    ends = _ENDS.fullmatch(str(written).strip())
    return (int(ends[1]), int(ends[2])) if ends else None


def _check_known(name: str, value: str, accepted: Any) -> None:
    if value not in accepted:
        _refuse(name, value, ", ".join(known for known in accepted if known))


def _refuse(name: str, value: str, accepted: str) -> None:
    raise AnnotationError.at(name, f"{name}: found {value!r}; accepted: {accepted}.")
