"""Write a project as one archive, which import_project reads in this or another Assay."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management.base import AssayCommand, project_by_slug, write_file
from annotation.transfer.services.export import project_chunks


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  manage.py export_project --project demo --out demo.assay.zip"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="slug of the project")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        write_file(options["out"], project_chunks(project), quiet=options["verbosity"] == 0)
        self.stdout.write(f"{options['out']}: {options['out'].stat().st_size:,} bytes")
