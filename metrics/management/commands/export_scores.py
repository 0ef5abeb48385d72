"""Export the score runs of a data set."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from annotation.management.base import AssayCommand, project_by_slug, row_by_name
from metrics.services.score_exports import archive_chunks


class Command(AssayCommand):
    help = "Write all finished runs of a data set, its texts and mean ratings as a .zip in mt-metrics-eval's layout."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--dataset", required=True, metavar="SLUG")
        parser.add_argument("--to", type=Path, metavar="FILE", help="by default DATASET-scores.zip in this folder")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = row_by_name(project_by_slug(options["project"]).datasets, "--dataset", options["dataset"])
        path: Path = options["to"] or Path(f"{dataset.slug}-scores.zip")
        try:
            with path.open("xb") as file:
                for chunk in archive_chunks(dataset):
                    file.write(chunk)
        except OSError as error:
            raise CommandError(f"--to: found {path} ({error.strerror}); accepted: a file that can be made.") from error
        self.stdout.write(str(path))
