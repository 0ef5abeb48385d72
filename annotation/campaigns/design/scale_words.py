"""The section of the instructions that describes the scale: a table of its points, which follows the criteria."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotation.campaigns.scales import Scale
from annotation.campaigns.scales.base import HasScale

HEADING = "## The scale"
SECTION = re.compile(rf"(?ms)^{HEADING}[ \t]*\n.*?(?=^##? |\Z)")
ROW = re.compile(r"(?m)^\| \*\*(?P<value>[^|*]+)\*\* \|(?P<name>[^|\n]*)\|(?:(?P<when>[^|\n]*)\|)?[ \t]*$")
TABLE = re.compile(r"(?m)^(?:\*\*[^|*\n]+\*\*\n\n)?(?:^\|.*\|[ \t]*\n?)+\n?")  # with its question above, if any


class Point(NamedTuple):
    """A row of the table. ``when`` says when to choose the point."""

    value: str
    name: str
    when: str = ""


def described_points(instructions: str) -> list[Point]:
    """Return the points that the section describes; none without one, or if it has no table.

    >>> described_points("Rate it.\\n\\n## The scale\\n\\n| **2** | Yes |\\n| **1** | No |\\n")
    [Point(value='2', name='Yes', when=''), Point(value='1', name='No', when='')]
    """
    section = SECTION.search(instructions)
    rows = ROW.finditer(section[0]) if section else ()
    return [Point(*(text.strip() for text in row.groups(default=""))) for row in rows]


def follows(instructions: str, criteria: Sequence[HasScale]) -> bool:
    """Return whether the instructions describe the criteria's scales, or no scale at all."""
    described = [point[:2] for point in described_points(instructions)]
    return not described or described == [point[:2] for _, points in _tables(criteria) for point in points]


def followed(instructions: str, before: Sequence[HasScale], after: Sequence[HasScale]) -> str:
    """Return the instructions with the new scale if they described the old one; what was written otherwise stays."""
    described_before = described_points(instructions) and follows(instructions, before)
    return rewritten(instructions, after) if described_before else instructions


def rewritten(instructions: str, criteria: Sequence[HasScale]) -> str:
    """Return the instructions with a table of the scale. A point keeps the description that its name had."""
    section = scale_section(instructions, criteria)
    if SECTION.search(instructions):
        return SECTION.sub(lambda _: section, instructions, count=1)
    head, mark, rest = instructions.partition("\n## ")
    return f"{head.rstrip()}\n\n{section}{mark.lstrip()}{rest}".lstrip()


def scale_section(instructions: str, criteria: Sequence[HasScale]) -> str:
    """Return the section as it would be written now, with the rest of what stands in it; empty without either."""
    whens = {point.name.casefold(): point.when for point in described_points(instructions) if point.name}
    tables = list(_tables(criteria))
    written = [HEADING]
    for question, points in tables:
        rows = [point._replace(when=whens.get(point.name.casefold(), "")) for point in points]
        written += ([f"**{question}**"] if len(tables) > 1 else []) + ["\n".join(_lines(rows))]
    section = SECTION.search(instructions)
    rest = TABLE.sub("", section[0].removeprefix(HEADING)).strip() if section else ""
    return "\n\n".join([*written, *([rest] if rest else [])]) + "\n\n" if tables or rest else ""


def _lines(rows: Sequence[Point]) -> Iterator[str]:
    described = any(point.when for point in rows)
    yield "| Points | Name | When |" if described else "| Points | Name |"
    yield "| --- | --- | --- |" if described else "| --- | --- |"
    for value, name, when in rows:
        yield f"| **{value}** | {name} | {when} |" if described else f"| **{value}** | {name} |"


def _tables(criteria: Sequence[HasScale]) -> Iterator[tuple[str, list[Point]]]:
    """Yield the question and the points of each different scale."""
    seen: list[list[Point]] = []
    for criterion in criteria:
        points = _points(criterion.scale)
        if points and points not in seen:
            seen.append(points)
            yield _plain(str(getattr(criterion, "question", ""))), points


def _points(scale: Scale) -> list[Point]:
    return [] if any(scale.problems()) else [Point(_plain(value), _plain(name)) for value, name in scale.described]


def _plain(text: str) -> str:
    """Return a text that does not end a cell."""
    return text.replace("|", "/").replace("*", "").strip()
