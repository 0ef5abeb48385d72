from argparse import ArgumentParser
from typing import Any

from annotation.datasets.services.datasets import DETAILS
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.management.base import (
    AssayCommand,
    add_details,
    add_import_arguments,
    add_normalisation,
    content_of,
    member_and_project,
)

EPILOG = """\
examples:
  manage.py import_dataset demo/examples/dataset.jsonl --project demo --user manager --name "My data"
  manage.py import_dataset demo/examples/dataset.tsv --format tsv --project demo --user manager \\
      --name "My table" --json > report.json

The formats are described in docs/data-formats.md.
"""


class Command(AssayCommand):
    help = "Import a data set from JSON Lines, CSV or TSV: whole, or not at all. Reports what the file holds."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_import_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the data set to create")
        add_normalisation(parser)
        parser.add_argument(
            "--turn-separator", default=TURN_SEPARATOR, help="between turns of a context, in CSV and TSV (%(default)s)"
        )
        add_details(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        job = dataset_import_create(
            project=project,
            by=user,
            filename=options["file"].name,
            content=content_of(options["file"]),
            file_format=options["format"],
            **{name: options[name] for name in ("name", "normalisation", "turn_separator", *DETAILS)},
        )
        self.run_import(job, dataset_import_execute, options)
