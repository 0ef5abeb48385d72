"""A folder that `datasets.load_dataset` reads, as a zip: a data card with front matter, a Parquet file per split."""

from collections.abc import Iterable, Iterator

from annotation.core.zips import zip_chunks
from annotation.models import Release
from annotation.references.releases.files.card import data_card, split_names
from annotation.references.releases.files.reading import released_items
from annotation.references.releases.files.tables import items_parquet


def hub_zip(release: Release) -> Iterator[bytes]:
    """Yield the zip, reading one split after the other."""
    yield from zip_chunks(_members(release))


def _members(release: Release) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "README.md", iter([data_card(release, for_hub=True).encode()])
    for split, name in split_names(release).items():
        items = released_items(release, split=split)
        yield f"data/{name}-00000-of-00001.parquet", items_parquet(release, items)
