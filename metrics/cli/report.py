"""Output of the commands."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.core.numbers import finite_or_none
from metrics.cli.cache import Scores
from metrics.cli.errors import CommandError
from metrics.cli.files import Inputs
from metrics.cli.significance import Design, Tested, explained
from metrics.cli.undefined import Reasons
from metrics.scoring.metric import Metric, metric_labels
from metrics.scoring.registry import METRICS, without_references

FORMATS = ("text", "tsv", "csv", "json")


def progress(*, quiet: bool) -> Callable[[str], None]:
    """Return a function that prints progress to a terminal; into files and pipes it prints nothing."""
    if quiet or not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r{text}", end="\n" if text.endswith(".") else "", file=sys.stderr, flush=True)  # noqa: T201


def line(written: str) -> None:
    sys.stdout.write(f"{written}\n")


def print_metrics(names: Sequence[str]) -> None:
    for name in names:
        metric = METRICS[name]
        better = ("higher" if metric.higher_is_better else "lower") if metric.judges_quality else "neither direction"
        line(f"{name}  {metric.label}: {metric.summary}")
        line(f"    from {_bound(metric.low)} to {_bound(metric.high)}, {better} is better; needs {_needs(metric)}")
        if reason := metric.unavailable():
            line(f"    not available here: {reason}")
        for parameter in metric.parameter_list():
            title = parameter.name if parameter.key == parameter.name else f"{parameter.name} ({parameter.key})"
            default = "none" if parameter.default in ("", None) else parameter.default
            line(f"    {title}: {parameter.label}; {parameter.accepted}; by default {default}")
    for entry_point, reason in METRICS.broken.items():
        line(f"{entry_point}  cannot be used: {reason}")


def _bound(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:g}"


def _needs(metric: type[Metric]) -> str:
    unless = ", ".join(f"{name}={value}" for name, value in without_references(metric).items())
    references = f"references (unless {unless})" if unless else "references"
    needed = [
        references if metric.needs_references else "",
        "sources" if metric.needs_sources or metric.needs_prompts else "",
        *(f"a {each.choices[0]} model" for each in metric.parameter_list() if each.kind == "model"),
    ]
    return ", ".join(filter(None, needed)) or "the outputs alone"


@dataclass(frozen=True)
class Output:
    """How scores are written, and what resamples say about them: for each metric, for each system."""

    format: str
    design: Design | None = None
    tested: Sequence[Sequence[Tested]] | None = None


def print_scores(
    inputs: Inputs, metrics: Sequence[Metric], scores: Sequence[Scores], undefined: Sequence[Reasons], output: Output
) -> None:
    counts = [[Counter(filter(None, row)) for row in systems] for systems in undefined]
    tested: Sequence[Sequence[Tested] | None] = output.tested or [None] * len(scores)
    if output.format == "json":
        results = [_as_json(inputs, *each, output.design) for each in zip(scores, counts, tested, strict=True)]
        line(json.dumps(results, ensure_ascii=False, indent=1))
        return
    if output.format in ("tsv", "csv"):
        _print_rows(inputs, scores, output)
        return
    for each in scores:
        line(each.signature)
    labels = metric_labels(metrics)
    columns = [_column(*each) for each in zip(labels, scores, tested, strict=True)]
    width = max(map(len, ("system", *inputs.names)))
    for name, *cells in zip(("system", *inputs.names), *columns, strict=True):
        line("  ".join([name.ljust(width), *cells]).rstrip())
    for label, systems in zip(labels, counts, strict=True):
        for name, reasons in zip(inputs.names, systems, strict=True):
            if reasons:
                listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
                line(f"{label}, {name}: {reasons.total():,} of {inputs.n_segments:,} segments have no score: {listed}")
    if output.design and output.tested:
        _print_notes(inputs, labels, output.tested, output.design)


def _column(label: str, scores: Scores, tested: Sequence[Tested] | None) -> list[str]:
    """Return a metric's header and cells, all of one width; what is not there is blank, so that columns align."""
    parts = [[f"{value:z.4f}" for value in scores.systems]]
    if tested:
        parts.append([f"({_four(each)} ± {each.half_width:.4f})" if each.interval else "" for each in tested])
        parts.append(["" if each.p_value is None else f"p = {each.p_value:.4f}{'*' * each.differs}" for each in tested])
        parts = [[cell.ljust(max(map(len, part))) for cell in part] for part in parts if any(part)]
    cells = [" ".join(row) for row in zip(*parts, strict=True)]
    width = max(10, len(label), *map(len, cells))
    return [cell.rjust(width) for cell in (label, *cells)]


