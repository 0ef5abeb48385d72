"""From a corpus to a score in one command."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError

from annotation.management.base import AssayCommand
from annotation.models import User
from metrics.models import SystemScore
from metrics.selectors.runs import system_scores
from metrics.services.tour import Tour, tour

DESCRIPTION = """\
Walk the whole path once, in a new project: rate original responses, select seeds, index a corpus, mine references, rate
them, weigh, release, score. Conversations are real (DSTC7), raters are simulated. docs/tour.md shows each page on the
way.

Examples:
  manage.py tour --user manager
  manage.py tour --user manager --items 20 --n 8 --negatives 0
"""


class Command(AssayCommand):
    help = DESCRIPTION

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
        counts = {name: options[name] for name in ("items", "n", "negatives")}
        self.report(tour(by=user, **counts, progress=self.step))

    def step(self, number: int, summary: str) -> None:
        self.stdout.write(f"{number}  {summary}")

    def report(self, result: Tour) -> None:
        counts = result.release.report["references"]
        self.stdout.write(
            f"\n{result.answers:,} ratings; {counts['weighted']:,} references weighed, {counts['positive']:,} above 0, "
            f"{counts['negative']:,} below; release {result.release}, {result.release.content_hash[:12]}\n\n"
        )
        for run in result.runs:
            scores = ", ".join(map(_score_text, system_scores(run)))
            self.stdout.write(f"{run.metric}, {run.subset['kind']} references: {scores}\n")
        self.stdout.write(f"\nLook at it page by page: /p/{result.project.slug}/\n")


def _score_text(score: SystemScore) -> str:
    if score.score is None:
        return f"{score.system.name} undefined: {score.undefined_reason}"
    clamped = ", ".join(f"{order}-grams" for order in score.clamped_orders)
    return f"{score.system.name} {score.score:.4f}" + (f" ({clamped}: the sum is not above 0)" if clamped else "")
