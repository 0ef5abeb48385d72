"""What an answer rests on, point by point, as a page sets it below the answer."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """One thing to know about an answer: what it is about, in two or three words, and sentences."""

    about: str
    text: str
    more: str = ""  # the anchor of the page's part that shows it in full; empty if there is none
    more_label: str = ""


def with_text(*points: Point) -> list[Point]:
    """Return the points that have something to say."""
    return [point for point in points if point.text]
