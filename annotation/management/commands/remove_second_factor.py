"""Remove the second factor of an account whose owner has lost app and recovery codes. Make sure who asks.

The account then signs in with its password alone, and can set up another app. The log keeps a line of it.
"""

import getpass
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.accounts.services.second_factors import second_factor_remove
from annotation.management.base import AssayCommand, row_by_name
from annotation.models import User


class Command(AssayCommand):
    help = __doc__
    epilog = "example:\n  manage.py remove_second_factor ann"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        user = row_by_name(User.objects.all(), "username", options["username"], field="username")
        if not second_factor_remove(user=user, by=f"command, run by {_who_runs_it()}"):
            raise CommandError(f"The account {user.get_username()!r} has no second factor.")
        self.stdout.write(f"Removed the second factor of {user.get_username()}.")


def _who_runs_it() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user can lack a name
        return "an unnamed user"
