"""Import scores made elsewhere."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.core.errors import ImportRefused
from annotation.core.problems import problem_sentence
from annotation.management.base import content_of, member_and_project, refusing
from annotation.models import Dataset, Project
from metrics.services.score_imports import ImportOptions, score_file_import, score_file_look

EPILOG = """\
examples:
  manage.py import_scores comet.csv --project demo --user manager --dataset dstc7 --name COMET-22
  manage.py import_scores BLEURT-20-refA.seg.score --project demo --user manager --dataset dstc7 --low 0 --high 1
  manage.py import_scores metric-scores.tar.gz --project demo --user manager --dataset dstc7 --lower TER-refA --check

The files are described in docs/scores-elsewhere.md.
"""


class Command(BaseCommand):
    help = "Import scores made elsewhere as score runs. The same scores again are looked up."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a table, a score file of mt-metrics-eval, or an archive of those")
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="whose systems and items were scored")
        parser.add_argument("--name", default="", help="of the metric; score files name it themselves")
        parser.add_argument("--lower-is-better", action="store_true", help="of every metric in the file")
        parser.add_argument("--lower", nargs="+", default=[], metavar="NAME", help="metrics of which lower is better")
        parser.add_argument("--low", type=float, help="the lowest possible score (no bound)")
        parser.add_argument("--high", type=float, help="the highest possible score (no bound)")
        parser.add_argument("--note", default="", help="version and settings of the scorer, a link, a licence")
        parser.add_argument("--check", action="store_true", help="say what the file holds, and store nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        path: Path = options["file"]
        asked: dict[str, Any] = {
            "dataset": self.dataset(project, options["dataset"]),
            "filename": path.name,
            "content": content_of(path),
            "options": ImportOptions(
                name=options["name"],
                lower_is_better=options["lower_is_better"],
                lower=options["lower"],
                lowest=options["low"],
                highest=options["high"],
                note=options["note"],
            ),
        }
        with refusing():
            try:
                found = self.looked_at(asked) if options["check"] else self.imported(asked, user)
            except ImportRefused as refusal:
                for row in refusal.rows[1:]:
                    self.stderr.write(problem_sentence(row))
                raise
        if options["json"]:
            self.stdout.write(json.dumps(found, ensure_ascii=False))
            return
        for one in found:
            self.stdout.write(one["signature"] if "signature" in one else f"{one['name']} ({one['level']})")
            for row in one["systems"]:
                score = "undefined" if row["score"] is None else f"{row['score']:.4f}"
                self.stdout.write(f"  {row['system']:<24}{score}")
            self.stdout.write(f"  {one['items']:,} items, {one['missing']:,} scores missing{one['state']}")

    @staticmethod
    def dataset(project: Project, slug: str) -> Dataset:
        found = project.datasets.filter(slug=slug).first()
        if found is None:
            names = ", ".join(project.datasets.order_by("slug").values_list("slug", flat=True)) or "none"
            raise CommandError(f"--dataset: found {slug!r}; accepted: {names}.")
        return found

    @staticmethod
    def looked_at(asked: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "name": one.metric.label,
                "level": one.metric.level,
                "items": len(one.places),
                "missing": one.n_missing,
                "state": "",
                "systems": [{"system": row["system"], "score": row.get("mean")} for row in one.rows()],
            }
            for one in score_file_look(**asked)
        ]

    @staticmethod
    def imported(asked: dict[str, Any], user: Any) -> list[dict[str, Any]]:
        return [
            {
                "run": run.pk,
                "signature": run.signature,
                "items": run.report["items"],
                "missing": run.report["missing"],
                "state": f"; run {run.pk}" + ("" if created else ", imported before"),
                "systems": [
                    {"system": score.system.name, "score": score.score}
                    for score in run.scores.select_related("system").order_by("position")
                ],
            }
            for run, created in score_file_import(**asked, by=user)
        ]
