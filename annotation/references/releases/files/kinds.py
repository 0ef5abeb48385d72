"""The files of a release: what each is for, how it is written, and what identifies one version of it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from django.conf import settings
from django.db.models import Count, Max
from django.utils.text import get_valid_filename

from annotation.core.canonical import canonical_json
from annotation.core.snapshots import snapshot
from annotation.models import Item, Release, ResponseSource
from annotation.references.releases.files import tables
from annotation.references.releases.files.bleu import multi_reference_zip
from annotation.references.releases.files.card import data_card
from annotation.references.releases.files.hub import hub_zip
from annotation.references.sets.access import project_stem

LAYOUT = 1  # raise it when a file of the same release gets another content


@dataclass(frozen=True)
class ReleaseFile:
    name: str  # in addresses, and the end of the file's name
    label: str
    purpose: str
    content_type: str
    icon: str
    write: Callable[[Release], Iterator[bytes]]
    has_card: bool = False  # holds the data card, which describes more than the release


FILES: dict[str, ReleaseFile] = {
    file.name: file
    for file in (
        ReleaseFile(
            "items.jsonl",
            "JSON Lines, by item",
            "Everything, one line per item: conversation, references, evidence, sources. To archive, and to import.",
            "application/jsonl; charset=utf-8",
            "braces",
            tables.item_lines,
        ),
        ReleaseFile(
            "references.csv",
            "CSV for spreadsheets",
            "One row per reference. Cells that a spreadsheet would run as a formula begin with an apostrophe.",
            "text/csv; charset=utf-8",
            "file-earmark-spreadsheet",
            lambda release: tables.flat_chunks(release, "csv"),
        ),
        ReleaseFile(
            "references.jsonl",
            "JSON Lines, by reference",
            "One line per reference, every text exact: for pandas and command lines.",
            "application/jsonl; charset=utf-8",
            "braces",
            lambda release: tables.flat_chunks(release, "jsonl"),
        ),
        ReleaseFile(
            "references.parquet",
            "Parquet, by reference",
            "One row per reference, typed: for pandas, Polars, DuckDB, Arrow.",
            "application/vnd.apache.parquet",
            "table",
            tables.flat_parquet,
        ),
        ReleaseFile(
            "huggingface.zip",
            "Hugging Face folder",
            "A folder for datasets.load_dataset or the Hub: data card and a Parquet file per split.",
            "application/zip",
            "collection",
            hub_zip,
            has_card=True,
        ),
        ReleaseFile(
            "multi-reference.zip",
            "Texts for BLEU tools",
            "A file per reference number, a line per item, as sacrebleu and multi-bleu.perl read; weights beside them.",
            "application/zip",
            "collection",
            multi_reference_zip,
        ),
        ReleaseFile(
            "weighted.tsv",
            "Weighted TSV, by item",
            "One line per item: its id, then weight and text of each reference. Can be imported.",
            "text/tab-separated-values; charset=utf-8",
            "file-earmark-text",
            tables.weighted_lines,
        ),
        ReleaseFile(
            "card.md",
            "Data card",
            "What is in it, how it was made, agreement, licence, caveats: on one page, in Markdown.",
            "text/markdown; charset=utf-8",
            "file-earmark-text",
            lambda release: iter([data_card(release).encode()]),
            has_card=True,
        ),
    )
}


def file_chunks(release: Release, name: str) -> Iterator[bytes]:
    """Yield a file in pieces, as of one moment; memory does not grow with the release."""
    with snapshot():
        yield from FILES[name].write(release)


def file_name(release: Release, name: str) -> str:
    """Return the name of a file: project, set, number, and the beginning of the content hash."""
    stem = project_stem(release.reference_set.project, release)
    return get_valid_filename(f"{stem}-{release.content_hash[: tables.SHORT_HASH]}-{name}")


def file_fingerprint(release: Release, name: str) -> str:
    """Return a hash that is equal for equal bytes of a file.

    A release never changes, but its texts may gain sources, its items splits, its data set a licence. A data card
    describes more, such as circularity, so its text is hashed.
    """
    reference_set, dataset = release.reference_set, release.reference_set.dataset
    sources = ResponseSource.objects.filter(item__dataset=dataset).aggregate(n=Count("id"), last=Max("id"))
    splits = Item.objects.filter(dataset=dataset).order_by("split").values_list("split").annotate(n=Count("id"))
    deprecated = release.deprecated_at.isoformat() if release.deprecated_at else None
    facts = [
        LAYOUT,
        settings.VERSION,
        pa.__version__,
        name,
        release.content_hash,
        release.number,
        release.code_version,
        deprecated,
        release.deprecation_reason,
        reference_set.name,
        reference_set.slug,
        reference_set.description,
        reference_set.project.slug,
        dataset.name,
        dataset.language,
        dataset.licence,
        dataset.attribution,
        sources,
        [list(row) for row in splits],
        release.weights.filter(histogram__isnull=False).exists(),
    ]
    if FILES[name].has_card:
        facts.append(data_card(release))
    return hashlib.sha256(canonical_json(facts)).hexdigest()[:32]
