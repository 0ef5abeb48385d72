"""Reads over corpora, and over what was mined from them."""

import re
import socket
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, Exists, F, Func, OuterRef, Q, QuerySet, Sum, TextField, Value
from django.db.models.functions import Coalesce

from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.datasets import items_between
from annotation.mining.candidates import Seed
from annotation.mining.index import TripleIndex, UnreadableIndex
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
OPEN_INDEXES = 4
LISTED = 100

# --- Corpora ----------------------------------------------------------------------------------------------------------


def corpora_folder() -> Path:
    return Path(settings.DATA_DIR) / "corpora"


def corpus_folder(corpus: Corpus) -> Path:
    return corpora_folder() / str(corpus.folder)


def corpora_of(project: Project) -> QuerySet[Corpus]:
    corpora = project.corpora.defer("content", "report").select_related("dataset")
    # The order is said, since a query that groups does without the model's own.
    return corpora.annotate(n_runs=Count("mining_runs")).order_by("-pk")


def corpus_index(corpus: Corpus) -> TripleIndex:
    """The opened index; this process keeps the last few open."""
    if corpus.state != JobState.DONE:
        message = f"Corpus “{corpus}” is {corpus.get_state_display().lower()}; accepted: a corpus whose index is done."
        raise AnnotationError.at("corpus", message)
    folder = corpus_folder(corpus)
    if not folder.is_dir():
        raise AnnotationError(
            f"The index of corpus “{corpus}” is not on this host: {socket.gethostname()} has no folder {folder}. "
            f"Let every host share {corpora_folder()}, or copy the folder there from the host that has it."
        )
    with told_of_damage(corpus):
        index = _opened(folder)
    if index.content_hash != corpus.content_hash:
        raise AnnotationError(
            f"The index of corpus “{corpus}” in {folder} on {socket.gethostname()} holds other triples than were "
            f"indexed: found {index.content_hash[:16]}…, expected {corpus.content_hash[:16]}…. "
            "Copy the folder again from the host that built it, or index the corpus anew."
        )
    return index


def corpus_verify(corpus: Corpus) -> None:
    """Read every byte of the index and hold it to what was written; opening looks at names and lengths alone."""
    with told_of_damage(corpus), TripleIndex.open(corpus_folder(corpus), verify_contents=True):
        pass


@contextmanager
def told_of_damage(corpus: Corpus) -> Iterator[None]:
    """What is wrong with an index's files, also where it is found only when they are read, is said in words."""
    try:
        yield
    except UnreadableIndex as error:
        raise AnnotationError(f"The index of corpus “{corpus}” on {socket.gethostname()}: {error}.") from error


@lru_cache(maxsize=OPEN_INDEXES)
def _opened(folder: Path) -> TripleIndex:
    return TripleIndex.open(folder)


def forget_indexes() -> None:
    """Close the doors to indexes whose files are gone."""
    _opened.cache_clear()


@dataclass(frozen=True)
class Found:
    """One triple that a search of a corpus came upon."""

    number: int
    triple: Triple
    score: float
    message_score: float
    response_score: float


def corpus_search(corpus: Corpus, message: str, response: str, *, n: int = 10) -> list[Found]:
    """What would be found for this message and response, before duplicates and hygiene; best first."""
    index = corpus_index(corpus)
    with told_of_damage(corpus):
        return [
            Found(hit.number, index.triple(hit.number), hit.score, hit.message_score, hit.response_score)
            for hit in index.search(message, response, n=n)
        ]


def dataset_triples(dataset: Dataset, kinds: Sequence[str], systems: Sequence[str]) -> Iterator[Triple]:
    """Every chosen response with its item's conversation, in the order of the items; an empty text is no response."""
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
    """Which items are mined for, and which of their responses is the one to find similar ones to."""

    kind: str = SourceKind.SEED
    system: str = ""
    splits: tuple[str, ...] = ()

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "SeedChoice":
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
    """The sources that can be seeds: of items with a message, in the chosen splits, with a text."""
    found = ResponseSource.objects.filter(choice.source, item__dataset=dataset)
    if choice.splits:
        found = found.filter(item__split__in=choice.splits)
    return found.exclude(response__text="").exclude(item__message="")


def seed_item_ids(dataset: Dataset, choice: SeedChoice) -> list[int]:
    """Items with a seed, in their order."""
    sources = seed_sources(dataset, choice)
    items = Item.objects.filter(dataset=dataset, pk__in=sources.values("item_id"))
    return list(items.order_by("position").values_list("pk", flat=True))


def seeds(dataset: Dataset, choice: SeedChoice, item_ids: Sequence[int]) -> list[Seed]:
    """Of each item the first source of the choice, in the order of ``item_ids``."""
    rows = (
        seed_sources(dataset, choice)
        .filter(item__in=item_ids)
        .order_by("-pk")
        .values_list("item_id", "item__external_id", "item__context", "item__message", "response__text")
    )
    firsts = {pk: Seed(pk, name, tuple(context), message, text) for pk, name, context, message, text in rows}
    return [firsts[pk] for pk in item_ids if pk in firsts]


def splits_of(dataset: Dataset) -> list[tuple[str, int]]:
    """(split, items), by name; items without a split are not among them."""
    counted = Item.objects.filter(dataset=dataset).exclude(split="").order_by("split").values("split")
    return [(row["split"], row["n"]) for row in counted.annotate(n=Count("pk"))]


# --- Runs -------------------------------------------------------------------------------------------------------------


def mining_runs_of(project: Project) -> QuerySet[MiningRun]:
    return project.mining_runs.defer("report").select_related("dataset", "corpus")


