"""``python -m metrics qe``: cross-validate a quality estimator on a table of rated outputs, and train one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from metrics.cli import report
from metrics.cli.errors import CommandError
from metrics.cli.instances import Columns, read_instances, read_written
from metrics.cli.quality_report import QualityReport, quality_report
from metrics.scoring import VERSION
from metrics.scoring.arrays import Floats
from metrics.scoring.models.files import model_name
from metrics.scoring.models.store import ModelStore
from metrics.scoring.parameters import Parameter, parameters_of
from metrics.scoring.qe.cross_validation import CrossValidated, cross_tested, cross_validated, fold_splits
from metrics.scoring.qe.instances import Instance, instances_digest, ratings_of
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.parallel import run_ahead
from metrics.scoring.qe.plans import WrittenText
from metrics.scoring.qe.splits import CROSS_PLANS, FIELDS, Split, cross_split, kept_together
from metrics.scoring.qe.steps import Progress, Step
from metrics.scoring.qe.training import train

# The whole path in a minute: fewer outputs, a small network, few passes.
QUICK = {"passes": 5, "synthetic_passes": 2, "embedding": 32}
QUICK_INSTANCES, QUICK_FOLDS, QUICK_SEEDS = 300, 3, 1
PROCESSES = 2  # of a training, if there are the cores; of one among several at once, 1

DESCRIPTION = """\
Quality estimation without references: predict ratings of outputs from their sources alone.

  python -m metrics qe rated.csv --source mr --output output --rating quality --option plan=S2 --checkpoint runs
  python -m metrics qe rated.csv --source mr --output output --rating quality --quick

Without PyTorch: --option estimator=ridge.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    known = (
        f"  {each.name}: {each.label}; {each.accepted}; by default {'none' if each.default is None else each.default}"
        for each in parameters_of(QualityOptions)
    )
    parser.epilog = "\n".join(["options of the training (--option):", *known])
    parser.add_argument("table", metavar="FILE", help="a rated output a row: CSV, TSV or JSON Lines; .gz, .zst")
    columns = parser.add_argument_group("columns")
    columns.add_argument("--source", required=True, metavar="COLUMN", help="acts, or texts: --option source=text")
    columns.add_argument("--output", required=True, metavar="COLUMN")
    columns.add_argument("--rating", required=True, metavar="COLUMN")
    columns.add_argument("--domain", default="", metavar="COLUMN")
    columns.add_argument("--system", default="", metavar="COLUMN")
    columns.add_argument("--references", nargs="+", default=[], metavar="COLUMN", help="read by plans S3 to S6")
    columns.add_argument("--scores", nargs="+", default=[], metavar="COLUMN", help="metrics to compare with")
    work = parser.add_argument_group("what is done")
    work.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of training; once or more")
    work.add_argument("--folds", type=int, default=5)
    work.add_argument("--seeds", type=int, default=5, help="how many; from the option seed on")
    work.add_argument("--cross", metavar="domain=VALUE or system=VALUE", help="test on it alone, by --cross-plan")
    work.add_argument("--cross-plan", choices=CROSS_PLANS, default="C1")
    work.add_argument("--written", metavar="FILE", help="texts that people wrote for sources, for plans S4 to S6")
    work.add_argument("--complete", metavar="FILE", help="more of them, for plan S6")
    work.add_argument("--checkpoint", type=Path, metavar="FOLDER", help="go on from here, and keep what is finished")
    work.add_argument("--jobs", type=int, default=1, help="trainings at once, one core each; 1 has two")
    work.add_argument("--quick", action="store_true", help="a small part of the data and a small network, in a minute")
    work.add_argument("--no-baseline", action="store_true", help="without ridge regression beside a network")
    written = parser.add_argument_group("what is written")
    written.add_argument("--json", type=Path, metavar="FILE", help="the report, with every seed and learning curve")
    written.add_argument("--markdown", type=Path, metavar="FILE", help="the table, which is printed, too")
    written.add_argument("--predictions", type=Path, metavar="FILE", help="every prediction by fold and seed, as TSV")
    written.add_argument(
        "--models", type=Path, metavar="FOLDER", help="also train on all rows, and keep the model here"
    )
    written.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


