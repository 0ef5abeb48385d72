"""Points, one of which is chosen."""

from collections.abc import Iterator

from annotation.campaigns.scales.base import RangeScale, label_problems, labels_layout, position_keys

MAX_POINTS = 25
MOST_LABELLED = 7  # points whose labels are all shown


class Likert(RangeScale):
    key = "likert"
    label = "Points, one of which is chosen"
    choice = "Points, one of which is chosen"
    required = ("scale_min", "scale_max")
    optional = ("labels",)

    def range_problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.settings.scale_min, self.settings.scale_max
        points = high - low + 1
        if not 2 <= points <= MAX_POINTS:
            accepted = f"2 to {MAX_POINTS} points, from low to high. A slider takes more."
            yield "scale_max", f"its scale goes from {low} to {high}; accepted: {accepted}"
        else:
            yield from label_problems(self.settings, points, f"{points} points", "one per point")

    @property
    def summary(self) -> str:
        return f"{self.settings.scale_min} to {self.settings.scale_max}, whole points"

    @property
    def points(self) -> list[tuple[int, str]]:
        values = range(self.settings.scale_min, self.settings.scale_max + 1)
        return list(zip(values, self.settings.labels or [""] * len(values), strict=True))

    @property
    def keys(self) -> list[str]:
        """A point's own digit if every point has one (10 is 0), else its position."""
        low, high = self.settings.scale_min, self.settings.scale_max
        if (low >= 0 and high <= 9) or (low >= 1 and high <= 10):
            return [str(value % 10) for value in range(low, high + 1)]
        return position_keys(high - low + 1)

    @property
    def layout(self) -> str:
        """Numbers and the labels of both ends, or all labels."""
        labels = [label for _, label in self.points]
        if not any(labels[1:-1] or labels) or len(labels) > MOST_LABELLED:
            return "numbers"
        return labels_layout(labels)

    @property
    def accepted(self) -> str:
        return f"a whole number from {self.settings.scale_min} to {self.settings.scale_max}"

    def accepts(self, number: float) -> bool:
        return self.settings.scale_min <= number <= self.settings.scale_max and number.is_integer()

    @property
    def sentence(self) -> str:
        n = self.settings.scale_max - self.settings.scale_min + 1
        return f"a scale of {n} points from {self.labelled_range}"

    @property
    def sizes(self) -> tuple[str, str]:
        points = range(self.settings.scale_min, self.settings.scale_max + 1)
        return str(len(points)), ", ".join(map(str, points))
