"""Make a project from an archive that export_project, a page or the API wrote: whole, or not at all."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand, content_of, progress_bar, row_errors
from annotation.models import JobState, User
from annotation.transfer.services.imports import project_import_create, project_import_execute


class Command(AssayCommand):
    help = __doc__
    epilog = 'example:\n  manage.py import_project demo.assay.zip --user manager --name "Demo, moved"'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive")
        parser.add_argument("--user", required=True, help="username of the owner of the new project")
        parser.add_argument("--name", default="", help="name of the new project, by default the one that it had")
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"--user: found {options['user']!r}; accepted: a username on this server.")
        job = project_import_create(
            by=user, filename=options["file"].name, content=content_of(options["file"]), name=options["name"]
        )
        with progress_bar() as progress:
            project_import_execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        if options["json"]:
            slug = job.project.slug if job.project else None
            self.print_json({"state": job.state, "project": slug, "error": job.error, **job.report})
        if job.state != JobState.DONE or job.project is None:
            raise CommandError(f"{job.error}{row_errors(job.report)}")
        if not options["json"]:
            self._print_report(job.project.slug, job.report)

    def _print_report(self, slug: str, report: dict[str, Any]) -> None:
        hashes = report["hashes"]
        self.stdout.write(f"{slug}: {sum(row['equal'] for row in hashes)} of {len(hashes)} hashes equal")
        for row in hashes:
            if not row["equal"]:
                self.stdout.write(
                    f"  {row['kind']} {row['name']}: {row['published']}, here {row['computed'] or 'none'}"
                )
        for row in report["missing"]:
            self.stdout.write(f"  not in the archive: {row['kind']} {row['name']}, {row['digest']}")
