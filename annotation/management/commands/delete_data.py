"""Delete a campaign or a data set with everything that depends on it. Without --confirm it only says what would go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand, campaign_by_name, progress_bar, project_by_slug, row_by_name
from annotation.management.commands.delete_project import owner_named
from annotation.models import Campaign, Dataset, JobState
from annotation.removal.services import deletion_execute, deletion_request, removal_of


class Command(AssayCommand):
    help = __doc__
    epilog = 'example:\n  manage.py delete_data --project chit-chat --user ann --dataset chats --confirm "Chats"'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="slug of the project")
        parser.add_argument("--user", required=True, help="username on whose behalf; an owner of the project")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dataset", metavar="SLUG", help="slug of the data set")
        what.add_argument("--campaign", metavar="NAME|ID", help="name or id of the campaign")
        parser.add_argument("--confirm", metavar="NAME", help="its name: delete it")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        owner = owner_named(project, options["user"])
        row: Dataset | Campaign
        if options["dataset"]:
            row = row_by_name(project.datasets, "--dataset", options["dataset"])
        else:
            row = campaign_by_name(project.slug, options["campaign"])
        if options["confirm"] is None:
            removal = removal_of(row)
            self.stdout.write(f"With --confirm {row.name!r}, these go:")
            for line in [*removal.rows, *removal.names]:
                self.stdout.write(f"  {line}")
            for problem in removal.problems:
                self.stdout.write(f"Not yet: {problem}")
            return
        if options["confirm"].strip() != row.name.strip():
            raise CommandError(f"--confirm: found {options['confirm']!r}; accepted: {row.name}")
        deletion = deletion_request(row=row, confirmation=options["confirm"], by=owner)
        with progress_bar() as progress:
            deletion_execute(deletion_id=deletion.pk, progress=progress)
        deletion.refresh_from_db()
        if deletion.state != JobState.DONE:
            raise CommandError(deletion.error or "A worker deletes it.")
        self.stdout.write(f"Deleted {row.name}.")
