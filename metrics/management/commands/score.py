"""Score systems from the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError

from annotation.core.jobs import job_requeue
from annotation.management.base import AssayCommand, progress_bar, project_by_slug, row_by_name
from annotation.models import Dataset, JobState, Project, Release, System
from annotation.references.releases.selectors.releases import finished_releases, release_named, release_names
from metrics.models import ScoreRun
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.written import read_metric
from metrics.selectors.runs import system_scores
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset

DESCRIPTION = """\
Score systems with one metric, and with a release's references if the metric reads any. The same signature is never
computed twice. A score comes with its 95% interval over resampled segments, if it has one.

Examples:
  manage.py score --project demo --metric bleu
  manage.py score --project demo --metric delta_bleu --subset "w>=0.6" --systems TeamA TeamB --order 4
  manage.py score --project demo --release dstc7-references/v1 --metric chrf:word_order=2 --subset original --json
  manage.py score --project demo --dataset dstc7 --metric distinct:max_order=2
"""

# The defaults of metrics that take these parameters.
DEFAULTS = {"max_order": 2, "tokenize": "whitespace", "lowercase": True}
SCORE_FIELDS = ("score", "low", "high", "n_segments", "undefined_reason", "clamped_orders")


class Command(AssayCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument(
            "--metric",
            required=True,
            metavar="NAME[:KEY=VALUE,...]",
            help=f"one of {', '.join(METRICS)}, and its parameters",
        )
        parser.add_argument("--release", help="reference-set/v2, or reference-set: its newest; by default, of any")
        parser.add_argument("--dataset", help="instead of a release, for a metric that reads no references")
        parser.add_argument("--subset", default="all", help='references: all, original, "w>0", "w>=0.6" (all)')
        parser.add_argument(
            "--items",
            default="referenced",
            choices=("referenced", "positive"),
            help="items that have a reference, or one of positive weight (referenced)",
        )
        parser.add_argument("--systems", nargs="+", help="by default all that are not references")
        parser.add_argument("--order", type=int, help="longest n-gram, 1 to 4 (2)")
        parser.add_argument("--tokenize", help="whitespace, 13a, intl, char, zh or none (whitespace)")
        parser.add_argument("--keep-case", action="store_true", help="do not lowercase")
        parser.add_argument("--semantics", help="ΔBLEU's formula: galley2015 or sacrebleu2018")
        parser.add_argument("--json", action="store_true", help="print scores, details and counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        try:
            metric, parameters = read_metric(options["metric"])
            needs_references = get_metric(metric, **parameters).needs_references
            dataset, release = self.texts(project, options, needs_references=needs_references)
            run, _ = score_run_create(
                project=project,
                release=release,
                dataset=dataset,
                systems=self.systems(dataset, release, options["systems"]),
                metric=metric,
                parameters=self.parameters(metric, options) | parameters,
                subset=Subset.parse(options["subset"], items=options["items"]),
                by=None,
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        job_requeue(run)
        with progress_bar(quiet=options["json"]) as progress:
            score_run_execute(run_id=run.pk, progress=progress)
        run = ScoreRun.objects.get(pk=run.pk)
        if run.state != JobState.DONE:
            raise CommandError(f"Run {run.pk} is {run.get_state_display().lower()}. {run.error}")
        self.report(run, as_json=options["json"])

    def texts(
        self, project: Project, options: dict[str, Any], *, needs_references: bool
    ) -> tuple[Dataset, Release | None]:
        """Return the data set, and the release of its references unless the data set is scored alone."""
        if options["dataset"]:
            if options["release"]:
                raise CommandError("--dataset: found a release, too; accepted: one of them.")
            return row_by_name(project.datasets, "--dataset", options["dataset"]), None
        if options["release"] is None and not needs_references and project.datasets.count() == 1:
            return project.datasets.get(), None
        release = self.release(project, options["release"])
        return release.reference_set.dataset, release

    def release(self, project: Project, name: str | None) -> Release:
        release = finished_releases(project).first() if name is None else release_named(project, name)
        if release is None:
            raise CommandError(f"--release: found {name!r}; accepted: {release_names(project)}.")
        return release

    def systems(self, dataset: Dataset, release: Release | None, names: list[str] | None) -> list[System]:
        by_name = {system.name: system for system in dataset.systems.all()}
        references = release.reference_set.source_systems if release else []
        chosen = names or [name for name in by_name if name not in references]
        missing = [name for name in chosen if name not in by_name]
        if missing:
            raise CommandError(f"--systems: found {missing[0]!r}; accepted: {', '.join(by_name)}.")
        return [by_name[name] for name in chosen]

    def parameters(self, metric: str, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options, and the defaults of parameters that the metric takes."""
        accepted = {parameter.name for parameter in METRICS[metric].parameter_list()}
        parameters = {name: value for name, value in DEFAULTS.items() if name in accepted}
        if options["keep_case"]:
            parameters["lowercase"] = False
        values = {"max_order": options["order"], "tokenize": options["tokenize"], "semantics": options["semantics"]}
        return parameters | {name: value for name, value in values.items() if value is not None}

    def report(self, run: ScoreRun, *, as_json: bool) -> None:
        scores = list(system_scores(run))
        if as_json:
            systems = [
                {"system": score.system.name, **{name: getattr(score, name) for name in SCORE_FIELDS}, **score.details}
                for score in scores
            ]
            document = {"run": run.pk, "signature": run.signature, "report": run.report, "bootstrap": run.bootstrap}
            self.stdout.write(json.dumps(document | {"systems": systems}, ensure_ascii=False))
            return
        self.stdout.write(run.signature)
        for score in scores:
            value = f"undefined: {score.undefined_reason}" if score.score is None else f"{score.score:.4f}"
            interval = "" if score.low is None else f"  [{score.low:.4f}, {score.high:.4f}]"
            clamped = f"  clamped at order {', '.join(map(str, score.clamped_orders))}" if score.clamped_orders else ""
            self.stdout.write(f"{score.system.name:<24}{value}{interval}{clamped}")
        self.stdout.write(f"{run.report['items_scored']:,} of {run.report['items']:,} items scored")
        if reason := run.bootstrap.get("reason"):
            self.stdout.write(f"No intervals: {reason}")
        for entry in run.report["dropped"]:
            self.stdout.write(f"{entry['count']:,} items left out: {entry['reason']}")
