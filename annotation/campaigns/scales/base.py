"""Kinds of scales: everything that Assay needs to know about a scale.

Each kind is a subclass in its own file with a line in the registry and the template ``scales/<key>.html``.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext

from annotation.dry_runs.simulation import Ladder, ShownText, SimulatedRater, rate

FloatArray = npt.NDArray[np.float64]
BARS = 21  # of the histogram of a scale without points; the first and the last stand at its ends
MOST_BARS = 40  # if each value has its own
PARTS_OF_A_POINT = (1, 2, 3, 4, 5, 10)  # that means and medians of ratings lie on
PHONE_COLUMNS, DESK_COLUMNS = 7, 13  # points in a row, at most: 44 pixels each on a screen of 320
PHONE_ROW, DESK_ROW = 45, 66  # characters that a row of points has room for


class Settings(Protocol):
    """What a criterion keeps about its scale."""

    @property
    def name(self) -> str: ...
    @property
    def scale_min(self) -> int: ...
    @property
    def scale_max(self) -> int: ...
    @property
    def step(self) -> float: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def ties(self) -> bool: ...
    @property
    def standard_source(self) -> str: ...
    @property
    def standard_value(self) -> float | None: ...


class HasScale(Protocol):
    @property
    def scale(self) -> "Scale": ...


WithScale = TypeVar("WithScale", bound=HasScale)


class Scale(ABC):
    """The scale of a criterion, with its settings: a row of the database, or a draft.

    Attributes
    ----------
    label, choice : its name in lists of campaigns, and in the form that designs one.
    required, optional : fields of the design form that it uses.
    form_names : column of a criterion -> field of the form, if they differ.
    fewest : responses that a screen must show at least.
    presentations, misfit : keys of the presentations that it fits (empty: all), and why it fits no other.
    whole : it is a ``WholeScale``.
    mirrored : of two responses, the value of the second is that of the first with the opposite sign.
    has_standard : its values are relative to a standard text.
    is_relative : it rates one text by another.
    has_points : raters choose among a few values.
    shows_numbers : raters see the numbers of its values.
    shows_texts : its field shows the responses.
    compared : what two raters are compared on.
    agreement_note : ends the sentence about agreement.
    ranked : how it ranks systems: by "means" of ratings, or by "comparisons" of two texts.
    heds_form : answer to question 4.3.5 of the HEDS datasheet, how the scale is presented.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    choice: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    form_names: ClassVar[Mapping[str, str]] = {}
    presentations: ClassVar[tuple[str, ...]] = ()
    misfit: ClassVar[str] = ""
    fewest: ClassVar[int] = 1
    whole: ClassVar[bool] = False
    mirrored: ClassVar[bool] = False
    has_standard: ClassVar[bool] = False
    is_relative: ClassVar[bool] = False
    has_points: ClassVar[bool] = True
    shows_numbers: ClassVar[bool] = True
    shows_texts: ClassVar[bool] = False
    compared: ClassVar[str] = "responses"
    ranked: ClassVar[Literal["means", "comparisons"]] = "means"
    agreement_note: ClassVar[str] = ""
    heds_form: ClassVar[tuple[int, ...]] = (1,)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    # --- Design -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the settings: a column, and a message."""

    def stored(self) -> dict[str, Any]:
        """Return the columns that follow from others, or that this kind does not use, as they are stored."""
        return {"step": 1.0, "ties": False, "standard_source": "", "standard_value": None}

    @classmethod
    def fits(cls, presentation: str) -> bool:
        return not cls.presentations or presentation in cls.presentations

    @classmethod
    def from_form(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that the design form sets."""
        columns = {field: column for column, field in cls.form_names.items()}
        return {columns.get(field, field): data[field] for field in (*cls.required, *cls.optional)}

    def form_initial(self) -> dict[str, Any]:
        """Return what the fields that only this kind uses show at first."""
        columns = {field: column for column, field in self.form_names.items()}
        return {field: getattr(self.settings, columns.get(field, field)) for field in self.required}

    @property
    @abstractmethod
    def summary(self) -> str:
        """The scale in the table of a design."""

    @property
    def described(self) -> list[tuple[str, str]]:
        """What a table in the instructions names: each answer and its name, the highest first."""
        return [(self.sign(value), label) for value, label in sorted(self.points, reverse=True)]

    # --- Rating -------------------------------------------------------------------------------------------------------

    @property
    def template(self) -> str:
        return f"annotation/campaigns/scales/{self.key}.html"

    @property
    def invitation(self) -> str:
        """What a rater will do, in the rater's language; empty if the presentation says it."""
        return ""

    @property
    def heading(self) -> str:
        """The heading of a question about all responses."""
        return ""

    @property
    def points(self) -> list[tuple[int, str]]:
        """Value and label of each point, in the order shown."""
        return []

    @property
    def keys(self) -> list[str]:
        """The key of each point: its position in the order shown."""
        return position_keys(len(self.points))

    def sign(self, value: int) -> str:
        """Return what a point shows besides its label."""
        return str(value).replace("-", "−")

    @property
    def has_digits(self) -> bool:
        """Whether a digit chooses an answer."""
        return any(self.keys)

    @property
    def layout(self) -> str:
        """The CSS class of the question, after ``layout-``."""
        return self.key

    @property
    def columns(self) -> tuple[int, int]:
        """The points in a row, on a phone and on a desk: all of them if there are few, else rows of equal length."""
        n = max(len(self.points), 1)
        return _even(n, PHONE_COLUMNS), _even(n, DESK_COLUMNS)

    @property
    def ends_labels(self) -> tuple[str, str] | None:
        """The labels of both ends, to be shown if there is no room for all."""
        return None

    def words(self) -> dict[str, str]:
        """Return the label that raters see for a value, by the value as text."""
        return {str(value): label for value, label in self.points}

    @property
    @abstractmethod
    def accepted(self) -> str:
        """The values that it takes, in words."""

    @abstractmethod
    def accepts(self, number: float) -> bool: ...

    def value(self, given: object) -> float | None:
        """Return a value that was given as a number or its text; None if it is not on the scale."""
        number = to_number(given)
        return number if number is not None and self.accepts(number) else None

    def refusal(self, given: object) -> str:
        """Return what is wrong with a value that is not on the scale."""
        return refused(given, self.accepted)

    def message(self, text: str) -> str:
        """Return what is wrong with an answer, in the rater's language."""
        return gettext("Please choose an answer.")

    def n_fields(self, n_responses: int) -> int:
        """Return how many form fields ask about so many responses; they are numbered from 0."""
        return n_responses

    def answers(self, shown: float) -> float:
        """Return how many answers a screen with so many responses asks for."""
        return shown

    # --- Prepared screens ---------------------------------------------------------------------------------------------

    def expected_problem(self, low: float, high: float) -> str:
        """Return what is wrong with a range of expected values; empty if nothing is."""
        if low < self.settings.scale_min or high > self.settings.scale_max:
            ends = f"{self.settings.scale_min} to {self.settings.scale_max}"
            return f"on the scale of {self.settings.name!r}, {ends}"
        return ""

    def expected_range(self, centre: float, tolerance: float) -> list[float]:
        """Return a range cut off at the ends but never empty; a value off the scale is refused later."""
        least, most = self.settings.scale_min, self.settings.scale_max
        if least <= centre <= most:
            return [max(centre - tolerance, least), min(centre + tolerance, most)]
        return [centre, centre]

    def high_range(self, low: float | None) -> list[float]:
        """Return the values expected of a good text: from ``low``, or else the upper half of the scale."""
        middle = (self.settings.scale_min + self.settings.scale_max) / 2
        return [middle if low is None else low, float(self.settings.scale_max)]

    # --- Numbers ------------------------------------------------------------------------------------------------------

    @property
    def group(self) -> str:
        """A name; ratings on scales of the same group can be averaged."""
        return f"{self.settings.scale_min} to {self.settings.scale_max}"

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the values that are averaged; NaN if there are none."""
        return float(self.settings.scale_min), float(self.settings.scale_max)

    @property
    def point(self) -> float:
        """What "one point" is, in the units of the values that are averaged."""
        return 1.0

    @property
    def level(self) -> Literal["ordinal", "interval"]:
        """Return the level of measurement for Krippendorff's alpha."""
        return "ordinal" if self.has_points else "interval"

    def weighed(self, values: FloatArray) -> FloatArray:
        """Return ratings as they are averaged."""
        return values

    def mean(self, values: FloatArray) -> float:
        """Return the mean of ratings, on the scale itself; NaN without any."""
        return float(values.mean()) if len(values) else np.nan

    @property
    def of_means(self) -> str:
        """What means of ratings are on, after "a difference of 0.31"."""
        return f"on a scale of {self.settings.scale_min} to {self.settings.scale_max}".replace("-", "−")

    def histogram(self, values: FloatArray, among: FloatArray | None = None) -> list[tuple[float, int]]:
        """Return how many ratings have each value; ``among`` are all values that share the bars, if others do.

        Means and medians may lie between two points: the bars are then closer, so that each has its own.
        """
        low, high = self.settings.scale_min, self.settings.scale_max
        grid = grid_of(values if among is None else among, low, high)
        return counted_at(values, np.arange(low, high + 1.0) if grid is None else grid)

    # --- Records ------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The scale in the methods paragraph and the datasheet."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[str, str]:
        """How many values there are, and which."""

    # --- Simulation ---------------------------------------------------------------------------------------------------

    @property
    def ladder(self) -> Ladder:
        return Ladder(float(self.settings.scale_min), float(self.settings.scale_max))

    def simulate(self, rater: SimulatedRater, texts: Sequence[ShownText]) -> dict[int, float]:
        """Return a simulated rater's value for each form field."""
        ladder = self.ladder
        return {number: rate(rater, text, self.settings.name, ladder) for number, text in enumerate(texts)}


def with_standard(criteria: Iterable[WithScale]) -> WithScale | None:
    """Return the first criterion whose scale is relative to a standard text."""
    return next((criterion for criterion in criteria if criterion.scale.has_standard), None)


def fewest_responses(criteria: Iterable[HasScale]) -> int:
    """Return how many responses a screen must show at least."""
    return max((criterion.scale.fewest for criterion in criteria), default=1)


def to_number(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def refused(given: object, accepted: str) -> str:
    if given is None or given == "":
        return f"Not rated yet; accepted: {accepted}."
    return f"Found {str(given)[:40]!r}; accepted: {accepted}."


def position_keys(n: int) -> list[str]:
    """Return the digit of each position from 1, 0 for the tenth; no keys if there are more."""
    return [str((position + 1) % 10) for position in range(n)] if n <= 10 else [""] * n


def _even(n: int, most: int) -> int:
    return math.ceil(n / math.ceil(n / most))


def labels_layout(labels: Sequence[str]) -> str:
    """Return where labels are shown: in a "row" of points, or in a "legend" below it; "wide": in the row on a desk.

    No word may be broken, and a label may take two lines on a phone, three on a desk.
    """
    longest_word = max(len(word) for label in labels for word in label.split() or [""])
    longest = max(map(len, labels))
    for layout, room, lines in (("row", PHONE_ROW, 2), ("wide", DESK_ROW, 3)):
        if len(labels) * longest_word <= room and len(labels) * longest <= lines * room:
            return layout
    return "legend"


def three_decimals(value: float) -> str:
    return f"{value:z.0f}" if value == int(value) else f"{value:z.3f}"


def range_message(low: int, high: int) -> str:
    return gettext("Please give a number from %(low)s to %(high)s.") % {"low": low, "high": high}


def label_problems(settings: Settings, number: int, what: str, which: str) -> Iterator[tuple[str, str]]:
    if len(settings.labels) not in (0, number):
        yield "labels", f"found {len(settings.labels)} labels for {what}; accepted: none, or {which}."


class WholeScale(Scale):
    """A scale that is asked once about all responses on screen, not about each."""

    whole = True

    @abstractmethod
    def n_fields(self, n_responses: int) -> int: ...

    @abstractmethod
    def read(self, given: Sequence[object], n_responses: int) -> tuple[list[float], dict[int, str]]:
        """Return the value of each response out of the fields, and their problems."""

    @abstractmethod
    def held(self, values: Sequence[float]) -> list[str]:
        """Return what the fields hold, out of the value of each response."""


class RangeScale(Scale):
    """A scale from a lowest to a highest value, with or without labels at both ends."""

    def problems(self) -> Iterator[tuple[str, str]]:
        for column in ("scale_min", "scale_max"):
            end = getattr(self.settings, column)
            if not -1000 <= end <= 1000:
                yield column, f"its scale has an end at {end}; accepted: -1000 to 1000."
                return
        yield from self.range_problems()

    @abstractmethod
    def range_problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the settings if both ends are accepted."""

    @property
    def ends_labels(self) -> tuple[str, str] | None:
        labels = self.settings.labels
        return (str(labels[0]), str(labels[-1])) if any(labels) else None

    @property
    def labelled_range(self) -> str:
        low, high, labels = self.settings.scale_min, self.settings.scale_max, self.settings.labels
        return f"{low} ({labels[0]}) to {high} ({labels[-1]})" if labels else f"{low} to {high}"


def grid_of(values: FloatArray, low: float, high: float) -> FloatArray | None:
    """Return the widest even steps from low to high on which all values lie; None if they would be too many.

    Examples
    --------
    >>> grid_of(np.array([1.5, 3.0]), 1, 3), grid_of(np.array([0.123]), 0, 1)
    (array([1. , 1.5, 2. , 2.5, 3. ]), None)
    """
    for parts in PARTS_OF_A_POINT:
        if (high - low) * parts >= MOST_BARS:
            return None
        if np.allclose(values * parts, np.rint(values * parts), rtol=0, atol=0.005 * parts):
            return low + np.arange((high - low) * parts + 1) / parts
    return None


def counted_at(values: FloatArray, points: FloatArray) -> list[tuple[float, int]]:
    """Return how many values lie nearest to each of the points, which ascend; of two, the higher."""
    nearest = np.searchsorted((points[1:] + points[:-1]) / 2, values, side="right")
    counts = np.bincount(nearest, minlength=points.size)
    return [(float(f"{point:.3g}"), int(n)) for point, n in zip(points.tolist(), counts.tolist(), strict=True)]
