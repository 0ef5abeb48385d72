"""Import scores made elsewhere."""

import json
import math
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.core.errors import ImportRefused
from annotation.core.problems import problem_sentence
from annotation.management.base import (
    AssayCommand,
    add_member_arguments,
    content_of,
    member_and_project,
    row_by_name,
)
from metrics.selectors.ranges import range_words
from metrics.selectors.score_scales import IN_FILE, PROPOSED, STATED
from metrics.services.score_imports import import_summary, previews_taken, score_file_import, score_file_preview
from metrics.services.score_options import ImportOptions

EPILOG = """\
examples:
  manage.py import_scores comet.csv --project demo --user manager --dataset dstc7 --name COMET-22
  manage.py import_scores BLEURT-20-refA.seg.score --project demo --user manager --dataset dstc7 --low 0 --high 1
  manage.py import_scores metric-scores.tar.gz --project demo --user manager --dataset dstc7 --lower TER-refA --check
  manage.py import_scores judges.csv --project demo --user manager --dataset dstc7 --scale gpt4=1..10 COMET=none
  manage.py import_scores all.csv --project demo --user manager --dataset dstc7 --skip ann bo --names judge=GPT-4

docs/scores-elsewhere.md describes the files.
"""


class Command(AssayCommand):
    help = "Import scores made elsewhere as score runs. The same scores are imported once."

    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a table, a score file of mt-metrics-eval, or an archive of those")
        add_member_arguments(parser)
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="whose systems and items were scored")
        parser.add_argument("--name", default="", help="of the metric; score files name it themselves")
        parser.add_argument(
            "--names",
            nargs="+",
            default=[],
            metavar="COLUMN=NAME",
            help="what the metric of a column is called instead",
        )
        parser.add_argument("--skip", nargs="+", default=[], metavar="NAME", help="columns or metrics not to import")
        parser.add_argument("--lower-is-better", action="store_true", help="for every metric in the file")
        parser.add_argument("--lower", nargs="+", default=[], metavar="NAME", help="metrics for which lower is better")
        parser.add_argument("--low", type=float, help="the lowest possible score of every metric")
        parser.add_argument("--high", type=float, help="the highest possible score of every metric")
        parser.add_argument(
            "--scale",
            nargs="+",
            default=[],
            metavar="SCALE",
            help="raters, none or LOW..HIGH; of one metric: NAME=1..5 (without any bound the raters' scale if the "
            "scores seem to lie on it, else none)",
        )
        parser.add_argument("--note", default="", help="version and settings of the scorer, a link, a licence")
        parser.add_argument("--check", action="store_true", help="show what the file holds, and store nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        path: Path = options["file"]
        file: dict[str, Any] = {
            "dataset": row_by_name(project.datasets, "--dataset", options["dataset"]),
            "filename": path.name,
            "content": content_of(path),
            "max_bytes": settings.UPLOAD_MAX_BYTES,
            "options": ImportOptions(
                name=options["name"],
                names=options["names"],
                skip=options["skip"],
                lower_is_better=options["lower_is_better"],
                lower=options["lower"],
                lowest=options["low"],
                highest=options["high"],
                scale=options["scale"],
                note=options["note"],
            ),
        }
        try:
            reports = self._preview(file) if options["check"] else self._imported(file, user)
        except ImportRefused as refusal:
            for row in refusal.rows[1:]:
                self.stderr.write(problem_sentence(row))
            raise
        if options["json"]:
            self.stdout.write(json.dumps(reports, ensure_ascii=False))
            return
        for report in reports:
            self.stdout.write(report["signature"] if "signature" in report else f"{report['name']} ({report['level']})")
            for row in report["systems"]:
                score = "undefined" if row["score"] is None else f"{row['score']:z.4f}"
                self.stdout.write(f"  {row['system']:<24}{score}")
            self.stdout.write(f"  {report['items']:,} items, {report['missing']:,} scores missing{report['state']}")
            scores = f"scores {report['scores']}; " if report["scores"] else ""
            self.stdout.write(f"  {scores}{_range_in_words(report)}")

    @staticmethod
    def _preview(file: dict[str, Any]) -> list[dict[str, Any]]:
        taken = previews_taken(score_file_preview(**file), file["options"])
        return [preview.summary() | {"state": ""} for preview in taken]

    @staticmethod
    def _imported(file: dict[str, Any], user: Any) -> list[dict[str, Any]]:
        reports = []
        for run, created in score_file_import(**file, by=user):
            state = f"; run {run.number}" + ("" if created else ", imported before")
            reports.append(import_summary(run) | {"run": run.number, "signature": run.signature, "state": state})
        return reports


def _range_in_words(report: dict[str, Any]) -> str:
    """Return the range that the scores are taken to have, and where it comes from."""
    low, high = report["lowest"], report["highest"]
    if low is None and high is None:
        return "no range" if report["range_from"] == STATED else "no range known: state one with --scale"
    ends = range_words(-math.inf if low is None else low, math.inf if high is None else high)
    origin = {PROPOSED: "assumed from the scores", IN_FILE: "as the archive says"}
    return f"range {ends}, {origin.get(report['range_from'], 'as stated')}"
