"""Reads over corpora and mining runs."""

import re
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db.models import Count, Exists, F, Func, OuterRef, Q, QuerySet, Sum, TextField, Value
from django.db.models.functions import Coalesce

from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.datasets import items_between
from annotation.mining.candidates import Seed
from annotation.mining.index.files import UnreadableIndex
from annotation.mining.index.reading import TripleIndex
from annotation.mining.triples import Triple
from annotation.models import (
    CandidateFate,
    Corpus,
    Dataset,
    Item,
    JobState,
    MinedCandidate,
    MiningRun,
    MiningShard,
    Project,
    ResponseSource,
    SourceKind,
)

PAGE_SIZE = 10
FIRST_CANDIDATES = 3  # of a seed; a page folds the others
OPEN_INDEXES = 4
LISTED = 100

# --- Corpora ----------------------------------------------------------------------------------------------------------


def corpora_folder() -> Path:
    return Path(settings.CORPORA_DIR or settings.DATA_DIR / "corpora")


def corpus_folder(corpus: Corpus) -> Path:
    return corpora_folder() / str(corpus.folder)


def paths_of(folder: Path) -> list[Path]:
    """Return an index's folder, and what a killed worker left beside it."""
    return [*folder.parent.glob(f"{folder.name}*"), *folder.parent.glob(f".{folder.name}*")]


def corpora_of(project: Project) -> QuerySet[Corpus]:
    corpora = project.corpora.defer("content", "report").select_related("dataset")
    return corpora.annotate(n_runs=Count("mining_runs")).order_by("-pk")


def require_indexed(corpus: Corpus) -> None:
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: a corpus whose index is done."
        raise AnnotationError.at("corpus", message)


def corpus_index(corpus: Corpus) -> TripleIndex:
    """Return the opened index; this process keeps the last few open."""
    require_indexed(corpus)
    folder = corpus_folder(corpus)
    if not folder.is_dir():
        raise AnnotationError(
            f"The index of corpus “{corpus}” is not on this host: {socket.gethostname()} has no folder {folder}. "
            f"Let every host share {corpora_folder()}, or copy the folder there from the host that has it."
        )
    with damage_reported(corpus):
        index = _opened(folder)
    if index.content_hash != corpus.content_hash:
        raise AnnotationError(
            f"The index of corpus “{corpus}” in {folder} on {socket.gethostname()} holds other triples than were "
            f"indexed: found {index.content_hash[:16]}…, expected {corpus.content_hash[:16]}…. "
            "Copy the folder again from the host that built it, or index the corpus anew."
        )
    return index


def corpus_verify(corpus: Corpus) -> None:
    """Check every byte of the index; opening it checks only names and lengths."""
    with damage_reported(corpus), TripleIndex.open(corpus_folder(corpus), verify_contents=True):
        pass


@contextmanager
def damage_reported(corpus: Corpus) -> Iterator[None]:
    """Raise damage of an index's files, which may appear only while they are read, as an AnnotationError."""
    try:
        yield
    except UnreadableIndex as error:
        raise AnnotationError(f"The index of corpus “{corpus}” on {socket.gethostname()}: {error}.") from error


@lru_cache(maxsize=OPEN_INDEXES)
def _opened(folder: Path) -> TripleIndex:
    return TripleIndex.open(folder)


def forget_indexes() -> None:
    """Close the open indexes, because files may have been deleted."""
    _opened.cache_clear()


@dataclass(frozen=True)
class SearchResult:
    """A triple with its scores for a search."""

    number: int
    triple: Triple
    score: float
    message_score: float
    response_score: float


def corpus_search(corpus: Corpus, message: str, response: str, *, n: int = 10) -> list[SearchResult]:
    """Return the triples most similar to this message and response, best first, before duplicates and hygiene."""
    index = corpus_index(corpus)
    with damage_reported(corpus):
        return [
            SearchResult(hit.number, index.triple(hit.number), hit.score, hit.message_score, hit.response_score)
            for hit in index.search(message, response, n=n)
        ]


def dataset_triples(dataset: Dataset, kinds: Sequence[str], systems: Sequence[str]) -> Iterator[Triple]:
    """Yield every chosen response with its item's conversation, in the order of the items; leave out empty texts."""
    sources = (
        ResponseSource.objects.filter(named_sources(kinds, systems), item__dataset=dataset)
        .exclude(response__text="")
        .order_by("item__position", "response_id")
        .values_list("response_id", "item__context", "item__message", "response__text")
        .distinct()
    )
    for _, context, message, text in sources.iterator(chunk_size=5000):
        if message:
            yield Triple(tuple(context), message, text)


def named_sources(kinds: Sequence[str], systems: Sequence[str]) -> Q:
    return Q(kind__in=[kind for kind in kinds if kind != SourceKind.SYSTEM]) | Q(system__name__in=systems)


