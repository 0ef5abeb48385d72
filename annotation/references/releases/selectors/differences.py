"""The differences between two releases of one data set, by response."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db import connection, transaction

from annotation.core.arrays import number_columns
from annotation.models import Item, JobState, Rater, Release
from annotation.rating.selectors.ratings import FloatArray, IntArray
from annotation.references.releases.selectors.releases import release_judgements

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
ROW_COLUMNS = {
    "item": "external_id",
    "response_id": "response_id",
    "text": "text",
    "weight_before": "before",
    "weight_after": "after",
    "move": "move",
    "judgements_before": "n_before",
    "judgements_after": "n_after",
}

MERGED = """
    SELECT COALESCE(a.response_id, b.response_id) AS response_id, COALESCE(a.item_id, b.item_id) AS item_id,
           a.weight AS before, b.weight AS after, a.n_ratings AS n_before, b.n_ratings AS n_after,
           abs(COALESCE(b.weight, 0) - COALESCE(a.weight, 0)) AS size
    FROM (SELECT * FROM annotation_releaseweight WHERE release_id = %(before)s) a
    FULL JOIN (SELECT * FROM annotation_releaseweight WHERE release_id = %(after)s) b USING (response_id)
"""


@dataclass(frozen=True, eq=False)
class Difference:
    """Counts are of references. A sign is positive, zero or negative."""

    shared: int
    moved: int
    signs: int
    added: int
    gone: int
    up: int
    down: int
    mean_move: float  # of the absolute values, over shared references; NaN if none is shared
    largest_move: float
    moves: FloatArray  # after minus before, of the shared references that moved
    before: FloatArray  # weights of the shared references
    after: FloatArray
    gained_positive: IntArray  # items that have a positive weight after and none before
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
    """A fact about how two releases were made."""

    what: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        return self.before == self.after


def release_difference(before: Release, after: Release) -> Difference:
    """Compare the weights of two releases."""
    (responses, items, weights), (later_responses, later_items, later_weights) = _columns(before), _columns(after)
    shared, index, later_index = np.intersect1d(responses, later_responses, assume_unique=True, return_indices=True)
    old, new = weights[index], later_weights[later_index]
    move = new - old
    had, has = np.unique(items[weights > 0]), np.unique(later_items[later_weights > 0])
    return Difference(
        shared=len(shared),
        moved=int((move != 0).sum()),
        signs=int((np.sign(old) != np.sign(new)).sum()),
        added=len(later_responses) - len(shared),
        gone=len(responses) - len(shared),
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


def _columns(release: Release) -> list[np.ndarray]:
    """Return the ids of responses and of their items, and the weights."""
    query = "SELECT response_id, item_id, weight FROM annotation_releaseweight WHERE release_id = %(release)s"
    return number_columns(query, {"release": release.pk}, ("bigint", "bigint", "float8"))


def difference_page(
    before: Release, after: Release, kind: str, *, mark_after: str = "", mark_before: str = ""
) -> DifferencePage:
    """Return a page of the rows of one kind, largest first. A mark that cannot be read begins at the first page."""
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


def difference_rows(before: Release, after: Release, kind: str) -> Iterator[DifferenceRow]:
    """Yield every row of one kind, in the order of the items, from a server-side cursor."""
    yield from _rows(before, after, CONDITIONS[kind], "", "i.position, page.response_id", {}, stream=True)


def _rows(
    before: Release,
    after: Release,
    where: str,
    limit: str,
    order: str,
    parameters: Mapping[str, Any],
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
    values = {"before": before.pk, "after": after.pk, **parameters}
    with transaction.atomic(), connection.chunked_cursor() if stream else connection.cursor() as cursor:
        cursor.execute(query, values)
        while rows := cursor.fetchmany(CHUNK):
            yield from (DifferenceRow(*row) for row in rows)


def _mark_of(row: DifferenceRow) -> str:
    return f"{row.size!r},{row.response_id}"


def _mark(written: str) -> tuple[float, int] | None:
    size, _, response = written.partition(",")
    try:
        mark = float(size), int(response)
    except ValueError:
        return None
    return mark if 0 <= mark[0] <= 2 and 0 <= mark[1] < 2**63 else None


def items_named(ids: IntArray, most: int | None = LISTED) -> list[Item]:
    """Return the items with these ids, in their order, at most the first ``most``."""
    return list(Item.objects.filter(pk__in=ids.tolist()).order_by("position")[:most])


def changes(before: Release, after: Release) -> list[Change]:
    """Return how the two were made, fact by fact."""
    first, second = _making(before), _making(after)
    return [Change(what, first.get(what, "–"), second.get(what, "–")) for what in {**first, **second}]


def _making(release: Release) -> dict[str, str]:
    report = release.report
    facts = {"Reference set": str(release.reference_set), "Method": release.method}
    facts |= {f"Parameter {name}": str(value) for name, value in release.parameters.items()}
    if release.is_imported:
        facts["File"] = f"{report['imported']['filename']} ({report['imported']['sha256'][:12]}…)"
        return facts | {"Signature": release.signature}
    return facts | {
        "Rules": "; ".join(map(_rule, release.exclusion_rules)) or "none",
        "Criteria": ", ".join(report["criteria"]),
        "Scale": " to ".join(f"{end:g}" for end in report["scale"]) or "without ends",
        "Campaigns": ", ".join(campaign["name"] for campaign in report["campaigns"]),
        "Judgements": f"{report['ratings']['judgements']:,}",
        "Raters": f"{report['ratings']['raters']:,}",
        "Code": release.code_version,
        "Signature": release.signature,
    }


def _rule(rule: Mapping[str, Any]) -> str:
    parameters = ", ".join(
        f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in rule.items()
        if name not in ("rule", "version")
    )
    return f"{rule['rule']} ({parameters})" if parameters else str(rule["rule"])


class RatersChanged(NamedTuple):
    known: bool = False
    joined: Sequence[str] = ()  # pseudonyms
    left: Sequence[str] = ()
    stayed: int = 0


def raters_changed(before: Release, after: Release) -> RatersChanged:
    """Return whose judgements count in one and not in the other; unknown if one of them was imported."""
    if before.is_imported or after.is_imported:
        return RatersChanged()
    old, new = (np.unique(release_judgements(release).rater_id) for release in (before, after))
    return RatersChanged(
        True, _pseudonyms(np.setdiff1d(new, old)), _pseudonyms(np.setdiff1d(old, new)), len(np.intersect1d(old, new))
    )


def _pseudonyms(ids: IntArray) -> list[str]:
    return sorted(Rater.objects.filter(pk__in=ids.tolist()).values_list("pseudonym", flat=True))


def comparable(release: Release) -> list[Release]:
    """Return the other finished releases of the data set: first those of the same set, newest first."""
    others = Release.objects.filter(reference_set__dataset=release.reference_set.dataset_id, state=JobState.DONE)
    others = others.exclude(pk=release.pk).select_related("reference_set__dataset", "reference_set__project")
    own_set = release.reference_set_id
    return sorted(
        others, key=lambda other: (other.reference_set_id != own_set, other.reference_set.name, -other.number)
    )


def usual_comparison(release: Release) -> Release | None:
    """Return the release to compare with by default: the one before it in its set, else any other."""
    others, own_set = comparable(release), release.reference_set_id
    earlier = [other for other in others if other.reference_set_id == own_set and other.number < release.number]
    return next(iter(earlier or others), None)
