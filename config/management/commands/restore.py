"""Fill an empty installation from a backup, whole or not at all, and bring its tables to this version.

Every file's hash is compared before anything is written."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.template.defaultfilters import filesizeformat

from annotation.management.base import AssayCommand, progress_bar
from config.backups.archive import checked_contents
from config.backups.installation import Installation
from config.backups.services import KEY, backup_restore


class Command(AssayCommand):
    help = __doc__
    epilog = (
        "examples:\n  ASSAY_DATA_DIR=/srv/new manage.py restore /backups/assay-2026-11-28.tar\n"
        "  manage.py restore --check /backups/assay-2026-11-28.tar"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="an archive that `backup` wrote")
        parser.add_argument("--check", action="store_true", help="compare every hash, and write nothing")
        parser.add_argument(
            "--binaries", type=Path, metavar="FOLDER", help="of pg_restore, for a later PostgreSQL than 18"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path}: found no file; accepted: an archive that `backup` wrote.")
        with progress_bar() as progress:
            if options["check"]:
                contents = checked_contents(path, progress)
            else:
                known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
                installation = Installation.here(options["binaries"])
                is_generated = installation.has_own_key()  # else the environment gives it, also afterwards
                contents = backup_restore(path, installation, known=known, progress=progress)
        written = f"{len(contents.members):,} files, {filesizeformat(contents.size)}, written at {contents.created}"
        if options["check"]:
            self.stdout.write(f"{path} is whole: {written} by version {contents.product}.")
            return
        connection.close()
        call_command("migrate", verbosity=0)
        self.stdout.write(f"Restored {written}.")
        if contents.key != installation.key_digest and not (KEY in contents.members and is_generated):
            self.stdout.write(
                "Its secret key is another one than SECRET_KEY: providers' secrets, their ids of raters and raters' "
                "links stay unreadable until it is SECRET_KEY, or one of SECRET_KEY_FALLBACKS."
            )
        if settings.EMBEDDED_POSTGRES:
            self.stdout.write("Start it with: manage.py up")