# --- Seeds ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeedChoice:
    """The items of a run, and the source of the response that is each item's seed."""

    kind: str = SourceKind.SEED
    system: str = ""
    splits: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        return cls(record.get("kind", ""), record.get("system", ""), tuple(record.get("splits", ())))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "system": self.system, "splits": list(self.splits)}

    @property
    def source(self) -> Q:
        return Q(system__name=self.system) if self.system else Q(kind=self.kind)

    @property
    def label(self) -> str:
        return self.system or SourceKind(self.kind).label


def seed_sources(dataset: Dataset, choice: SeedChoice) -> QuerySet[ResponseSource]:
    """Return the sources that can be seeds: non-empty responses to non-empty messages in the chosen splits."""
    sources = ResponseSource.objects.filter(choice.source, item__dataset=dataset)
    if choice.splits:
        sources = sources.filter(item__split__in=choice.splits)
    return sources.exclude(response__text="").exclude(item__message="")


def seed_item_ids(dataset: Dataset, choice: SeedChoice) -> list[int]:
    """Return the items with a seed, in their order."""
    sources = seed_sources(dataset, choice)
    items = Item.objects.filter(dataset=dataset, pk__in=sources.values("item_id"))
    return list(items.order_by("position").values_list("pk", flat=True))


def seeds(dataset: Dataset, choice: SeedChoice, item_ids: Sequence[int]) -> list[Seed]:
    """Return the first source of the choice for each item, in the order of ``item_ids``."""
    rows = (
        seed_sources(dataset, choice)
        .filter(item__in=item_ids)
        .order_by("-pk")
        .values_list("item_id", "item__external_id", "item__context", "item__message", "response__text")
    )
    firsts = {pk: Seed(pk, name, tuple(context), message, text) for pk, name, context, message, text in rows}
    return [firsts[pk] for pk in item_ids if pk in firsts]


def splits_of(dataset: Dataset) -> list[tuple[str, int]]:
    """Return each split with its number of items, by name."""
    splits = Item.objects.filter(dataset=dataset).exclude(split="").order_by("split").values_list("split")
    return list(splits.annotate(n=Count("pk")))


# --- Runs -------------------------------------------------------------------------------------------------------------


def mining_runs_of(project: Project) -> QuerySet[MiningRun]:
    return project.mining_runs.defer("report").select_related("dataset", "corpus")


def mining_run_rows(project: Project) -> QuerySet[MiningRun]:
    """Return runs with everything a run's page needs, without the corpus's file."""
    return (
        MiningRun.objects.filter(project=project)
        .select_related("dataset", "corpus", "requested_by")
        .defer("corpus__content", "corpus__report")
    )


def seeds_done(run: MiningRun) -> int:
    done: int = run.shards.aggregate(n=Coalesce(Sum("progress_done"), 0))["n"]
    return done


@dataclass(frozen=True)
class CandidateFilter:
    """A filter of a run's candidates."""

    fate: str = ""
    kind: str = ""
    step: str = ""  # the beginning of a reason, such as a hygiene step
    near: bool = False
    fewer: bool = False
    text: str = ""

    @property
    def is_narrow(self) -> bool:
        return bool(self.fate or self.kind or self.step or self.near or self.text)


EVERYTHING = CandidateFilter()
SAME_TEXT = "same as another"  # the step of reasons such as "same as mined 3"
SAME_AS_ANOTHER = "same as (mined|parrot|random) "


@dataclass
class MinedItem:
    """A seed with its candidates."""

    item: Item
    seed: str
    candidates: list[MinedCandidate] = field(default_factory=list)
    kept: int = 0
    all: int = 0

    @property
    def first_candidates(self) -> list[MinedCandidate]:
        return self.candidates[:FIRST_CANDIDATES]

    @property
    def more_candidates(self) -> list[MinedCandidate]:
        """Return those that a page folds."""
        return self.candidates[FIRST_CANDIDATES:]


@dataclass
class CandidatePage:
    items: list[MinedItem]
    before: int | None
    after: int | None


def candidates_matching(run: MiningRun, chosen: CandidateFilter) -> QuerySet[MinedCandidate]:
    equal = {name: value for name, value in (("fate", chosen.fate), ("kind", chosen.kind)) if value}
    candidates = MinedCandidate.objects.filter(run=run, **equal)
    if chosen.step:
        beginning = SAME_AS_ANOTHER if chosen.step == SAME_TEXT else f"{re.escape(chosen.step)}(:|\n|$)"
        lines = Func(F("reasons"), Value("\n"), function="array_to_string", output_field=TextField())
        candidates = candidates.annotate(lines=lines).filter(lines__regex=f"(^|\n){beginning}")
    if chosen.near:
        candidates = candidates.exclude(near_duplicate="")
    if chosen.text:
        candidates = candidates.filter(Q(text__icontains=chosen.text) | Q(item__message__icontains=chosen.text))
    return candidates


