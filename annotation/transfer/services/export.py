"""A project as one archive: tables as JSON Lines, in which rows name each other by their lines, and a manifest.

The same content gives the same tables on every installation. Accounts, tokens, providers' ids and uploaded files stay;
raters who typed a name are called ``named-<number>``.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from annotation.core.errors import AnnotationError
from annotation.core.exports import gathered
from annotation.core.snapshots import snapshot
from annotation.core.zips import zip_chunks
from annotation.datasets.services.export import dataset_hash
from annotation.models import Project, Rater
from annotation.rating.pseudonyms import MADE_HERE
from annotation.records.selectors.reading import renamed
from annotation.records.selectors.tables import NAMED
from annotation.records.services.archive import described
from annotation.transfer import registry
from annotation.transfer.registry import Table
from annotation.transfer.services.columns import written

FORMAT = "assay-project/1"
MANIFEST = "manifest.json"
CHUNK = 2000
RATERS = Rater._meta.label_lower
README = """\
A project of Assay. manifest.json names its files with their SHA-256 and the hashes of its data sets, ratings, releases,
score runs and studies. Each file of tables/ holds the rows of a table, a JSON object on each line; where a row names
another, it gives that row's line. Another Assay imports this file: Projects, Import.
"""


def project_chunks(project: Project) -> Iterator[bytes]:
    """Yield the archive in pieces, all as of one moment."""
    for dataset in project.datasets.all():
        dataset_hash(dataset)  # stored, which a snapshot cannot do
    with snapshot():
        yield from zip_chunks(_members(project))


def _members(project: Project) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield name and pieces of each file; the manifest, which describes the others, is the last."""
    files: dict[str, dict[str, Any]] = {}
    yield "README.md", described(files, "README.md", [README.encode()])
    numbering = Numbering(project)
    names = _typed_names(project, numbering)
    for table in registry.TABLES:
        lines = gathered(json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(table, project, numbering, names))
        yield table.filename, described(files, table.filename, lines)
        files[table.filename]["rows"] = numbering.count(table.label)
    yield MANIFEST, [json.dumps(_manifest(project, files), ensure_ascii=False, indent=2).encode() + b"\n"]


class Numbering:
    """The line of each row in its table's file, from 1."""

    def __init__(self, project: Project) -> None:
        self._keys: dict[str, npt.NDArray[np.int64]] = {
            table.label: np.fromiter(table.rows(project).values_list("pk", flat=True).iterator(CHUNK), dtype=np.int64)
            for table in registry.TABLES
        }

    def count(self, label: str) -> int:
        return self._keys[label].size

    def __call__(self, label: str, key: int) -> int | None:
        keys = self._keys[label]
        at = int(np.searchsorted(keys, key))
        return at + 1 if at < keys.size and keys[at] == key else None


def _typed_names(project: Project, number: Numbering) -> dict[str, str]:
    """Return what raters typed as their names, each with what the archive says instead."""
    raters = Rater.objects.filter(project=project).values_list("pk", "pseudonym")
    typed = ((pk, name) for pk, name in raters.iterator(CHUNK) if not re.fullmatch(MADE_HERE, name))
    return {name: f"{NAMED}{number(RATERS, pk)}" for pk, name in typed}


def _rows(table: Table, project: Project, number: Numbering, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    columns = table.columns
    for values in table.rows(project).values_list(*(column.attname for column in columns)).iterator(CHUNK):
        row = {column.name: value for column, value in zip(columns, values, strict=True)}
        table.leave(row)
        if table.label == RATERS:
            row["pseudonym"] = names.get(row["pseudonym"], row["pseudonym"])
        for column in columns:
            row[column.name] = _value(table, column, row[column.name], number)
        for name in table.named if names else ():
            row[name] = renamed(row[name], names)
        yield row


def _value(table: Table, column: Any, value: Any, number: Numbering) -> Any:
    if value is None:
        return None
    if column.is_relation:
        line = number(column.related_model._meta.label_lower, value)
        if line is None and not column.null:
            raise AnnotationError(f"A row of {table.label} names one of {column.name} that is not in the project.")
        return line
    if translate := table.translate.get(column.name):
        value = translate(value, number)
    return written(column, value)


def content_hash(files: dict[str, Any]) -> str:
    """Return the SHA-256 over the lines ``<SHA-256>  <name>`` of the files, ordered by name."""
    lines = "".join(f"{files[name]['sha256']}  {name}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def _manifest(project: Project, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "assay": settings.VERSION,
        "project": {"name": project.name, "description": project.description},
        "content_hash": content_hash(files),
        "hashes": [each._asdict() for each in registry.hashes_of(project)],
        "missing": [
            {"kind": kind, "name": name, "digest": digest}
            for source in registry.MISSING
            for kind, name, digest in source(project)
        ],
        "stays": registry.STAYS,
        "files": files,
    }
