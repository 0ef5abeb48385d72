"""Texts that a model is trained on, and texts that metrics compare with its help."""

from collections.abc import Callable, Iterable, Iterator, Set
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from django.db.models import QuerySet

from annotation.core.errors import AnnotationError
from annotation.core.file_limits import LINE_CHARACTERS, Allowance, TooLarge, check
from annotation.core.rows import UTF8_MARK
from annotation.mining.opening import DAMAGED, compression_of, decompressed
from annotation.mining.selectors import corpus_index, damage_reported, named_sources
from annotation.models import Corpus, Dataset, Item, JobState, Project, ReleaseWeight, ResponseSource, SourceKind
from metrics.models import TrainedModel
from metrics.scoring.models.distinct_texts import text_key

CHUNK_ROWS = 5000
MAGIC_BYTES = 4
MESSAGES, CONTEXTS, RESPONSES = "messages", "contexts", "responses"
PARTS = (MESSAGES, CONTEXTS, RESPONSES)

Texts = Callable[[], Iterable[str]]


def dataset_texts(
    dataset: Dataset, parts: Iterable[str], source_kinds: Iterable[str], source_systems: Iterable[str]
) -> Iterator[str]:
    """Yield the chosen texts, in the same order in every installation."""
    items = Item.objects.filter(dataset=dataset).order_by("position")
    chosen = set(parts)
    if CONTEXTS in chosen:
        yield from chain.from_iterable(items.values_list("context", flat=True).iterator(chunk_size=CHUNK_ROWS))
    if MESSAGES in chosen:
        yield from items.values_list("message", flat=True).iterator(chunk_size=CHUNK_ROWS)
    sources = ResponseSource.objects.filter(
        named_sources(list(source_kinds), list(source_systems)), item__dataset=dataset
    )
    rows = sources.order_by("item__position", "response__text_key").values_list(
        "item__position", "response__text_key", "response__text"
    )
    for _, _, text in rows.distinct().iterator(chunk_size=CHUNK_ROWS):
        yield text


def corpus_texts(corpus: Corpus, parts: Iterable[str]) -> Iterator[str]:
    """Yield the chosen texts of each triple, in the order of the index."""
    chosen = set(parts)
    with damage_reported(corpus):
        for triple in corpus_index(corpus).triples():
            if CONTEXTS in chosen:
                yield from triple.context
            if MESSAGES in chosen:
                yield triple.message
            if RESPONSES in chosen:
                yield triple.response


def file_texts(open_file: Callable[[], BinaryIO], filename: str, most_bytes: int | None = None) -> Iterator[str]:
    """Yield one text per line, in UTF-8; the first bytes show whether the file is compressed.

    A compressed file may unpack to ``most_bytes``, or to any size that texts may have.
    """
    with open_file() as stream:
        compression = compression_of(stream.read(MAGIC_BYTES))
        stream.seek(0)
        try:
            content = decompressed(stream, compression, Allowance(most_bytes))
            for number, line in enumerate(iter(partial(content.readline, LINE_CHARACTERS + 1), b""), start=1):
                check(f"line {number}", len(line), LINE_CHARACTERS, " bytes")
                yield _decoded(line.removeprefix(UTF8_MARK) if number == 1 else line, filename, number)
        except TooLarge as limit:
            raise AnnotationError.at("file", f"{filename}, {limit}.") from limit
        except DAMAGED as error:
            message = f"{filename}: found a damaged {compression} file ({error}); accepted: a whole one."
            raise AnnotationError.at("file", message) from error


def _decoded(line: bytes, filename: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        message = f"{filename}, line {number}: found bytes that are not UTF-8; accepted: text in UTF-8, one per line."
        raise AnnotationError.at("file", message) from error


def corpora_to_train_on(project: Project) -> QuerySet[Corpus]:
    return project.corpora.filter(state=JobState.DONE).defer("content", "report").order_by("name")


# --- Compared texts ---------------------------------------------------------------------------------------------------

Group = tuple[int, str]  # a data set, and outputs or references
OUTPUTS, REFERENCES = "outputs", "references"


def compared_keys(project: Project) -> dict[Group, Set[bytes]]:
    """Return for each data set the keys of all systems' outputs, and of the references in finished releases."""
    keys: dict[Group, Set[bytes]] = {}
    for pk in project.datasets.order_by("name").values_list("pk", flat=True):
        outputs = ResponseSource.objects.filter(item__dataset=pk, kind=SourceKind.SYSTEM)
        references = ReleaseWeight.objects.filter(release__reference_set__dataset=pk, release__state=JobState.DONE)
        keys[pk, OUTPUTS] = _keys(outputs)
        keys[pk, REFERENCES] = _keys(references)
    return keys


def _keys(rows: QuerySet[Any]) -> Set[bytes]:
    texts = rows.order_by().exclude(response__text="").values_list("response__text", flat=True).distinct()
    return {text_key(text) for text in texts.iterator(chunk_size=CHUNK_ROWS)}


def texts_label(model: TrainedModel) -> str:
    """Describe the chosen texts or ratings of a data set or corpus; empty for files."""
    source = model.source
    if "campaigns" in source:
        return f"{source['statistic']} of {', '.join(source['criteria'])} in {', '.join(source['campaigns'])}"
    responses = [f"responses {SourceKind(kind).label.lower()}" for kind in source.get("source_kinds", [])]
    outputs = [f"outputs of {system}" for system in source.get("source_systems", [])]
    return ", ".join([*source.get("texts", []), *responses, *outputs])


def source_label(model: TrainedModel) -> str:
    """Describe where the model's texts, or the model itself, come from."""
    source = model.source
    if "registered" in source:
        return f"{source['registered']}, made elsewhere"
    origin = model.dataset or model.corpus or source.get("dataset") or source.get("corpus") or source["file"]
    texts = texts_label(model)
    return f"{origin}: {texts}" if texts else str(origin)
