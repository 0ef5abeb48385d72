"""Print who is better by the raters of some campaigns."""

import csv
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import AssayCommand
from annotation.models import Campaign
from annotation.quality.selectors.monitoring.stored import plain
from annotation.results.attributes import ATTRIBUTES, RATER, filters_from
from annotation.results.selectors.tables import TABLES, latex_table, paragraph, plain_results
from annotation.results.selectors.verdicts import Results, compute_results

FORMATS = ("text", "systems", "pairs", "latex", "paragraph", "json")


class Command(AssayCommand):
    help = "Print the systems' mean ratings or strengths, with intervals, ranks and differences."
    epilog = """examples:
  manage.py results --project demo --campaign "Output ratings"
  manage.py results --project demo --campaign "Output ratings" --split test --format latex > table.tex
"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--campaign", required=True, action="append", help="its name; may be repeated")
        parser.add_argument("--format", choices=FORMATS, default="text", help="what to print (%(default)s)")
        for key, attribute in ATTRIBUTES.items():
            parser.add_argument(f"--{key}", default="", help=f"only items with this value: {attribute.label.lower()}")

        parser.add_argument(
            "--rater",
            action="append",
            default=[],
            metavar="QUESTION=ANSWER",
            help="only raters who gave this answer to a question about themselves; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = Campaign.objects.filter(project__slug=options["project"]).select_related("dataset", "project")
        campaigns = list(rows.filter(name__in=options["campaign"]))
        if missing := sorted(set(options["campaign"]) - {campaign.name for campaign in campaigns}):
            known = ", ".join(rows.values_list("name", flat=True)) or "none"
            raise CommandError(f"campaign: found {', '.join(missing)}; accepted: {known}")
        results = compute_results(campaigns, filters_from({**options, **_answers(options["rater"])}))
        form = options["format"]
        if form == "json":
            self.print_json(plain_results(results, campaigns, plain(results)))
        elif form in TABLES:
            columns, table = TABLES[form]
            writer = csv.writer(self.stdout, lineterminator="\n")
            writer.writerows([columns, *table(results)])
        elif form == "latex":
            self.stdout.write(latex_table(results), ending="")
        elif form == "paragraph":
            self.stdout.write(paragraph(results, campaigns))
        else:
            self._print(results)

    def _print(self, results: Results) -> None:
        for verdict in results.criteria:
            self.stdout.write(f"{verdict.criterion}: {verdict.sentence}")
            for each in verdict.systems:
                interval = f"[{each.low:z.2f}, {each.high:z.2f}]"
                self.stdout.write(
                    f"{each.ranks:>7}  {each.estimate:z6.2f} {interval:<15} {each.ratings:>9,}  {each.name}"
                )
        for part in results.left_out.parts:
            self.stdout.write(f"left out: {part}")


def _answers(given: Sequence[str]) -> dict[str, str]:
    """Return the filters by raters' answers, each given as QUESTION=ANSWER."""
    if wrong := [text for text in given if "=" not in text]:
        raise CommandError(f"--rater: found {wrong[0]!r}; accepted: QUESTION=ANSWER, such as expertise=Well")
    return {f"{RATER}{name}": answer for name, _, answer in (text.partition("=") for text in given)}
