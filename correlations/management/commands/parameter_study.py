"""Run a parameter study from the command line."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management import CommandError
from django.core.management.base import BaseCommand

from annotation.core.errors import AnnotationError
from annotation.core.jobs import job_requeue
from annotation.management.base import progress_bar
from annotation.models import JobState, Project
from correlations.management.specifications import as_json, read_specification
from correlations.models import ParameterStudy
from correlations.parameter_specification import read_values
from correlations.services.parameter_execution import parameter_study_execute
from correlations.services.parameter_studies import parameter_study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from metrics.scoring.registry import METRICS
from metrics.scoring.written import read_metric

DESCRIPTION = """\
Correlate one metric with human ratings along its parameters, over systems and over outputs, and store the study.

Each parameter of --sweep is turned by itself, all others as --metric says. Without --sweep the metric's numbers are
turned through the usual values, as far as its trained models go. The same specification is never computed twice.

Examples:
  manage.py parameter_study --project demo --release dstc7-references --campaign "Output ratings" \\
      --systems Baseline TeamA TeamCE TeamD --metric am_fm:lambda=0.8,k=10 --sweep k=1,2,5,10,50 "lambda=0..1 by 0.1"
  manage.py parameter_study --project demo --release dstc7-references --campaign "Output ratings" \\
      --systems Baseline TeamA TeamCE TeamD --metric chrf --sweep "beta=0.5,1,2,3" --json
"""
PRINTED = ("pearson", "spearman")
FLAGS = (
    "release",
    "campaigns",
    "criteria",
    "systems",
    "subset",
    "coefficient",
    "choose_on",
    "judge_on",
    "bootstrap",
    "halves",
    "seed",
)


class Command(BaseCommand):
    help = DESCRIPTION

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--name", default="", help="name of the study")
        parser.add_argument("--spec", help="JSON file with the specification; - reads standard input; a flag wins")
        parser.add_argument("--release", help="reference set, or reference set and release: name/v2")
        parser.add_argument(
            "--campaign", dest="campaigns", action="append", help="whose ratings count; may be repeated"
        )
        parser.add_argument("--criteria", nargs="+", help="criteria to average; by default all of the campaigns")
        parser.add_argument("--systems", nargs="+", help="three or more")
        parser.add_argument("--metric", help="name, or name:key=value,key=value: the values in use")
        parser.add_argument("--sweep", nargs="+", help="parameter, or parameter=values: k=1,2,5 or lambda=0..1 by 0.1")
        parser.add_argument("--subset", help='references: all, original, "w>0" (all)')
        parser.add_argument("--coefficient", help=f"whose highest value is the best: {', '.join(COEFFICIENTS)}")
        parser.add_argument("--choose-on", help="split of the data set on which the best value is chosen")
        parser.add_argument("--judge-on", help="split on which it is judged")
        parser.add_argument("--bootstrap", type=int, help="replicates; 0 computes no intervals (500)")
        parser.add_argument("--halves", type=int, help="random halves that choose and judge; 0 for none (200)")
        parser.add_argument("--seed", type=int, help="every random choice follows from it")
        parser.add_argument("--json", action="store_true", help="print the whole result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"--project: found {options['project']!r}; no such project.")
        name = options["name"] or "Parameter study"
        try:
            study, _ = parameter_study_create(
                project=project, name=name, specification=_specification(options), by=None
            )
        except AnnotationError as error:
            raise CommandError(error.message) from error
        job_requeue(study)
        quiet = options["json"]
        with progress_bar(quiet=quiet) as progress:
            parameter_study_execute(study_id=study.pk, progress=progress)
        study.refresh_from_db()
        if study.state != JobState.DONE:
            raise CommandError(f"Study {study.pk} is {study.get_state_display().lower()}. {study.error}")
        if quiet:
            self.stdout.write(as_json(study))
        else:
            self.report(study)

    def report(self, study: ParameterStudy) -> None:
        result = study.read_result()
        self.stdout.write(f"{study.name}: {result.items.used:,} items, signature {study.signature[:16]}")
        shown = [COEFFICIENTS[key] for key in dict.fromkeys((*PRINTED, result.coefficient))]
        for sweep in result.sweeps:
            self.stdout.write(f"\n{sweep.label} ({sweep.parameter})")
            columns = "".join(f"{level + ' ' + entry.short:>12}" for level in ("systems", "outputs") for entry in shown)
            self.stdout.write(f"{'value':<16}{columns}{'p':>10}")
            for index, point in enumerate(sweep.points):
                marks = " in use" * (index == sweep.chosen) + " best" * (index == sweep.best)
                cells = [
                    level.coefficients[entry.key].value for level in (point.system, point.segment) for entry in shown
                ]
                values = "".join(f"{_value(cell):>12}" for cell in cells)
                self.stdout.write(f"{point.shown:<16}{values}{_value(point.system.p):>10}{marks}")
            if sweep.halves:
                self.stdout.write(
                    f"chosen on one half of the items: {sweep.halves.chosen_on:.3f}, judged on the other: "
                    f"{sweep.halves.judged_on:.3f}; in use: {sweep.halves.own:.3f}"
                )


def _specification(options: dict[str, Any]) -> dict[str, Any]:
    given = read_specification(options["spec"])
    given |= {name: options[name] for name in FLAGS if options[name] is not None}
    try:
        if options["metric"]:
            name, parameters = read_metric(options["metric"])
            given["metric"] = {"name": name, "parameters": parameters}
        if options["sweep"]:
            given["sweeps"] = [_sweep(given.get("metric"), written) for written in options["sweep"]]
    except ValueError as error:
        raise CommandError(str(error)) from error
    return given


def _sweep(metric: Any, written: str) -> dict[str, Any]:
    """``k``, or ``k=1,2,5``; an unknown parameter is left to the study to refuse."""
    name, equals, values = written.partition("=")
    of = metric.get("name") if isinstance(metric, dict) else metric
    known = METRICS[of].parameter_list() if isinstance(of, str) and of in METRICS else ()
    parameter = next((parameter for parameter in known if name in (parameter.name, parameter.key)), None)
    if not equals or parameter is None:
        return {"parameter": name}
    return {"parameter": parameter.name, "values": list(read_values(parameter, values))}


def _value(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