@dataclass(frozen=True, eq=False)
class Work:
    """What is cross-validated, and how."""

    instances: Sequence[Instance]
    scores: Mapping[str, Floats]
    written: Sequence[WrittenText]
    options: QualityOptions
    folds: int
    seeds: tuple[int, ...]
    cross: tuple[str, str, str] | None  # plan, field and value

    def settings(self) -> dict[str, Any]:
        return {
            "instances": len(self.instances),
            "sha256": instances_digest(self.instances),
            "version": VERSION,
            "options": self.options.as_dict(),
            "folds": None if self.cross else self.folds,
            "cross": self.cross and dict(zip(("plan", "field", "value"), self.cross, strict=True)),
            "seeds": list(self.seeds),
        }

    def splits(self) -> list[Split]:
        if self.cross:
            return [cross_split(self.instances, kept_together(self.instances, self.options), *self.cross)]
        return fold_splits(self.instances, self.options, self.folds)

    def predicted(
        self, options: QualityOptions, seeds: Sequence[int], progress: Progress | None, checkpoint: Path | None
    ) -> CrossValidated:
        arguments: dict[str, Any] = {
            "seeds": seeds,
            "written": self.written,
            "progress": progress,
            "checkpoint": checkpoint,
            "processes": PROCESSES,
        }
        if self.cross:
            plan, field, value = self.cross
            return cross_tested(self.instances, options, plan=plan, field=field, value=value, **arguments)
        return cross_validated(self.instances, options, folds=self.folds, **arguments)


def run(arguments: argparse.Namespace) -> None:
    try:
        work = _work(arguments)
        _print_report(arguments, _report(arguments, work))
        if arguments.models:
            _keep(arguments, work)
    except CommandError:
        raise
    except ValueError as error:
        raise CommandError(f"qe: {error}") from error


def _work(arguments: argparse.Namespace) -> Work:
    names = (arguments.source, arguments.output, arguments.rating, arguments.domain, arguments.system)
    columns = Columns(*names, tuple(arguments.references), tuple(arguments.scores))
    options = options_from(arguments.option)
    cross = _cross(arguments)
    instances, scores = read_instances(arguments.table, columns)
    written = [
        *(read_written(arguments.written, columns, complete=False) if arguments.written else []),
        *(read_written(arguments.complete, columns, complete=True) if arguments.complete else []),
    ]
    if arguments.seeds < 1 or arguments.jobs < 1:
        raise CommandError("--seeds, --jobs: accepted: 1 or more")
    if arguments.jobs > 1 and not arguments.checkpoint:
        raise CommandError("--jobs: found no --checkpoint; accepted: a folder for what each training reaches")
    if arguments.quick:
        options = replace(options, **{name: min(value, getattr(options, name)) for name, value in QUICK.items()})
        chosen = np.linspace(0, len(instances) - 1, min(QUICK_INSTANCES, len(instances))).astype(int).tolist()
        kept = {name: values[chosen] for name, values in scores.items()}
        return Work([instances[at] for at in chosen], kept, written, options, QUICK_FOLDS, (options.seed,), cross)
    seeds = tuple(range(options.seed, options.seed + arguments.seeds))
    return Work(instances, scores, written, options, arguments.folds, seeds, cross)


def _cross(arguments: argparse.Namespace) -> tuple[str, str, str] | None:
    if not arguments.cross:
        return None
    field, equals, value = arguments.cross.partition("=")
    if not equals or field not in FIELDS:
        raise CommandError(f"--cross: found {arguments.cross!r}; accepted: domain=VALUE or system=VALUE")
    if not getattr(arguments, field):
        raise CommandError(f"--cross: found no --{field}; accepted: the column that it is in")
    return arguments.cross_plan, field, value


