"""Maintain the translations of the rater's pages: collect texts to translate, and compile translations.

    .venv/bin/python -m scripts.messages            gather into locale/*/LC_MESSAGES/django.po, then compile
    .venv/bin/python -m scripts.messages --check    complain if a catalogue is out of date, incomplete or not compiled

Needs no gettext tools: Django turns a template into something like Python, and Babel reads that.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages import pofile
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from django.conf import settings
from django.utils.translation import to_locale

from annotation.rating.languages import TRANSLATIONS

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
LANGUAGES = tuple(to_locale(language.code) for language in TRANSLATIONS)
SOURCES = (
    "templates/base_rater.html",
    "templates/annotation/rating/*.html",
    "templates/annotation/recruitment/provider_*.html",
    "templates/annotation/campaigns/questions/*.html",
    "templates/annotation/campaigns/scales/*.html",
    "annotation/campaigns/presentations/*.py",
    "annotation/campaigns/questions/*.py",
    "annotation/campaigns/scales/*.py",
    "annotation/rating/views/*.py",
    "annotation/rating/selectors/screens.py",
    "annotation/rating/selectors/shown.py",
    "annotation/rating/services/written.py",
    "annotation/recruitment/views/leaving.py",
)
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # files must not depend on the time of compilation
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")


def collected() -> Catalog:
    """Return a catalogue of all texts of the rater's pages, sorted by path."""
    catalog = Catalog(charset="utf-8")
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        for message, context in _texts(path):
            flags = ["python-format"] if PLACEHOLDER.search(message if isinstance(message, str) else message[0]) else []
            catalog.add(message, locations=[(path.relative_to(ROOT).as_posix(), None)], context=context, flags=flags)
    return catalog


def _texts(path: Path) -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    from django.utils.translation.template import templatize  # reads the settings

    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        # Without indentation, which would have to follow Python's rules: the text is read as Python below.
        text = re.sub(r"(?m)^[ \t]+", "", templatize(text, origin=str(path)))
    for _, message, _, context in extract("python", io.BytesIO(text.encode()), keywords=KEYWORDS):
        yield message, context


def catalogue_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def updated(language: str, template: Catalog) -> Catalog:
    """Return the language's catalogue with the current texts; translations of removed texts are dropped."""
    path = catalogue_path(language)
    known = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            known = pofile.read_po(file, locale=language)
    catalog = Catalog(
        locale=language,
        project="Assay",
        version="1",
        charset="utf-8",
        fuzzy=False,
        header_comment="# The rater's pages.",
    )
    for message in template:
        if not message.id:
            continue
        before = known.get(message.id, message.context)
        string = before.string if before is not None else None
        catalog.add(message.id, string, message.locations, message.flags, context=message.context)
    return catalog


def written(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    pofile.write_po(file, catalog, width=120, omit_header=False, sort_output=True)
    # Without dates, the same texts give the same file.
    lines = [line for line in file.getvalue().splitlines(keepends=True) if not _is_noise(line)]
    return b"".join(lines)


def _is_noise(line: bytes) -> bool:
    return line.startswith(
        (b'"POT-Creation', b'"PO-Revision', b'"Last-Translator', b'"Language-Team', b'"Report-Msgid', b'"Generated-By')
    )


def compiled(po: bytes, language: str) -> bytes:
    file, catalog = io.BytesIO(), pofile.read_po(io.BytesIO(po), locale=language)
    catalog.creation_date = catalog.revision_date = EPOCH
    write_mo(file, catalog)
    return file.getvalue()


def problems(language: str, template: Catalog) -> list[str]:
    """Return the problems of a language's files: none if they are complete and compiled."""
    path = catalogue_path(language)
    if not path.exists():
        return [f"{path}: missing"]
    catalog = updated(language, template)
    faults = [f"{path}: {fault}" for message in catalog if message.id for fault in _faults(message, catalog)]
    if path.read_bytes() != written(catalog):
        faults.append(f"{path}: out of date; run scripts.messages")
    mo = path.with_suffix(".mo")
    if not mo.exists() or mo.read_bytes() != compiled(path.read_bytes(), language):
        faults.append(f"{mo}: not compiled from its catalogue; run scripts.messages")
    return faults


def _faults(message: Message, catalog: Catalog) -> Iterator[str]:
    ids = message.id if isinstance(message.id, tuple) else (message.id,)
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    wanted = catalog.num_plurals if len(ids) > 1 else 1
    if len(strings) != wanted or not all(strings):
        yield f"not translated: {ids[0]!r}"
        return
    accepted = set(PLACEHOLDER.findall(ids[-1]))
    for string in strings:
        used = set(PLACEHOLDER.findall(string))
        # A plural form for one or two may spell the number out.
        if not used <= accepted or (len(ids) == 1 and used != accepted):
            yield f"other placeholders than {sorted(accepted)}: {string!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if something is wrong")
    check = parser.parse_args().check
    if not settings.configured:
        settings.configure(USE_I18N=True)
    template = collected()
    for language in LANGUAGES:
        path = catalogue_path(language)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(written(updated(language, template)))
            path.with_suffix(".mo").write_bytes(compiled(path.read_bytes(), language))
    faults = [fault for language in LANGUAGES for fault in problems(language, template)]
    print("\n".join(faults) or f"{len(template)} texts in {len(LANGUAGES)} languages, complete and compiled.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
