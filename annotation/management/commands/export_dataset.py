"""Write a data set as JSON Lines, in the format that import_dataset reads."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.datasets.services.export import dataset_chunks, dataset_hash
from annotation.management.base import AssayCommand, project_by_slug, row_by_name, write_file


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  manage.py export_dataset --project demo --dataset chats --out chats.jsonl"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="slug of the project")
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="slug of the data set")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = row_by_name(project_by_slug(options["project"]).datasets, "--dataset", options["dataset"])
        write_file(options["out"], dataset_chunks(dataset), quiet=options["verbosity"] == 0)
        self.stdout.write(f"{options['out']}: SHA-256 {dataset_hash(dataset)}")
