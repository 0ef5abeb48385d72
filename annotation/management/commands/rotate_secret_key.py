"""Encrypt again, under SECRET_KEY, everything that the database has under a key of SECRET_KEY_FALLBACKS.

These are the ids that providers give raters, with the digests by which raters are found, providers' messages and
secrets, and second factors. Then the former key is needed for sessions, raters' cookies and members' webhooks alone.
Web and workers may go on meanwhile, if all of them have both keys. It may be run again.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand
from annotation.models import Recruitment
from annotation.records.services.rotation import Rotated, key_rotate, unreadable_count, unreadable_forget
from annotation.recruitment.services.forgetting import recruitments_to_read


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  SECRET_KEY_FILE=new SECRET_KEY_FALLBACKS_FILE=former manage.py rotate_secret_key"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--forget-unreadable",
            action="store_true",
            help="count ids of raters that no key opens, because their key is lost; with --yes erase them: the same "
            "people are new raters next time",
        )
        parser.add_argument("--yes", action="store_true", help="erase what --forget-unreadable counts")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["forget_unreadable"]:
            self._forget(confirmed=options["yes"])
        done = list(key_rotate())
        self.print_counts([(f"{each.label} encrypted again", each.rewritten) for each in done])
        doubled = [row for each in done for row in each.doubled]
        for row in doubled:
            self.stdout.write(f"{row}: the person came twice while the key changed, and has another row already.")
        unread = recruitments_to_read()
        for recruitment in unread:
            self.stdout.write(f"“{recruitment}” of “{recruitment.campaign}” has erased submissions: refresh it.")
        left = [each for each in done if each.unreadable]
        if options["forget_unreadable"]:
            for each in left:
                self.stdout.write(f"{each.unreadable} {each.label} no key opens: to be entered again.")
            left = [each for each in left if not each.entered_again]
        self._refuse(left, doubled, unread)

    def _forget(self, *, confirmed: bool) -> None:
        counts = unreadable_count()
        verb = "erased" if confirmed else "to erase"
        self.print_counts([(f"{label} {verb}", n) for label, n in counts.items()])
        if confirmed:
            unreadable_forget()
        elif any(counts.values()):
            raise CommandError("Nothing was erased. If their key is lost for good, run this again with --yes.")

    def _refuse(self, left: list[Rotated], doubled: list[str], unread: list[Recruitment]) -> None:
        """Say what still needs the former key, the first of it."""
        if left:
            raise CommandError(
                f"Found {', '.join(f'{each.unreadable} {each.label}' for each in left)} that no key opens; accepted: "
                "SECRET_KEY and every former key among SECRET_KEY_FALLBACKS."
            )
        if doubled:
            raise CommandError(
                f"Found {len(doubled)} rows of people who have another; accepted: none, before the former key is "
                "removed. Keep the key, or remove it and run this with --forget-unreadable: then the later row of each "
                "person is used."
            )
        if unread:
            raise CommandError(
                f"Found {len(unread)} studies whose erased submissions are known by a former key; accepted: none, "
                "before it is removed, else these submissions come back. Refresh the studies, and run this again."
            )