def mining_run_rows(project: Project) -> QuerySet[MiningRun]:
    """Runs with everything a page of one needs, but no uploaded file."""
    return (
        MiningRun.objects.filter(project=project)
        .select_related("dataset", "corpus", "requested_by")
        .defer("corpus__content", "corpus__report")
    )


def seeds_done(run: MiningRun) -> int:
    found: int = run.shards.aggregate(n=Coalesce(Sum("progress_done"), 0))["n"]
    return found


@dataclass(frozen=True)
class CandidateFilter:
    """What the candidates of a run can be narrowed to."""

    fate: str = ""
    kind: str = ""
    step: str = ""  # of hygiene, or whatever else begins a reason
    near: bool = False
    fewer: bool = False
    text: str = ""

    @property
    def is_narrow(self) -> bool:
        return bool(self.fate or self.kind or self.step or self.near or self.text)


EVERYTHING = CandidateFilter()
SAME_TEXT = "same as another"  # what reasons such as "same as mined 3" are counted under
SAME_AS_ANOTHER = "same as (mined|parrot|random) "


@dataclass
class MinedItem:
    """A seed conversation with what was found for it."""

    item: Item
    seed: str
    candidates: list[MinedCandidate] = field(default_factory=list)
    kept: int = 0
    all: int = 0


@dataclass
class CandidatePage:
    items: list[MinedItem]
    before: int | None
    after: int | None


def candidates_matching(run: MiningRun, chosen: CandidateFilter) -> QuerySet[MinedCandidate]:
    found = MinedCandidate.objects.filter(run=run)
    if chosen.fate:
        found = found.filter(fate=chosen.fate)
    if chosen.kind:
        found = found.filter(kind=chosen.kind)
    if chosen.step:
        begins = SAME_AS_ANOTHER if chosen.step == SAME_TEXT else f"{re.escape(chosen.step)}(:|\n|$)"
        told = Func(F("reasons"), Value("\n"), function="array_to_string", output_field=TextField())
        found = found.annotate(told=told).filter(told__regex=f"(^|\n){begins}")
    if chosen.near:
        found = found.exclude(near_duplicate="")
    if chosen.text:
        found = found.filter(Q(text__icontains=chosen.text) | Q(item__message__icontains=chosen.text))
    return found


def _items_of(run: MiningRun, chosen: CandidateFilter) -> QuerySet[Item]:
    mined = MiningShard.objects.filter(run=run).values(member=Func(F("item_ids"), function="unnest"))
    items = Item.objects.filter(dataset=run.dataset_id, pk__in=mined)
    if chosen.is_narrow:
        items = items.filter(Exists(candidates_matching(run, chosen).filter(item=OuterRef("pk")).order_by()))
    if chosen.fewer:
        items = items.filter(pk__in=_short_items(run))
    return items


def _short_items(run: MiningRun) -> QuerySet[Any, Any]:
    """Items for which fewer mined texts were kept than asked for."""
    kept = Count(
        "candidates", filter=Q(candidates__run=run, candidates__kind="mined", candidates__fate=CandidateFate.KEPT)
    )
    mined = MiningShard.objects.filter(run=run).values(member=Func(F("item_ids"), function="unnest"))
    counted = Item.objects.filter(pk__in=mined).order_by().annotate(n_kept=kept)
    return counted.filter(n_kept__lt=run.specification["mining"]["n"]).values("pk")


def candidate_page(
    run: MiningRun,
    chosen: CandidateFilter = EVERYTHING,
    *,
    after: int | None = None,
    before: int | None = None,
    size: int = PAGE_SIZE,
) -> CandidatePage:
    """A page of seeds by position, each with the candidates that match; found without counting the ones before it."""
    rows, earlier, later = items_between(_items_of(run, chosen), after=after, before=before, size=size)
    return CandidatePage(items=_with_candidates(run, chosen, rows), before=earlier, after=later)


def _with_candidates(run: MiningRun, chosen: CandidateFilter, items: Sequence[Item]) -> list[MinedItem]:
    ids = [item.pk for item in items]
    own = {seed.item_id: seed.response for seed in seeds(run.dataset, SeedChoice.of(run.specification["seeds"]), ids)}
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
            item,
            own.get(item.pk, ""),
            sorted(matching[item.pk], key=_kept_first),
            *counts.get(item.pk, (0, 0)),
        )
        for item in items
    ]


KIND_ORDER = {"mined": 0, "parrot": 1, "random": 2}


def _kept_first(candidate: MinedCandidate) -> tuple[bool, int, int]:
    return candidate.fate != CandidateFate.KEPT, KIND_ORDER.get(candidate.kind, 9), candidate.rank


@dataclass(frozen=True)
class NearDuplicates:
    """Of a run, those that it kept, and how many of them are not to be added to the data set."""

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


CANDIDATE_COLUMNS = (
    "item_id",
    "split",
    "context",
    "message",
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
CANDIDATE_TYPES = {"score": "number", "message_score": "number", "response_score": "number", "triple": "whole"}


def candidate_rows(run: MiningRun, chosen: CandidateFilter = EVERYTHING) -> Iterator[tuple[object, ...]]:
    """Every candidate that matches, with its fate, in the order of the items."""
    found = candidates_matching(run, chosen)
    if chosen.fewer:
        found = found.filter(item__in=_short_items(run))
    for one in found.select_related("item").order_by("item__position", "kind", "rank").iterator(chunk_size=2000):
        yield (
            one.item.external_id,
            one.item.split,
            one.item.context,
            one.item.message,
            one.kind,
            one.rank,
            one.score,
            one.message_score,
            one.response_score,
            one.text,
            one.raw_text,
            one.fate,
            one.reasons,
            one.near_duplicate,
            one.left_out,
            one.triple,
            one.source_context,
            one.source_message,
        )
