"""Encrypt again, under SECRET_KEY, everything that the database has under a key of SECRET_KEY_FALLBACKS.

These are the ids that providers give raters, with the digests by which raters are found, providers' messages and
secrets, and second factors. Then the former key is needed for sessions, raters' cookies and members' webhooks alone.
Web and workers may go on meanwhile, if all of them have both keys. It may be run again.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand
from annotation.records.services.rotation import key_rotate, unreadable_forget


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  SECRET_KEY=new SECRET_KEY_FALLBACKS=former manage.py rotate_secret_key"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--forget-unreadable",
            action="store_true",
            help="erase ids of raters that no key opens, if their key is lost: they are new raters next time",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["forget_unreadable"]:
            self.print_counts([(f"{label} erased", n) for label, n in unreadable_forget().items()])
        done = list(key_rotate())
        self.print_counts([(f"{each.label} encrypted again", each.rewritten) for each in done])
        doubled = [row for each in done for row in each.doubled]
        for row in doubled:
            self.stdout.write(f"{row} has a twin under the present key, as one person came twice while it changed.")
        if left := [f"{each.unreadable} {each.label}" for each in done if each.unreadable]:
            raise CommandError(
                f"Found {', '.join(left)} that no key opens; accepted: SECRET_KEY and every former key among "
                "SECRET_KEY_FALLBACKS."
            )
        if doubled:
            raise CommandError(
                f"Found {len(doubled)} rows with a twin; accepted: none, before the former key is removed. Keep the "
                "key, or remove it and run this with --forget-unreadable: then the later row of each person is used."
            )
