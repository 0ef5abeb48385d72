"""What changed from one release to another, of one set or of two sets of one data set.

The releases are merged by response: within a data set a response is an item's external id and the key of a text, so
this is the order that content hashes are taken in, too. Weights are read as columns; texts only of what is shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction

from annotation.models import Item, JobState, Rater, Release
from annotation.references.releases.selectors.releases import release_judgements

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

KINDS = {
    "moved": "Weights that moved",
    "signs": "Weights that changed sign",
    "added": "References added",
    "gone": "References removed",
}
CONDITIONS = {
    "moved": "before IS NOT NULL AND after IS NOT NULL AND before <> after",
    "signs": "before IS NOT NULL AND after IS NOT NULL AND sign(before) <> sign(after)",
    "added": "before IS NULL",
    "gone": "after IS NULL",
    "all": "before IS DISTINCT FROM after",
}
CHUNK = 2_000
LISTED = 50
PAGE = 25
ROW_COLUMNS = (
    "item",
    "response_id",
    "text",
    "weight_before",
    "weight_after",
    "move",
    "judgements_before",
    "judgements_after",
)

MERGED = """
    SELECT COALESCE(a.response_id, b.response_id) AS response_id, COALESCE(a.item_id, b.item_id) AS item_id,
           a.weight AS before, b.weight AS after, a.n_ratings AS n_before, b.n_ratings AS n_after,
           abs(COALESCE(b.weight, 0) - COALESCE(a.weight, 0)) AS size
    FROM (SELECT * FROM annotation_releaseweight WHERE release_id = %(before)s) a
    FULL JOIN (SELECT * FROM annotation_releaseweight WHERE release_id = %(after)s) b USING (response_id)