def _mined_items(run: MiningRun) -> QuerySet[Item]:
    members = MiningShard.objects.filter(run=run).values(member=Func(F("item_ids"), function="unnest"))
    return Item.objects.filter(pk__in=members)


def _items_of(run: MiningRun, chosen: CandidateFilter) -> QuerySet[Item]:
    items = _mined_items(run).filter(dataset=run.dataset_id)
    if chosen.is_narrow:
        items = items.filter(Exists(candidates_matching(run, chosen).filter(item=OuterRef("pk")).order_by()))
    if chosen.fewer:
        items = items.filter(pk__in=_short_items(run))
    return items


def _short_items(run: MiningRun) -> QuerySet[Any, Any]:
    """Return the items for which fewer mined texts were kept than requested."""
    is_kept = Q(candidates__run=run, candidates__kind="mined", candidates__fate=CandidateFate.KEPT)
    items = _mined_items(run).order_by().annotate(n_kept=Count("candidates", filter=is_kept))
    return items.filter(n_kept__lt=run.specification["mining"]["n"]).values("pk")


def candidate_page(
    run: MiningRun,
    chosen: CandidateFilter = EVERYTHING,
    *,
    after: int | None = None,
    before: int | None = None,
    size: int = PAGE_SIZE,
) -> CandidatePage:
    """Return a page of seeds by position, each with its matching candidates, without counting earlier seeds."""
    rows, earlier, later = items_between(_items_of(run, chosen), after=after, before=before, size=size)
    return CandidatePage(items=_with_candidates(run, chosen, rows), before=earlier, after=later)


def _with_candidates(run: MiningRun, chosen: CandidateFilter, items: Sequence[Item]) -> list[MinedItem]:
    ids = [item.pk for item in items]
    choice = SeedChoice.of(run.specification["seeds"])
    responses = {seed.item_id: seed.response for seed in seeds(run.dataset, choice, ids)}
    matching: dict[int, list[MinedCandidate]] = defaultdict(list)
    for candidate in candidates_matching(run, chosen).filter(item__in=ids).order_by("item", "kind", "rank"):
        matching[candidate.item_id].append(candidate)
    counted = MinedCandidate.objects.filter(run=run, item__in=ids).order_by().values_list("item")
    counts = {
        item: (kept, n)
        for item, kept, n in counted.annotate(kept=Count("pk", filter=Q(fate=CandidateFate.KEPT)), n=Count("pk"))
    }
    return [
        MinedItem(
            item, responses.get(item.pk, ""), sorted(matching[item.pk], key=_kept_first), *counts.get(item.pk, (0, 0))
        )
        for item in items
    ]


KIND_ORDER = {"mined": 0, "parrot": 1, "random": 2}


def _kept_first(candidate: MinedCandidate) -> tuple[bool, int, int]:
    return candidate.fate != CandidateFate.KEPT, KIND_ORDER.get(candidate.kind, 9), candidate.rank


@dataclass(frozen=True)
class NearDuplicates:
    """The number that a run kept, and how many of these will not be added to the data set."""

    kept: int
    left_out: int

    @property
    def taken(self) -> int:
        return self.kept - self.left_out


def kept_near_duplicates(run: MiningRun) -> QuerySet[MinedCandidate]:
    return MinedCandidate.objects.filter(run=run, fate=CandidateFate.KEPT).exclude(near_duplicate="").order_by()


def near_duplicates_of(run: MiningRun) -> NearDuplicates:
    counted = kept_near_duplicates(run).aggregate(kept=Count("pk"), left_out=Count("pk", filter=Q(left_out=True)))
    return NearDuplicates(**counted)


CANDIDATE_FIELDS = (
    "kind",
    "rank",
    "score",
    "message_score",
    "response_score",
    "text",
    "raw_text",
    "fate",
    "reasons",
    "near_duplicate",
    "left_out",
    "triple",
    "source_context",
    "source_message",
)
# The columns of the download, with the fields that they show.
CANDIDATE_COLUMNS = {
    "item_id": "item__external_id",
    "split": "item__split",
    "context": "item__context",
    "message": "item__message",
    **{name: name for name in CANDIDATE_FIELDS},
}
CANDIDATE_TYPES = {"score": "number", "message_score": "number", "response_score": "number", "triple": "whole"}


def candidate_rows(run: MiningRun, chosen: CandidateFilter = EVERYTHING) -> Iterator[tuple[object, ...]]:
    """Return the rows of the matching candidates, in the order of the items."""
    candidates = candidates_matching(run, chosen)
    if chosen.fewer:
        candidates = candidates.filter(item__in=_short_items(run))
    rows = candidates.order_by("item__position", "kind", "rank").values_list(*CANDIDATE_COLUMNS.values())
    return rows.iterator(chunk_size=2000)
