"""Write the whole installation into one file: database, corpora, trained models and secret key. Raters go on working.

The file holds everything that the installation holds, personal data too: keep it as safe. A secret key that the
environment gives is not in it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat

from annotation.management.base import AssayCommand, progress_bar
from config.backups.installation import Installation
from config.backups.services import DUMP, KEY, backup_write


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  manage.py backup /backups/assay-2026-11-28.tar"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive to write, a new file")
        parser.add_argument(
            "--binaries", type=Path, metavar="FOLDER", help="of pg_dump, for a later PostgreSQL than 18"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        installation = Installation.here(options["binaries"])
        with progress_bar() as progress:
            contents = backup_write(options["file"], installation, product=settings.VERSION, progress=progress)
        files = len(contents.members.keys() - {DUMP, KEY})
        self.stdout.write(
            f"{options['file']}: the database of {contents.created} and {files:,} files, "
            f"{filesizeformat(contents.size)}."
        )
        if KEY not in contents.members:
            self.stdout.write("Not in it: the secret key, which the environment gives. Keep it, too.")
