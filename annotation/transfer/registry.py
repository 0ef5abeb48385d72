"""Which tables an archive of a project holds. Apps above register theirs.

A new column travels by itself, unless its table leaves it out; a new table must be declared here or among ``STAYS``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import models

from annotation.core.progress import noop
from annotation.core.purging import AnyModel, paths_to_project
from annotation.models import Project

# Turns a number of a row of one table (by its label, such as "annotation.system") into that of another numbering; None
# if the row is not in the archive.
Renumber = Callable[[str, int], int | None]
Translate = Callable[[Any, Renumber], Any]
DERIVED, PERSONAL, JOB = "follows from the rest", "about a person or an account", "of the worker that made it"
JOB_FIELDS = (
    *("state", "progress_done", "progress_total", "progress_note", "attempt", "lease_token", "lease_expires_at"),
    *("cancel_requested", "error", "requested_by"),
)


@dataclass(frozen=True)
class Table:
    """Rows of a model that belong to the project.

    ``where`` selects some; ``left_out`` maps columns that stay to the reason; ``fixed`` gives their values at an import
    if that is not the model's default. ``translate`` rewrites JSON, lists and bytes that name rows by number, both when
    they leave and when they enter. ``named`` are JSON columns in which raters may be named. ``leave`` and ``enter``
    change a row, columns by name, on its way out and in; ``enter`` raises ValueError if its values cannot be.
    ``formerly`` maps columns of earlier archives to their names now, or to '' if they are no longer read.
    """

    model: AnyModel
    where: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    translate: Mapping[str, Translate] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    formerly: Mapping[str, str] = field(default_factory=dict)
    leave: Callable[[dict[str, Any]], None] = noop
    enter: Callable[[dict[str, Any]], None] = noop

    @property
    def label(self) -> str:
        return self.model._meta.label_lower

    @property
    def filename(self) -> str:
        return f"tables/{self.label}.jsonl"

    @property
    def columns(self) -> list[Any]:
        """Return the model's fields that travel; the number of a row is its line."""
        fields = self.model._meta.concrete_fields
        return [each for each in fields if not each.primary_key and each.name not in self.left_out and not _stays(each)]

    @property
    def others(self) -> list[Any]:
        """Return the model's fields that do not travel."""
        travelling = {each.name for each in self.columns}
        return [
            each for each in self.model._meta.concrete_fields if each.name not in travelling and not each.primary_key
        ]

    def rows(self, project: Project) -> "models.QuerySet[Any]":
        path = "__".join(step.name for step in paths_to_project()[self.model])
        return self.model._default_manager.filter(**{path: project}, **self.where).order_by("pk")


def _stays(column: Any) -> bool:
    """Return whether a column names the project, an account, or a row of a table that stays."""
    return column.is_relation and column.related_model._meta.label_lower not in labels()


class Hashed(NamedTuple):
    """Something whose content is compared after an import."""

    kind: str  # such as "data set"
    name: str
    digest: str


HashSource = Callable[[Project], Iterable[Hashed]]
MissingSource = Callable[[Project], Iterable[tuple[str, str, str]]]  # kind, name, hash of what is named only

TABLES: list[Table] = []
HASHES: list[HashSource] = []
MISSING: list[MissingSource] = []
STAYS: dict[str, str] = {}  # label of a table to the reason why no archive holds it


def register(
    *,
    tables: Iterable[Table] = (),
    hashes: Iterable[HashSource] = (),
    missing: Iterable[MissingSource] = (),
    stays: Mapping[str, str] | None = None,
) -> None:
    TABLES.extend(tables)
    HASHES.extend(hashes)
    MISSING.extend(missing)
    STAYS.update(stays or {})


def labels() -> set[str]:
    return {table.label for table in TABLES}


def job_left_out(**also: str) -> dict[str, str]:
    """Return the columns of a finished job that stay."""
    return dict.fromkeys(JOB_FIELDS, JOB) | also


def hashes_of(project: Project) -> Iterator[Hashed]:
    for source in HASHES:
        yield from source(project)


# --- Rows named by their numbers within values ----------------------------------------------------------------------


def every(label: str) -> Translate:
    """Rewrite a list of numbers."""
    return lambda value, number: [new for old in value if (new := number(label, old)) is not None]


def within(**labels: str) -> Translate:
    """Rewrite numbers under these keys of an object; those of rows that stay become null."""

    def translate(value: Any, number: Renumber) -> Any:
        if not isinstance(value, dict):
            return value
        named = {key: label for key, label in labels.items() if isinstance(value.get(key), int)}
        return value | {key: number(label, value[key]) for key, label in named.items()}

    return translate


def each_within(key: str, translate: Translate) -> Translate:
    """Rewrite each entry of the list under a key."""

    def translate_entries(value: Any, number: Renumber) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get(key), list):
            return value
        return value | {key: [translate(entry, number) for entry in value[key]]}

    return translate_entries


def under(key: str, translate: Translate) -> Translate:
    """Rewrite the value under a key."""
    return lambda value, number: (
        value | {key: translate(value[key], number)} if isinstance(value, dict) and key in value else value
    )


def in_turn(*translations: Translate) -> Translate:
    def translate(value: Any, number: Renumber) -> Any:
        for each in translations:
            value = each(value, number)
        return value

    return translate