def _four(tested: Tested) -> str:
    return f"{tested.interval.mean:z.4f}" if tested.interval else ""


def _print_notes(inputs: Inputs, labels: Sequence[str], tested: Sequence[Sequence[Tested]], design: Design) -> None:
    for label, systems in zip(labels, tested, strict=True):
        reasons = {name: each.reason for name, each in zip(inputs.names, systems, strict=True) if each.reason}
        if len(reasons) == len(inputs.names) and len(set(reasons.values())) == 1:
            line(f"{label}: no interval and no test: {next(iter(reasons.values()))}")
            continue
        for name, reason in reasons.items():
            line(f"{label}, {name}: undefined: {reason}")
        for name, each in zip(inputs.names, systems, strict=True):
            if each.agrees and design.test:
                line(f"{label}, {name}: as {inputs.names[0]} on every segment; sacrebleu's p-value says nothing here")
    for written in explained(design, inputs.names[0], inputs.n_segments):
        line(written)


def _print_rows(inputs: Inputs, scores: Sequence[Scores], output: Output) -> None:
    """Write a row per system; full precision, empty if undefined, except scores: nan."""
    header, columns = ["system"], [list(inputs.names)]
    for number, each in enumerate(scores):
        header.append(each.signature)
        columns.append([repr(float(value)) for value in each.systems])
        if output.tested and output.design:
            rows = [_test_values(result, output.design) for result in output.tested[number]]
            header += [f"{each.signature} {name}" for name in rows[0]]
            columns += [["" if row[name] is None else repr(row[name]) for row in rows] for name in rows[0]]
    if output.format == "tsv":
        for cells in (header, *zip(*columns, strict=True)):
            line("\t".join(cells))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerows([header, *zip(*columns, strict=True)])


def _test_values(tested: Tested, design: Design) -> dict[str, float | None]:
    """Return numbers by their names in files; the same names for every system."""
    values: dict[str, float | None] = {}
    if design.resamples:
        interval = tested.interval
        numbers = (interval.mean, tested.half_width, interval.low, interval.high) if interval else (math.nan,) * 4
        values |= dict(zip(("mean", "ci", "low", "high"), map(finite_or_none, numbers), strict=True))
    if design.test:
        values["p_value"] = None if tested.p_value is None else finite_or_none(tested.p_value)
    return values


def _as_json(
    inputs: Inputs,
    scores: Scores,
    undefined: Sequence[Counter[str]],
    tested: Sequence[Tested] | None,
    design: Design | None,
) -> dict[str, object]:
    written: dict[str, object] = {"signature": scores.signature, "segments": inputs.n_segments}
    if design:
        written["resampling"] = design.as_json(inputs.names[0])
    systems = []
    for number, (name, value, reasons) in enumerate(zip(inputs.names, scores.systems, undefined, strict=True)):
        system: dict[str, object] = {
            "system": name,
            "score": finite_or_none(value),
            "segments_without_score": reasons.total(),
            "undefined_reasons": dict(reasons),
        }
        if tested and design:
            system |= {**_test_values(tested[number], design), "resampling_reason": tested[number].reason}
        systems.append(system)
    return written | {"systems": systems}


def write_segments(
    path: Path, inputs: Inputs, metrics: Sequence[Metric], scores: Sequence[Scores], undefined: Sequence[Reasons]
) -> None:
    """Write a row per segment and system with a column per metric, empty without a score; the last column says why."""
    columns = ["line", "system", *(each.signature for each in scores), "undefined_reason"]
    labels = metric_labels(metrics)
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write("\t".join(columns) + "\n")
            for system, name in enumerate(inputs.names):
                rows = zip(*(each.segments[system].tolist() for each in scores), strict=True)
                for number, values in enumerate(rows, start=1):
                    cells = ["" if math.isnan(value) else repr(value) for value in values]
                    reasons = zip(labels, (systems[system][number - 1] for systems in undefined), strict=True)
                    cells.append("; ".join(f"{label}: {reason}" for label, reason in reasons if reason))
                    file.write("\t".join([str(number), name, *cells]) + "\n")
    except OSError as error:
        raise CommandError(f"--segments {path}: cannot be written: {error.strerror}") from error
