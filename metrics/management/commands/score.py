"""Score systems from the command line."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.errors import AnnotationError
from annotation.models import JobState, Project, Release, System
from annotation.selectors.releases import finished_releases, release_named, release_names
from annotation.services.jobs import job_requeue
from metrics.management.progress import followed
from metrics.models import ScoreRun
from metrics.selectors.runs import system_scores
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset

DESCRIPTION = """\
Score systems with one metric against the references of a release. The same signature is never computed twice.

Examples:
  manage.py score --project demo --metric bleu
  manage.py score --project demo --metric delta_bleu --subset "w>=0.6" --systems TeamA TeamB --order 4
  manage.py score --project demo --release dstc7-references/v1 --metric sbleu --subset original --json
"""


class Command(BaseCommand):
    help = DESCRIPTION

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--metric", required=True, help="bleu, sbleu or delta_bleu")
        parser.add_argument("--release", help="reference-set/v2, or reference-set: its newest; by default, of any")
        parser.add_argument("--subset", default="all", help='references: all, original, "w>0", "w>=0.6" (all)')
        parser.add_argument("--items", default="referenced", choices=("referenced", "positive"),
                            help="items that have a reference, or one of positive weight (referenced)")  # fmt: skip
        parser.add_argument("--systems", nargs="+", help="by default all that are not references")
        parser.add_argument("--order", type=int, default=2, help="longest n-gram, 1 to 4 (2)")
        parser.add_argument("--tokenize", default="whitespace", help="whitespace, 13a, intl, char, zh or none")
        parser.add_argument("--keep-case", action="store_true", help="do not lowercase")
        parser.add_argument("--semantics", help="ΔBLEU's formula: galley2015 or sacrebleu2018")
        parser.add_argument("--json", action="store_true", help="print scores, details and counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project: found {options['project']!r}; no such project.")
        release = self.release(project, options["release"])
        try:
            run, _ = score_run_create(
                project=project,
                release=release,
                systems=self.systems(release, options["systems"]),
                metric=options["metric"],
                parameters=self.parameters(options),
                subset=Subset.parse(options["subset"], items=options["items"]),
                by=None,
            )
        except (AnnotationError, ValueError) as error:
            raise CommandError(str(error)) from error
        job_requeue(run)
        followed(ScoreRun, run.pk, lambda: score_run_execute(run_id=run.pk), total=100, quiet=options["json"])
        run.refresh_from_db()
        if run.state != JobState.DONE:
            raise CommandError(f"Run {run.pk} is {run.get_state_display().lower()}. {run.error}")
        self.report(run, as_json=options["json"])

    def release(self, project: Project, written: str | None) -> Release:
        found = finished_releases(project).first() if written is None else release_named(project, written)
        if found is None:
            raise CommandError(f"--release: found {written!r}; accepted: {release_names(project)}.")
        return found

    def systems(self, release: Release, names: list[str] | None) -> list[System]:
        every = {system.name: system for system in release.reference_set.dataset.systems.all()}
        wanted = names or [name for name in every if name not in release.reference_set.source_systems]
        missing = [name for name in wanted if name not in every]
        if missing:
            raise CommandError(f"--systems: found {missing[0]!r}; accepted: {', '.join(every)}.")
        return [every[name] for name in wanted]

    def parameters(self, options: dict[str, Any]) -> dict[str, Any]:
        given = {
            "max_order": options["order"],
            "tokenize": options["tokenize"],
            "lowercase": not options["keep_case"],
        }
        return given | ({"semantics": options["semantics"]} if options["semantics"] else {})

    def report(self, run: ScoreRun, *, as_json: bool) -> None:
        scores = list(system_scores(run))
        if as_json:
            rows = [
                {"system": score.system.name, "score": score.score, "undefined_reason": score.undefined_reason,
                 "clamped_orders": score.clamped_orders, **score.details}
                for score in scores
            ]  # fmt: skip
            whole = {"run": run.pk, "signature": run.signature, "report": run.report, "systems": rows}
            self.stdout.write(json.dumps(whole, ensure_ascii=False))
            return
        self.stdout.write(run.signature)
        for score in scores:
            value = f"undefined: {score.undefined_reason}" if score.score is None else f"{score.score:.4f}"
            clamped = f"  clamped at order {', '.join(map(str, score.clamped_orders))}" if score.clamped_orders else ""
            self.stdout.write(f"{score.system.name:<24}{value}{clamped}")
        self.stdout.write(f"{run.report['items_scored']:,} of {run.report['items']:,} items scored")
        for entry in run.report["dropped"]:
            self.stdout.write(f"{entry['count']:,} items left out: {entry['reason']}")
