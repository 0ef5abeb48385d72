from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.services.files import TURN_SEPARATOR
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.management.importing import (
    add_common_arguments,
    content_of,
    member_and_project,
    progress_bar,
    refusing,
    tell,
)

EPILOG = """\
examples:
  manage.py import_dataset demo/examples/dataset.jsonl --project demo --user manager --name "My data"
  manage.py import_dataset demo/examples/dataset.tsv --format tsv --project demo --user manager \\
      --name "My table" --json > report.json

The formats are described in docs/data-formats.md.
"""


class Command(BaseCommand):
    help = "Import a data set from JSON Lines, CSV or TSV: whole, or not at all. Reports what the file holds."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_common_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the data set to create")
        parser.add_argument(
            "--normalisation", choices=RULES, default=DEFAULT_RULE, help="when two texts are one response (%(default)s)"
        )
        parser.add_argument(
            "--turn-separator", default=TURN_SEPARATOR, help="between turns of a context, in CSV and TSV (%(default)s)"
        )
        for name in ("description", "language", "licence", "attribution"):
            parser.add_argument(f"--{name}", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        details = {name: options[name] for name in ("description", "language", "licence", "attribution")}
        with refusing():
            job = dataset_import_create(
                project=project,
                by=user,
                name=options["name"],
                filename=options["file"].name,
                content=content_of(options["file"]),
                file_format=options["format"],
                normalisation=options["normalisation"],
                turn_separator=options["turn_separator"],
                **details,
            )
        with progress_bar() as progress:
            dataset_import_execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        tell(self, job, made={"dataset": job.dataset.slug} if job.dataset else {}, as_json=options["json"])