def _report(arguments: argparse.Namespace, work: Work) -> QualityReport:
    show = report.progress(quiet=arguments.quiet)
    options, checkpoint = work.options, arguments.checkpoint
    if arguments.jobs > 1:
        run_ahead(
            work.instances,
            options,
            work.splits(),
            work.seeds,
            checkpoint,
            written=work.written,
            jobs=arguments.jobs,
            progress=lambda done, of: show(f"{done} of {of} trainings"),
        )
    result = work.predicted(options, work.seeds, lambda step: show(_line(step)), checkpoint)
    baseline = None
    if options.estimator != "ridge" and not arguments.no_baseline:
        ridge = replace(options, estimator="ridge", plan="S1", rank_weight=0.0)
        baseline = work.predicted(ridge, work.seeds[:1], None, checkpoint and checkpoint / "ridge")
    if arguments.predictions:
        _write_predictions(arguments.predictions, work, result)
    ratings, label = ratings_of(work.instances), _label(options)
    return quality_report(result, ratings, work.settings(), name=label, baseline=baseline, scores=work.scores)


def _label(options: QualityOptions) -> str:
    if options.estimator == "ridge":
        return "Ridge regression on n-grams"
    ranked = ", with rank loss" if options.rank_weight else ""
    return f"{options.cell.upper()}, {options.plan}{ranked}"


def _line(step: Step) -> str:
    point, best = step.point, step.best
    where = f"{step.run} of {step.runs} trainings, seed {step.seed}, fold {step.fold}: pass {step.done} of {step.of}"
    if point is None or best is None:
        return where
    return f"{where}, loss {point.loss:.3f}, development r {point.pearson:.3f}, best at {best.number}"


def _print_report(arguments: argparse.Namespace, made: QualityReport) -> None:
    report.line(made.as_markdown().rstrip())
    for path, text in ((arguments.json, made.as_json()), (arguments.markdown, made.as_markdown())):
        if path:
            _write(path, text)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: cannot be written: {error.strerror}") from error


def _write_predictions(path: Path, work: Work, result: CrossValidated) -> None:
    """Write a row per instance and seed: rounded as in training, and raw."""
    rows = ["row\tfold\tseed\trating\tpredicted\traw"]
    for seed_index, seed in enumerate(result.seeds):
        for at, instance in enumerate(work.instances):
            if result.fold[at] >= 0:
                numbers = (instance.rating, result.values[seed_index, at], result.raw[seed_index, at])
                cells = [at + 1, int(result.fold[at]), seed, *(repr(float(each)) for each in numbers)]
                rows.append("\t".join(map(str, cells)))
    _write(path, "\n".join(rows) + "\n")


def _keep(arguments: argparse.Namespace, work: Work) -> None:
    show = report.progress(quiet=arguments.quiet)
    file = arguments.checkpoint and arguments.checkpoint / "all.npz"
    model = train(
        work.instances,
        work.options,
        written=work.written,
        progress=lambda step: show(f"all rows: {_line(step)}"),
        checkpoint=file,
        processes=PROCESSES,
    )
    try:
        reference = ModelStore([arguments.models]).add(model)
    except OSError as error:
        raise CommandError(f"--models {arguments.models}: cannot be written: {error.strerror}") from error
    report.line(f"{reference}\n{arguments.models / model_name(model.kind, model.digest)}")


def options_from(written: Sequence[str]) -> QualityOptions:
    """Read options written as ``name=value``."""
    known = {parameter.name: parameter for parameter in parameters_of(QualityOptions)}
    values: dict[str, Any] = {}
    for option in written:
        name, equals, value = option.partition("=")
        if name not in known or not equals:
            accepted = ", ".join(f"{each.name}={each.default}" for each in known.values())
            raise CommandError(f"--option: found {option!r}; accepted: {accepted}")
        values[name] = _read(known[name], value, option)
    try:
        return QualityOptions(**values)
    except ValueError as error:
        raise CommandError(f"--option: {error}") from error


def _read(parameter: Parameter, value: str, option: str) -> Any:
    try:
        match parameter.kind:
            case "whole":
                return int(value)
            case "real":
                return float(value)
            case "flag":
                return {"yes": True, "true": True, "no": False, "false": False}[value.lower()]
            case _:
                return value
    except (KeyError, ValueError) as error:
        raise CommandError(f"--option: found {option!r}; accepted: {parameter.accepted}") from error