"""


@dataclass(frozen=True, eq=False)
class Difference:
    """Every count is of references unless it says items. A sign is positive, zero or negative."""

    n_before: int
    n_after: int
    shared: int
    moved: int
    signs: int
    added: int
    gone: int
    up: int
    down: int
    mean_move: float  # of the absolute values, over shared references; NaN where none is shared
    largest_move: float
    moves: FloatArray  # after less before, of the shared references that moved
    before: FloatArray  # weights of the shared references, and
    after: FloatArray  # the same references later
    gained_positive: IntArray  # items that have a positive weight now and had none
    lost_positive: IntArray

    @property
    def is_empty(self) -> bool:
        return not (self.moved or self.added or self.gone)

    def counts(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}


class DifferenceRow(NamedTuple):
    item_id: int
    external_id: str
    response_id: int
    text: str
    before: float | None
    after: float | None
    size: float
    n_before: int | None
    n_after: int | None

    @property
    def move(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


class DifferencePage(NamedTuple):
    rows: list[DifferenceRow]
    before: str | None  # marks of the pages before and after, for the address
    after: str | None


class Change(NamedTuple):
    """Something about how two releases were made; ``same`` where it is equal."""

    what: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        return self.before == self.after


def release_difference(before: Release, after: Release) -> Difference:
    """All of it in numbers, in the time it takes to read two columns of weights."""
    first, second = _columns(before), _columns(after)
    shared, here, there = np.intersect1d(first.response, second.response, assume_unique=True, return_indices=True)
    old, new = first.weight[here], second.weight[there]
    move = new - old
    had, has = (np.unique(columns.item[columns.weight > 0]) for columns in (first, second))
    return Difference(
        n_before=len(first.response),
        n_after=len(second.response),
        shared=len(shared),
        moved=int((move != 0).sum()),
        signs=int((np.sign(old) != np.sign(new)).sum()),
        added=len(second.response) - len(shared),
        gone=len(first.response) - len(shared),
        up=int((move > 0).sum()),
        down=int((move < 0).sum()),
        mean_move=float(np.abs(move).mean()) if len(move) else np.nan,
        largest_move=float(np.abs(move).max()) if len(move) else np.nan,
        moves=move[move != 0],
        before=old,
        after=new,
        gained_positive=np.setdiff1d(has, had),
        lost_positive=np.setdiff1d(had, has),
    )


class _Columns(NamedTuple):
    response: IntArray
    item: IntArray
    weight: FloatArray


def _columns(release: Release) -> _Columns:
    rows = release.weights.order_by("response_id").values_list("response_id", "item_id", "weight")
    table = np.array(list(rows), dtype=np.float64).reshape(-1, 3)  # ids below 2 to the 53rd are exact
    return _Columns(table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2])


def difference_page(
    before: Release, after: Release, kind: str, *, mark_after: str = "", mark_before: str = ""
) -> DifferencePage:
    """Some rows of one kind, the largest first. A mark that cannot be read begins at the first page."""
    mark, backwards = _mark(mark_before), True
    if mark is None:
        mark, backwards = _mark(mark_after), False
    where, order = CONDITIONS[kind], "page.size DESC, page.response_id"
    if mark is not None:
        where += " AND (-size, response_id) " + ("<" if backwards else ">") + " (%(size)s, %(response)s)"
    if backwards:
        order = "page.size, page.response_id DESC"
    size, response = mark if mark is not None else (0.0, 0)
    rows = list(
        _rows(before, after, where, f"ORDER BY {order} LIMIT {PAGE + 1}", order, {"size": -size, "response": response})
    )
    more = len(rows) > PAGE
    rows = rows[:PAGE][:: -1 if backwards else 1]
    if not rows:
        return DifferencePage([], None, None)
    is_first = (not backwards and mark is None) or (backwards and not more)
    is_last = not backwards and not more
    return DifferencePage(rows, None if is_first else _mark_of(rows[0]), None if is_last else _mark_of(rows[-1]))


def difference_rows(before: Release, after: Release, kind: str = "all") -> Iterator[tuple[object, ...]]:
    """Every row of one kind, or of all, as ``ROW_COLUMNS``, in the order of the items; from a server-side cursor."""
    for row in _rows(before, after, CONDITIONS[kind], "", "i.position, page.response_id", {}, stream=True):
        yield (
            row.external_id,
            row.response_id,
            row.text,
            row.before,
            row.after,
            row.move,
            row.n_before,
            row.n_after,
        )


def _rows(
    before: Release,
    after: Release,
    where: str,
    limit: str,
    order: str,
    named: Mapping[str, Any],
    *,
    stream: bool = False,
) -> Iterator[DifferenceRow]:
    query = f"""
        SELECT page.item_id, i.external_id, page.response_id, r.text, page.before, page.after, page.size,
               page.n_before, page.n_after
        FROM (SELECT * FROM ({MERGED}) page WHERE {where} {limit}) page
        JOIN annotation_response r ON r.id = page.response_id
        JOIN annotation_item i ON i.id = page.item_id
        ORDER BY {order}
    """  # noqa: S608 - its parts are this module's own
    values = {"before": before.pk, "after": after.pk, **named}
    with transaction.atomic(), connection.chunked_cursor() if stream else connection.cursor() as cursor:
        cursor.execute(query, values)
        while rows := cursor.fetchmany(CHUNK):
            yield from (DifferenceRow(*row) for row in rows)


def _mark_of(row: DifferenceRow) -> str:
    return f"{row.size!r},{row.response_id}"


def _mark(written: str) -> tuple[float, int] | None:
    size, _, response = written.partition(",")
    try:
        found = float(size), int(response)
    except ValueError:
        return None
    return found if 0 <= found[0] <= 2 and 0 <= found[1] < 2**63 else None


def items_named(numbers: IntArray, most: int | None = LISTED) -> list[Item]:
    """Items of these ids in their order, the first of them."""
    return list(Item.objects.filter(pk__in=numbers.tolist()).order_by("position")[:most])


def changes(before: Release, after: Release) -> list[Change]:
    """How the two were made, fact by fact."""
    first, second = _making(before), _making(after)
    return [Change(what, first.get(what, "–"), second.get(what, "–")) for what in {**first, **second}]


def _making(release: Release) -> dict[str, str]:
    report = release.report
    facts = {"Reference set": str(release.reference_set), "Method": release.method}
    facts |= {f"Parameter {name}": str(value) for name, value in release.parameters.items()}
    if release.is_imported:
        facts["File"] = f"{report['imported']['filename']} ({report['imported']['sha256'][:12]}…)"
        return facts | {"Signature": release.signature}
    rules = [_rule(rule) for rule in release.exclusion_rules]
    facts["Rules"] = "; ".join(rules) or "none"
    facts["Criteria"] = ", ".join(report["criteria"])
    facts["Scale"] = " to ".join(f"{end:g}" for end in report["scale"]) or "without ends"
    facts["Campaigns"] = ", ".join(one["name"] for one in report["campaigns"])
    facts["Judgements"] = f"{report['ratings']['judgements']:,}"
    facts["Raters"] = f"{report['ratings']['raters']:,}"
    facts["Code"] = release.code_version
    return facts | {"Signature": release.signature}


def _rule(rule: Mapping[str, Any]) -> str:
    own = ", ".join(
        f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in rule.items()
        if name not in ("rule", "version")
    )
    return f"{rule['rule']} ({own})" if own else str(rule["rule"])


class RatersChanged(NamedTuple):
    known: bool
    came: list[str]  # pseudonyms
    went: list[str]
    stayed: int


def raters_changed(before: Release, after: Release) -> RatersChanged:
    """Whose judgements count in one and not in the other; unknown where weights were made elsewhere."""
    if before.is_imported or after.is_imported:
        return RatersChanged(False, [], [], 0)
    old, new = (np.unique(release_judgements(release).rater_id) for release in (before, after))
    return RatersChanged(
        True, _pseudonyms(np.setdiff1d(new, old)), _pseudonyms(np.setdiff1d(old, new)), len(np.intersect1d(old, new))
    )


def _pseudonyms(numbers: IntArray) -> list[str]:
    names = Rater.objects.filter(pk__in=numbers.tolist()).values_list("pseudonym", flat=True)
    return sorted(names)


def comparable(release: Release) -> list[Release]:
    """Finished releases of the same data set, those of the same set first, newest first."""
    others = (
        Release.objects.filter(reference_set__dataset=release.reference_set.dataset_id, state=JobState.DONE)
        .exclude(pk=release.pk)
        .select_related("reference_set__dataset", "reference_set__project")
    )
    return sorted(
        others, key=lambda one: (one.reference_set_id != release.reference_set_id, one.reference_set.name, -one.number)
    )


def usual_comparison(release: Release) -> Release | None:
    """What a release is compared with where nothing is said: the one before it in its set, else any other."""
    found = comparable(release)
    earlier = [one for one in found if one.reference_set_id == release.reference_set_id and one.number < release.number]
    return next(iter(earlier or found), None)
