"""Check that no amendment of a campaign was changed since it was made. Exits with 1 if one was."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand, campaign_by_name
from annotation.quality.services.amendments import chain_check


class Command(AssayCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--campaign", required=True, metavar="NAME|ID")

    def handle(self, *args: Any, **options: Any) -> None:
        check = chain_check(campaign_by_name(options["project"], options["campaign"]))
        if check.broken is not None:
            raise CommandError(check.sentence)
        self.stdout.write(check.sentence)
