"""Output of the commands."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from annotation.core.numbers import finite_or_none
from metrics.cli.cache import Scores
from metrics.cli.errors import CommandError
from metrics.cli.files import Inputs
from metrics.cli.undefined import Reasons
from metrics.scoring.metric import Metric, metric_labels
from metrics.scoring.registry import METRICS, without_references

FORMATS = ("text", "tsv", "json")


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
        "sources" if metric.needs_sources else "",
        *(f"a {each.choices[0]} model" for each in metric.parameter_list() if each.kind == "model"),
    ]
    return ", ".join(filter(None, needed)) or "the outputs alone"


def print_scores(
    inputs: Inputs, metrics: Sequence[Metric], scores: Sequence[Scores], undefined: Sequence[Reasons], written: str
) -> None:
    counts = [[Counter(filter(None, row)) for row in systems] for systems in undefined]
    if written == "json":
        results = [_as_json(inputs, *each) for each in zip(scores, counts, strict=True)]
        line(json.dumps(results, ensure_ascii=False, indent=1))
        return
    if written == "tsv":
        line("\t".join(["system", *(each.signature for each in scores)]))
        for system, name in enumerate(inputs.names):
            line("\t".join([name, *(repr(float(each.systems[system])) for each in scores)]))
        return
    for each in scores:
        line(each.signature)
    width = max(map(len, ("system", *inputs.names)))
    labels = metric_labels(metrics)
    line("  ".join(["system".ljust(width), *(label.rjust(10) for label in labels)]))
    for system, name in enumerate(inputs.names):
        values = zip(scores, labels, strict=True)
        cells = [f"{each.systems[system]:.4f}".rjust(max(10, len(label))) for each, label in values]
        line("  ".join([name.ljust(width), *cells]))
    for label, systems in zip(labels, counts, strict=True):
        for name, reasons in zip(inputs.names, systems, strict=True):
            if reasons:
                listed = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common())
                line(f"{label}, {name}: {reasons.total():,} of {inputs.n_segments:,} segments have no score: {listed}")


def _as_json(inputs: Inputs, scores: Scores, undefined: Sequence[Counter[str]]) -> dict[str, object]:
    return {
        "signature": scores.signature,
        "segments": inputs.n_segments,
        "systems": [
            {
                "system": name,
                "score": finite_or_none(value),
                "segments_without_score": reasons.total(),
                "undefined_reasons": dict(reasons),
            }
            for name, value, reasons in zip(inputs.names, scores.systems, undefined, strict=True)
        ],
    }


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
