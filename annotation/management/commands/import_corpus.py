import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError

from annotation.datasets.services.datasets import DETAILS
from annotation.management.base import (
    AssayCommand,
    add_details,
    add_member_arguments,
    member_and_project,
    progress_bar,
    row_errors,
)
from annotation.mining.index.parameters import TOKENIZERS, IndexParameters
from annotation.mining.opening import COMPRESSIONS, FORMATS
from annotation.mining.reading import TURN_SEPARATOR
from annotation.mining.services.corpora import corpus_stream
from annotation.mining.services.report import corpus_report_rows
from annotation.models import Corpus, JobState

DEFAULTS = IndexParameters()
STANDARD_INPUT = "-"
COLUMNS = ("context", "message", "response")
EPILOG = """\
examples:
  A file; its format follows from its content and name:
    manage.py import_corpus pool.jsonl.zst --project demo --user manager --name "Pool"

  A stream of any length, here with other names of columns:
    zstdcat pool.tsv.zst | manage.py import_corpus - --format tsv --project demo --user manager \\
        --name "Pool" --message post --response reply

The formats are described in docs/mining.md. Memory does not grow with the file.
"""


class Command(AssayCommand):
    help = "Index a corpus of conversations from a file or standard input: whole, or not at all."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE|-", help=f"{', '.join(FORMATS.values())}, perhaps compressed")
        add_member_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the corpus to create")
        parser.add_argument("--format", choices=FORMATS, help="if content and name do not show it")
        parser.add_argument(
            "--compression",
            choices=[name or "none" for name in COMPRESSIONS],
            help="if the content does not show it",
        )
        for name in COLUMNS:
            parser.add_argument(
                f"--{name}",
                metavar="COLUMN",
                help=f"column of the {name}: its name, or its number from 1 ({name})",
            )
        parser.add_argument("--no-header", action="store_true", help="the first line of a TSV is already a triple")
        parser.add_argument(
            "--turn-separator", default=TURN_SEPARATOR, help="between turns of a context that is one text (%(default)s)"
        )
        parser.add_argument("--k1", type=float, default=DEFAULTS.k1, help="of BM25 (%(default)s)")
        parser.add_argument("--b", type=float, default=DEFAULTS.b, help="of BM25 (%(default)s)")
        parser.add_argument("--tokenizer", choices=TOKENIZERS, default=DEFAULTS.tokenizer, help="(%(default)s)")
        add_details(parser)
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        stream, size = _opened(options["file"])
        with stream, progress_bar() as progress:
            corpus = corpus_stream(
                project=project,
                by=user,
                name=options["name"],
                filename=_name(options["file"]),
                stream=stream,
                size=size,
                options=_reading(options),
                progress=progress,
                **{name: options[name] for name in DETAILS},
            )
        self._print(corpus, as_json=options["json"])

    def _print(self, corpus: Corpus, *, as_json: bool) -> None:
        if as_json:
            document = {
                "state": corpus.state,
                "corpus": corpus.slug,
                "file": corpus.filename,
                "error": corpus.error,
                "triples": corpus.n_triples,
                "index_bytes": corpus.index_bytes,
                "index_signature": corpus.index_signature,
                "content_hash": corpus.content_hash,
                **corpus.report,
            }
            self.print_json(document)
        if corpus.state != JobState.DONE:
            raise CommandError(f"{corpus.error}{row_errors(corpus.report)}")
        if not as_json:
            self.print_counts(corpus_report_rows(corpus.report["counts"]), width=13)
            self.stdout.write(f"{corpus.index_bytes:>13,}  Bytes of the index, {corpus.index_signature}")
            self.stdout.write(f"  sha256 {corpus.content_hash}")


def _opened(name: str) -> tuple[BinaryIO, int]:
    """Return the stream and its number of bytes; 0 if unknown."""
    if name == STANDARD_INPUT:
        return sys.stdin.buffer, 0
    path = Path(name)
    try:
        return path.open("rb"), path.stat().st_size if path.is_file() else 0
    except OSError as error:
        raise CommandError(f"file: found {path} ({error.strerror}); accepted: a file that can be read.") from error


def _name(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else Path(name).name


def _reading(options: dict[str, Any]) -> dict[str, Any]:
    columns = {name: _column(options[name], options["no_header"]) for name in COLUMNS}
    return {
        "file_format": options["format"],
        "compression": {"none": ""}.get(options["compression"], options["compression"]),
        "columns": {name: column for name, column in columns.items() if column is not None},
        "header": not options["no_header"],
        "turn_separator": options["turn_separator"],
        "index": {name: options[name] for name in ("k1", "b", "tokenizer")},
    }


def _column(given: str | None, numbered: bool) -> str | int | None:
    return int(given) if given and numbered and given.isascii() and given.isdecimal() else given
