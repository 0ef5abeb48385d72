"""Run a parameter study from the command line."""

from typing import Any, ClassVar

from django.core.management import CommandError

from correlations.management.studying import Flags, StudyCommand, three_decimals
from correlations.parameter_specification import read_values, varied_parameters
from correlations.results.parameters import ParameterResult
from correlations.selectors.parameter_reports import SweepReport
from correlations.selectors.tuned import MARK
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


class Command(StudyCommand):
    help = DESCRIPTION
    name = "Parameter study"
    create = staticmethod(parameter_study_create)
    execute_study = staticmethod(parameter_study_execute)
    FLAGS: ClassVar[Flags] = {
        "systems": {"nargs": "+", "help": "three or more"},
        "metric": {"help": "name, or name:key=value,key=value: the values in use"},
        "sweeps": {
            "flag": "--sweep",
            "nargs": "+",
            "help": 'parameter, or parameter=values: k=1,2,5 or lambda=0..1 by 0.1 or "subset=original,w>=0.6"',
        },
        "subset": {"help": 'references: all, original, "w>0" (all)'},
        "coefficient": {"help": f"whose highest value is the best: {', '.join(COEFFICIENTS)}"},
        "choose_on": {"help": "split of the data set on which the best value is chosen"},
        "judge_on": {"help": "split on which it is judged"},
        "halves": {"type": int, "help": "random halves that choose and judge; 0 for none (200)"},
    }

    def specification(self, given: dict[str, Any]) -> dict[str, Any]:
        try:
            if isinstance(given.get("metric"), str):
                name, parameters = read_metric(given["metric"])
                given["metric"] = {"name": name, "parameters": parameters}
            if isinstance(given.get("sweeps"), list):
                given["sweeps"] = [_sweep(given.get("metric"), written) for written in given["sweeps"]]
        except ValueError as error:
            raise CommandError(str(error)) from error
        return given

    def report(self, result: ParameterResult) -> None:
        entries = [COEFFICIENTS[key] for key in dict.fromkeys((*PRINTED, result.coefficient))]
        for sweep in result.sweeps:
            self.stdout.write(f"\n{sweep.label} ({sweep.parameter})")
            columns = "".join(f"{level + ' ' + each.short:>12}" for level in ("systems", "outputs") for each in entries)
            self.stdout.write(f"{'value':<16}{columns}{'p':>10}")
            for index, point in enumerate(sweep.points):
                marks = " in use" * (index == sweep.chosen) + f" best ({MARK})" * (index == sweep.best)
                levels = (point.system, point.segment)
                cells = [level.coefficients[entry.key].value for level in levels for entry in entries]
                values = "".join(f"{three_decimals(cell):>12}" for cell in cells)
                self.stdout.write(f"{point.shown:<16}{values}{three_decimals(point.system.p):>10}{marks}")
            if sentence := SweepReport(sweep, result).chosen_sentence:
                self.stdout.write(sentence)
            if sweep.halves:
                self.stdout.write(
                    f"chosen on one half of the items: {sweep.halves.chosen_on:z.3f}, judged on the other: "
                    f"{sweep.halves.judged_on:z.3f}; in use: {sweep.halves.own:z.3f}"
                )


def _sweep(metric: Any, written: Any) -> Any:
    """Read ``k``, or ``k=1,2,5``; an unknown parameter is left to the study to refuse."""
    if not isinstance(written, str):
        return written
    key, equals, values = written.partition("=")
    name = metric.get("name") if isinstance(metric, dict) else metric
    known = varied_parameters(METRICS[name]) if isinstance(name, str) and name in METRICS else ()
    parameter = next((parameter for parameter in known if key in (parameter.name, parameter.key)), None)
    if not equals or parameter is None:
        return {"parameter": key}
    return {"parameter": parameter.name, "values": list(read_values(parameter, values))}
