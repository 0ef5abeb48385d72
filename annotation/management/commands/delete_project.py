"""Delete a project with everything in it: rows, files, log. Without --confirm it only says what would go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from annotation.management.base import AssayCommand, progress_bar, project_by_slug
from annotation.models import Membership, Project, ProjectDeletion, Role, User
from annotation.projects.selectors.deletion import contents_of, deletion_problems
from annotation.projects.services.deletion import project_deletion_execute, project_deletion_request


class Command(AssayCommand):
    help = __doc__
    epilog = 'example:\n  manage.py delete_project --project chit-chat --user ann --confirm "Chit-chat"'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG", help="slug of the project")
        parser.add_argument("--user", required=True, help="username on whose behalf; an owner of the project")
        parser.add_argument("--confirm", metavar="NAME", help="the project's name: delete it")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        owner = owner_named(project, options["user"])
        if options["confirm"] is None:
            self._print_contents(project)
            return
        deletion = project_deletion_request(project=project, confirmation=options["confirm"], by=owner)
        with progress_bar() as progress:
            project_deletion_execute(deletion_id=deletion.pk, progress=progress)
        left = ProjectDeletion.objects.filter(pk=deletion.pk).first()
        if left is not None:
            raise CommandError(left.error or "A worker deletes the project.")
        self.stdout.write(f"Deleted {project.slug}.")

    def _print_contents(self, project: Project) -> None:
        contents = contents_of(project)
        self.stdout.write(f"With --confirm {project.name!r}, these go with {project.slug}:")
        for line in [*contents.rows, f"{filesizeformat(contents.bytes)} of files"]:
            self.stdout.write(f"  {line}")
        for problem in deletion_problems(project):
            self.stdout.write(f"Not yet: {problem}")


def owner_named(project: Project, username: str) -> User:
    owners = Membership.objects.select_related("user").filter(project=project, role=Role.OWNER)
    membership = owners.filter(user__username=username).first()
    if membership is None:
        raise CommandError(f"--user: found {username!r}; accepted: an owner of the project {project.slug!r}.")
    return membership.user
