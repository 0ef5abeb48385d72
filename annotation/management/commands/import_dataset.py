import shlex
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from annotation.datasets.mapping.meanings import MEANINGS
from annotation.datasets.services.datasets import DETAILS
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute, resolve_format
from annotation.datasets.services.looking import has_own_names, look_at
from annotation.datasets.services.records import DATASET_ENDINGS
from annotation.management.base import (
    AssayCommand,
    add_details,
    add_import_arguments,
    add_normalisation,
    content_of,
    member_and_project,
)
from annotation.models.datasets import DATASET_FORMATS

SAMPLE_CHARACTERS = 100
EPILOG = """\
examples:
  manage.py import_dataset demo/examples/dataset.jsonl --project demo --user manager --name "My data"
  manage.py import_dataset chats.parquet --look --project demo --user manager
  manage.py import_dataset chats.parquet --project demo --user manager --name Chats \\
      --map dialogue=dialogue --map references=references --map model_a=output:A --map "*=ignore"
  manage.py import_dataset demo/examples/dataset.tsv --format tsv --project demo --user manager \\
      --name "My table" --json > report.json

The formats are described in docs/data-formats.md.
"""


class Command(AssayCommand):
    help = "Import a data set from JSON Lines, CSV, TSV or Parquet: whole, or not at all. Reports what the file holds."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_import_arguments(parser, formats=dict(DATASET_FORMATS))
        parser.add_argument("--name", default="", help="name of the data set to create; needed unless you only look")
        parser.add_argument("--look", action="store_true", help="show the fields and what they probably mean")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="FIELD=MEANING",
            help=f"what a field means, if it does not have Assay's name: {', '.join(MEANINGS)}; output:NAME is the"
            " output of the system NAME, *=ignore leaves out all fields that are not named (repeatable)",
        )
        add_normalisation(parser)
        parser.add_argument(
            "--turn-separator", default=TURN_SEPARATOR, help="between turns of a context, in CSV and TSV (%(default)s)"
        )
        add_details(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        if options["look"]:
            self._look(options)
            return
        if not options["name"]:
            raise CommandError("--name: found nothing; accepted: the name of the data set to create.")
        job = dataset_import_create(
            project=project,
            by=user,
            filename=options["file"].name,
            content=content_of(options["file"]),
            file_format=options["format"],
            mapping=dict(map(_pair, options["map"])),
            **{name: options[name] for name in ("name", "normalisation", "turn_separator", *DETAILS)},
        )
        self.run_import(job, dataset_import_execute, options)

    def _look(self, options: Mapping[str, Any]) -> None:
        """Print the fields of a file as options of ``--map``, with their first values."""
        filename, content = options["file"].name, content_of(options["file"])
        file_format = resolve_format(filename, options["format"], endings=DATASET_ENDINGS)
        look = look_at(content, filename=filename, file_format=file_format)
        if options["json"]:
            self.print_json({"fields": look.fields, "mapping": look.mapping})
            return
        if has_own_names(content, file_format):
            self.stdout.write("The fields have Assay's names: no --map is needed.")
        for field in look.fields:
            samples = ", ".join(field["samples"])[:SAMPLE_CHARACTERS]
            self.stdout.write(f"--map {shlex.quote(field['name'] + '=' + look.mapping[field['name']])}  # {samples}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, meaning = text.rpartition("=")
    if not (name and equals and meaning):
        raise CommandError(f"--map: found {text!r}; accepted: FIELD=MEANING.")
    return name, meaning
