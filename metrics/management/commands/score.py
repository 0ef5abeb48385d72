"""Score systems from the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import CommandError

from annotation.core.jobs import job_requeue
from annotation.management.base import AssayCommand, progress_bar, project_by_slug, row_by_name
from annotation.models import Dataset, JobState, Project, Release, SourceKind, System
from annotation.references.releases.selectors.releases import finished_releases, release_named, release_names
from metrics.models import ScoreRun
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.written import read_metric
from metrics.selectors.runs import system_scores
from metrics.selectors.scripts import run_warning
from metrics.selectors.usual import usual_settings_on
from metrics.services.runs import score_run_create, score_run_execute
from metrics.subsets import Subset

DESCRIPTION = """\
Score systems with one or more metrics; those that read references take a release's, or the data set's own. The same
signature is never computed twice. A score comes with the range of 95% of resamples of the segments, if it has one.

Examples:
  manage.py score --project demo --metric bleu
  manage.py score --project demo --metric delta_bleu --subset "w>=0.6" --systems TeamA TeamB --order 4
  manage.py score --project demo --release dstc7-references/v1 --metric chrf:word_order=2 --subset original --json
  manage.py score --project demo --dataset dstc7 --metric distinct:max_order=2
  manage.py score --project mine --dataset news --metric bleu --metric chrf --metric ter   # its own references
"""

SCORE_FIELDS = (
    *("score", "low", "high", "first_place", "last_place", "p_best"),
    *("n_segments", "undefined_reason", "clamped_orders"),
)


class Command(AssayCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument(
            "--metric",
            action="append",
            required=True,
            metavar="NAME[:KEY=VALUE,...]",
            help=f"one of {', '.join(METRICS)}, and its parameters; once or more",
        )
        parser.add_argument("--release", help="reference-set/v2, or reference-set: its newest; by default, of any")
        parser.add_argument("--dataset", help="instead of a release: its own references, all alike, or none")
        parser.add_argument(
            "--subset",
            default="all",
            help='references: all, original, "w>0", "w>=0.6"; of a data set human+seed (all)',
        )
        parser.add_argument(
            "--items",
            default="referenced",
            choices=("referenced", "positive"),
            help="items that have a reference, or one of positive weight (referenced)",
        )
        parser.add_argument("--systems", nargs="+", help="by default all that are not references")
        parser.add_argument("--order", type=int, help="longest n-gram, 1 to 4 (2; BLEU on plain references: 4)")
        parser.add_argument(
            "--tokenize",
            help="whitespace, 13a, intl, char, zh or none (by the script of the texts; BLEU on plain references: 13a)",
        )
        parser.add_argument("--keep-case", action="store_true", help="do not lowercase")
        parser.add_argument("--semantics", help="ΔBLEU's formula: galley2015 or sacrebleu2018")
        parser.add_argument("--json", action="store_true", help="print scores, details and counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_by_slug(options["project"])
        try:
            requested = [self.request(project, written, options) for written in options["metric"]]
        except ValueError as error:
            raise CommandError(str(error)) from error
        documents = []
        for run, left_out in requested:
            job_requeue(run)
            with progress_bar(quiet=options["json"]) as progress:
                score_run_execute(run_id=run.pk, progress=progress)
            done = ScoreRun.objects.get(pk=run.pk)
            if done.state != JobState.DONE:
                raise CommandError(f"Run {done.number} is {done.get_state_display().lower()}. {done.error}")
            if options["json"]:
                documents.append(self.document(done) | {"systems_left_out": left_out})
            else:
                self.report(done, left_out)
        if documents:
            self.stdout.write(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False))

    def request(self, project: Project, written: str, options: dict[str, Any]) -> tuple[ScoreRun, list[str]]:
        """Return the run of a metric, and the names of the systems left out because they gave references."""
        metric, parameters = read_metric(written)
        needs_references = get_metric(metric, **parameters).needs_references
        dataset, release = self.texts(project, options, needs_references=needs_references)
        systems, left_out = self.systems(dataset, release, options["systems"])
        is_plain = release is None and needs_references
        run, _ = score_run_create(
            project=project,
            release=release,
            dataset=dataset,
            systems=systems,
            metric=metric,
            parameters=self.parameters(metric, dataset, options, plain=is_plain) | parameters,
            subset=Subset.parse(
                options["subset"], items=options["items"], sources=() if release else SourceKind.of_references()
            ),
            by=None,
        )
        return run, left_out

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
        if options["release"] is None and project.datasets.count() == 1 and not finished_releases(project).exists():
            return project.datasets.get(), None
        release = self.release(project, options["release"])
        return release.reference_set.dataset, release

    def release(self, project: Project, name: str | None) -> Release:
        release = finished_releases(project).first() if name is None else release_named(project, name)
        if release is None:
            raise CommandError(f"--release: found {name!r}; accepted: {release_names(project)}.")
        return release

    def systems(
        self, dataset: Dataset, release: Release | None, names: list[str] | None
    ) -> tuple[list[System], list[str]]:
        """Return the systems to score, and the names of those left out because they gave references."""
        by_name = {system.name: system for system in dataset.systems.all()}
        references = release.reference_set.source_systems if release else []
        chosen = names or [name for name in by_name if name not in references]
        missing = [name for name in chosen if name not in by_name]
        if missing:
            raise CommandError(f"--systems: found {missing[0]!r}; accepted: {', '.join(by_name)}.")
        if by_name and not chosen:
            message = f"--systems: all systems gave references of {release}; name those to score: {', '.join(by_name)}."
            raise CommandError(message)
        return [by_name[name] for name in chosen], [] if names else [name for name in by_name if name in references]

    def parameters(self, metric: str, dataset: Dataset, options: dict[str, Any], *, plain: bool) -> dict[str, Any]:
        """Return the options, else the usual settings of the metric."""
        parameters = usual_settings_on(dataset, weighted=not plain).parameters(metric)
        if options["keep_case"]:
            parameters["lowercase"] = False
        values = {"max_order": options["order"], "tokenize": options["tokenize"], "semantics": options["semantics"]}
        return parameters | {name: value for name, value in values.items() if value is not None}

    def document(self, run: ScoreRun) -> dict[str, Any]:
        systems = [
            {"system": score.system.name, **{name: getattr(score, name) for name in SCORE_FIELDS}, **score.details}
            for score in system_scores(run)
        ]
        document = {"run": run.number, "signature": run.signature, "report": run.report, "bootstrap": run.bootstrap}
        return document | {"systems": systems}

    def report(self, run: ScoreRun, left_out: list[str]) -> None:
        self.stdout.write(f"Run {run.number}  {run.signature}")
        if warning := run_warning(run):
            self.stdout.write(warning)
        for score in system_scores(run):
            value = f"undefined: {score.undefined_reason}" if score.score is None else f"{score.score:z.4f}"
            interval = "" if score.low is None else f"  [{score.low:z.4f}, {score.high:z.4f}]"
            clamped = f"  clamped at order {', '.join(map(str, score.clamped_orders))}" if score.clamped_orders else ""
            self.stdout.write(f"{score.system.name:<24}{value}{interval}{clamped}")
        if left_out:
            names = ", ".join(left_out)
            self.stdout.write(f"Not scored, because they gave references: {names}. --systems scores those it names.")
        self.stdout.write(f"{run.report['items_scored']:,} of {run.report['items']:,} items scored")
        if reason := run.bootstrap.get("reason"):
            self.stdout.write(f"No ranges: {reason}")
        for entry in run.report["dropped"]:
            self.stdout.write(f"{entry['count']:,} items left out: {entry['reason']}")
