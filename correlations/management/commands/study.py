"""Run a study from the command line."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.core.errors import AnnotationError
from annotation.core.jobs import job_requeue
from annotation.management.base import progress_bar
from annotation.models import JobState, Project
from correlations.management.specifications import as_json, read_specification
from correlations.models import Study
from correlations.results.study import RowEstimate
from correlations.selectors.metrics import RUN
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL
from metrics.scoring.written import read_metric

DESCRIPTION = """\
Correlate metrics with human ratings, and store the study with its table, intervals and sweeps.

The specification is a JSON file (--spec, "-" for standard input), flags, or both: a flag wins over the file. What is
left out takes its default. The same specification is never computed twice.

Examples:
  manage.py study --project demo --spec study.json
  manage.py study --project demo --release dstc7-references --campaign "Output ratings" \\
      --systems Baseline TeamA TeamCE --subsets original "w>0" all --assignments 200
  manage.py study --project demo --spec study.json --json > result.json

A specification:
  {"release": "dstc7-references/v1", "campaigns": ["Output ratings"], "systems": ["Baseline", "TeamA", "TeamCE"],
   "metrics": ["bleu", {"name": "am_fm", "parameters": {"k": 20}}, {"run": 7}], "subsets": ["original", "w>=0.6"],
   "unit_size": 100, "assignments": 1000, "seed": 1}
"""


class Command(BaseCommand):
    help = DESCRIPTION

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--name", default="", help="name of the study; by default the name of the file")
        parser.add_argument("--spec", help="JSON file with the specification; - reads standard input")
        parser.add_argument("--release", help="reference set, or reference set and release: name/v2")
        parser.add_argument(
            "--campaign", dest="campaigns", action="append", help="whose ratings count; may be repeated"
        )
        parser.add_argument("--criteria", nargs="+", help="criteria to average; by default all of the campaigns")
        parser.add_argument("--systems", nargs="+", help="hypotheses; all pairs of them are compared")
        parser.add_argument(
            "--metrics",
            nargs="+",
            help="bleu, chrf, am_fm:lambda=0.5,k=20, run:7 …; by default bleu, sbleu and delta_bleu",
        )
        parser.add_argument("--subsets", nargs="+", help='references: original, "w>0", "w>=0.6", all')
        parser.add_argument("--unit-size", type=int, help="items in one unit (100)")
        parser.add_argument("--assignments", type=int, help="random assignments of items to units (1000)")
        parser.add_argument("--bootstrap", type=int, help="replicates; 0 computes no bootstrap intervals (500)")
        parser.add_argument("--order", type=int, help="longest n-gram, 1 to 4 (2)")
        parser.add_argument("--tokenize", help="whitespace, 13a, intl, char, zh or none (whitespace)")
        parser.add_argument("--orientation", help="both, fixed or random (both)")
        parser.add_argument("--remainder", help="keep or drop (keep)")
        parser.add_argument(
            "--coefficients",
            nargs="+",
            help=f"of {', '.join(COEFFICIENTS)}; sweeps and comparisons are of the first ({' '.join(USUAL)})",
        )
        parser.add_argument("--seed", type=int, help="every random choice follows from it")
        parser.add_argument(
            "--keep-case", dest="lowercase", action="store_false", default=None, help="do not lowercase"
        )
        parser.add_argument("--no-sweeps", dest="sweeps", action="store_false", default=None, help="the table alone")
        parser.add_argument("--json", action="store_true", help="print the whole result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project: found {options['project']!r}; no such project.")
        given = self.specification(options)
        name = options["name"] or (Path(options["spec"]).stem if options["spec"] not in (None, "-") else "Study")
        try:
            study, _ = study_create(project=project, name=name, specification=given, by=None)
        except AnnotationError as error:
            raise CommandError(error.message) from error
        job_requeue(study)
        with progress_bar(quiet=options["json"]) as progress:
            study_execute(study_id=study.pk, progress=progress)
        study.refresh_from_db()
        if study.state != JobState.DONE:
            raise CommandError(f"Study {study.pk} is {study.get_state_display().lower()}. {study.error}")
        if options["json"]:
            self.stdout.write(as_json(study))
        else:
            self.report(study)

    def specification(self, options: dict[str, Any]) -> dict[str, Any]:
        given = read_specification(options["spec"])
        flags = (
            "release",
            "campaigns",
            "criteria",
            "systems",
            "metrics",
            "subsets",
            "unit_size",
            "assignments",
            "bootstrap",
            "order",
            "tokenize",
            "orientation",
            "remainder",
            "seed",
            "lowercase",
            "sweeps",
            "coefficients",
        )
        given |= {name: options[name] for name in flags if options[name] is not None}
        if options["metrics"]:
            given["metrics"] = [_metric(written) for written in options["metrics"]]
        return given

    def report(self, study: Study) -> None:
        result = study.read_result()
        self.stdout.write(f"{study.name}: {result.items.used:,} items, signature {study.signature[:16]}")
        width = max((len(row.label) for row in result.rows), default=0) + 2
        headings = "".join(f"{entry.short:>8}  {'bootstrap':<18}" for entry in result.entries)
        self.stdout.write(f"{'metric':<{width}}{'references':<12}{headings}{'N':>6}")
        for row in result.rows:
            estimates = [(entry, row.coefficients[entry.key]) for entry in result.entries]
            cells = "".join(f"{_value(estimate):>8}  {_interval(estimate):<18}" for _, estimate in estimates)
            self.stdout.write(f"{row.label:<{width}}{row.subset_label:<12}{cells}{row.n_observations:>6}")
            for entry, estimate in estimates:
                if estimate.value is None:
                    self.stdout.write(f"  {entry.short} undefined: {estimate.reason}")


def _metric(written: str) -> Any:
    """Read a metric from one line; the study checks a name without parameters."""
    run = written.removeprefix(RUN)
    if run != written and run.isdecimal():
        return {"run": int(run)}
    if ":" not in written:
        return written
    try:
        name, parameters = read_metric(written)
    except ValueError as error:
        raise CommandError(f"--metrics {written}: {error}") from error
    return {"name": name, "parameters": parameters}


def _value(estimate: RowEstimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:.3f}"


def _interval(estimate: RowEstimate) -> str:
    return "" if estimate.over_items is None else "{:.3f} to {:.3f}".format(*estimate.over_items)
