"""From a corpus to a score in one command."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.core.errors import AnnotationError
from annotation.models import User
from metrics.models import SystemScore
from metrics.selectors.runs import system_scores
from metrics.services.tour import Tour, tour

DESCRIPTION = """\
Walk the whole path once, in a project of its own: rate original responses, select seeds, index a corpus, mine it, rate
what was mined, weigh, release, score. Conversations are real (DSTC7), raters are simulated. docs/tour.md shows each
page on the way.

Examples:
  manage.py tour --user manager
  manage.py tour --user manager --items 20 --n 8 --negatives 0
"""


class Command(BaseCommand):
    help = DESCRIPTION

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="username of the new project's owner")
        parser.add_argument("--items", type=int, default=40, help="conversations to begin with, 4 to 900 (40)")
        parser.add_argument("--n", type=int, default=15, help="mined references for each seed, 1 to 100 (15)")
        parser.add_argument("--negatives", type=int, default=2, help="random replies for each seed, 0 to 100 (2)")

    def handle(self, *args: Any, **options: Any) -> None:
        for name, least, most in (("items", 4, 900), ("n", 1, 100), ("negatives", 0, 100)):
            if not least <= options[name] <= most:
                raise CommandError(f"--{name}: found {options[name]}; accepted: {least} to {most}.")
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"--user: found {options['user']!r}; no such user.")
        try:
            made = tour(
                by=user, items=options["items"], n=options["n"], negatives=options["negatives"], watch=self.step
            )
        except AnnotationError as error:
            raise CommandError(error.message) from error
        self.report(made)

    def step(self, number: int, what: str) -> None:
        self.stdout.write(f"{number}  {what}")

    def report(self, made: Tour) -> None:
        counts = made.release.report["references"]
        self.stdout.write(
            f"\n{made.answers:,} ratings; {counts['weighted']:,} references weighed, {counts['positive']:,} above 0, "
            f"{counts['negative']:,} below; release {made.release}, {made.release.content_hash[:12]}\n\n"
        )
        for run in made.runs:
            scores = ", ".join(map(_score, system_scores(run)))
            self.stdout.write(f"{run.metric}, {run.subset['kind']} references: {scores}\n")
        self.stdout.write(f"\nLook at it page by page: /p/{made.project.slug}/\n")


def _score(one: SystemScore) -> str:
    if one.score is None:
        return f"{one.system.name} undefined: {one.undefined_reason}"
    clamped = ", ".join(f"{order}-grams" for order in one.clamped_orders)
    return f"{one.system.name} {one.score:.4f}" + (f" ({clamped}: the sum is not above 0)" if clamped else "")
