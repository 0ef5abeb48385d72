"""Systems whose outputs are references themselves: what a metric that reads references says of them is circular."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Max

from annotation.core.caching import cached
from annotation.core.normalisation import letters_of
from annotation.core.prose import enumerated
from annotation.models import Dataset, Release, ResponseSource, SourceKind
from annotation.results.selectors.leading import NAMED
from metrics.selectors.leaderboard_table import Leaderboard

LEAST = 0.3  # of a system's outputs, from which it is named: chance makes few outputs equal to references
MOST = 200_000  # outputs that are looked at, those of the first items
AT_ONCE = 10_000
SECONDS = 24 * 3600  # until texts change, which has another key
PERFECT = "metrics without weights find these perfect, whatever raters think of them"


@dataclass(frozen=True)
class Copies:
    """A system, how many of its outputs are references of their items, and of how many that have any."""

    system: str
    copied: int
    outputs: int

    @property
    def share(self) -> float:
        return self.copied / self.outputs if self.outputs else 0.0

    @property
    def is_circular(self) -> bool:
        return self.share >= LEAST


def systems_that_copy(dataset: Dataset, release: Release | None = None) -> list[Copies]:
    """Return the systems of which so many outputs are references that their scores say nothing, the worst first.

    Texts are compared but for case, spaces and punctuation, over all items. Without a release the references are the
    data set's own.
    """
    shares = cached(_key(dataset, release), lambda: copied_shares(dataset, release), SECONDS)
    return sorted((each for each in shares if each.is_circular), key=lambda each: (-each.share, each.system))


def _key(dataset: Dataset, release: Release | None) -> str:
    sources = ResponseSource.objects.filter(item__dataset=dataset).order_by()
    ends = sources.aggregate(n=Count("pk"), last=Max("pk"))
    return f"copies-{dataset.pk}-{release.pk if release else 0}-{ends['n']}-{ends['last']}"


def copied_shares(dataset: Dataset, release: Release | None = None) -> list[Copies]:
    """Return every system's share, over the items that have a reference."""
    outputs = ResponseSource.objects.filter(kind=SourceKind.SYSTEM, system__dataset=dataset).order_by()
    references = ResponseSource.objects.filter(item__dataset=dataset, kind__in=SourceKind.of_references()).order_by()
    rows = references if release is None else release.weights.order_by()
    if (n := outputs.count()) > MOST:
        looked_at = {"item__position__lt": MOST * dataset.items.count() // n}
        outputs, rows = outputs.filter(**looked_at), rows.filter(**looked_at)
    letters = {
        (item, letters_of(text)) for item, text in rows.values_list("item_id", "response__text").iterator(AT_ONCE)
    }
    referenced = {item for item, _ in letters}
    copied: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    named = outputs.values_list("system__name", "item_id", "response__text")
    for system, item, text in named.iterator(AT_ONCE) if letters else ():
        if item in referenced:
            answered[system] += 1
            copied[system] += (item, letters_of(text)) in letters
    return [Copies(system, copied[system], n) for system, n in answered.items()]


def copies_on(board: Leaderboard) -> list[Copies]:
    """Return the systems of a leaderboard that copy the references of a column in which they have a score."""
    scored: dict[int | None, set[str]] = {}
    releases: dict[int | None, Release | None] = {}
    for place, column in enumerate(board.columns):
        if column.run is not None and column.references:
            names = {row.system.name for row in board.rows if row.cells[place].score is not None}
            releases[column.run.release_id] = column.run.release
            scored[column.run.release_id] = scored.get(column.run.release_id, set()) | names
    worst: dict[str, Copies] = {}
    for pk, release in releases.items():
        for each in systems_that_copy(board.dataset, release):
            if each.system in scored[pk] and each.share > (worst[each.system].share if each.system in worst else 0.0):
                worst[each.system] = each
    return sorted(worst.values(), key=lambda each: (-each.share, each.system))


def copies_sentence(systems: Sequence[Copies]) -> str:
    """Return the warning about systems that copy references, with their shares; empty if none does.

    Examples
    --------
    >>> copies_sentence([Copies("Human", 97, 100)]).split(";")[0]
    'Circular: 97% of the outputs of Human are references themselves'
    """
    if not systems:
        return ""
    shares = f"{percent_of(systems[0].share)} of the outputs of {systems[0].system}"
    more = [f"{percent_of(each.share)} of those of {each.system}" for each in systems[1:]]
    return f"Circular: {enumerated([shares, *more], NAMED)} are references themselves; {PERFECT}."


def percent_of(share: float) -> str:
    """Return a share of copies in percent: 100% only if it is all.

    Examples
    --------
    >>> percent_of(0.97), percent_of(0.9996), percent_of(1.0)
    ('97%', '99%', '100%')
    """
    return f"{int(100 * share + 1e-9) if share > 0.99 else round(100 * share)}%"


RULE = (
    f"A system is called circular if at least {percent_of(LEAST)} of its outputs are references of their items, but "
    "for case, spaces and punctuation."
)
