"""What the commands print."""

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
from metrics.cli.files import Given
from metrics.cli.undefined import Reasons
from metrics.scoring.metric import Metric, metric_labels
from metrics.scoring.registry import METRICS, without_references

FORMATS = ("text", "tsv", "json")


def progress(*, quiet: bool) -> Callable[[str], None]:
    """Says how far it is, to a person who watches; silent into files and pipes."""
    if quiet or not sys.stderr.isatty():
        return lambda said: None
    return lambda said: print(f"\r{said}", end="\n" if said.endswith(".") else "", file=sys.stderr, flush=True)  # noqa: T201


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
        for one in metric.parameter_list():
            names_of = one.name if one.key == one.name else f"{one.name} ({one.key})"
            default = "none" if one.default in ("", None) else one.default
            line(f"    {names_of}: {one.label}; {one.accepted}; by default {default}")
    for where, reason in METRICS.broken.items():
        line(f"{where}  cannot be used: {reason}")


def _bound(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:g}"


def _needs(metric: type[Metric]) -> str:
    unless = ", ".join(f"{name}={value}" for name, value in without_references(metric).items())
    references = f"references (unless {unless})" if unless else "references"
    needed = [
        references if metric.needs_references else "",
        "sources" if metric.needs_sources else "",
        *(f"a {one.choices[0]} model" for one in metric.parameter_list() if one.kind == "model"),
    ]
    return ", ".join(filter(None, needed)) or "the outputs alone"


def print_scores(
    given: Given, metrics: Sequence[Metric], scores: Sequence[Scores], undefined: Sequence[Reasons], written: str
) -> None:
    counts = [[Counter(filter(None, row)) for row in of_metric] for of_metric in undefined]
    if written == "json":
        found = [_as_json(given, own, why) for own, why in zip(scores, counts, strict=True)]
        line(json.dumps(found, ensure_ascii=False, indent=1))
        return
    if written == "tsv":
        line("\t".join(["system", *(own.signature for own in scores)]))
        for place, name in enumerate(given.names):
            line("\t".join([name, *(repr(float(own.systems[place])) for own in scores)]))
        return
    for own in scores:
        line(own.signature)
    width = max(map(len, ("system", *given.names)))
    labels = metric_labels(metrics)
    line("  ".join(["system".ljust(width), *(label.rjust(10) for label in labels)]))
    for place, name in enumerate(given.names):
        cells = [
            f"{own.systems[place]:.4f}".rjust(max(10, len(label))) for own, label in zip(scores, labels, strict=True)
        ]
        line("  ".join([name.ljust(width), *cells]))
    for label, of_systems in zip(labels, counts, strict=True):
        for name, why in zip(given.names, of_systems, strict=True):
            if why:
                told = "; ".join(f"{reason} ({count:,})" for reason, count in why.most_common())
                line(f"{label}, {name}: {why.total():,} of {given.n_segments:,} segments have no score: {told}")


def _as_json(given: Given, own: Scores, undefined: Sequence[Counter[str]]) -> dict[str, object]:
    return {
        "signature": own.signature,
        "segments": given.n_segments,
        "systems": [
            {
                "system": name,
                "score": finite_or_none(value),
                "segments_without_score": why.total(),
                "undefined_reasons": dict(why),
            }
            for name, value, why in zip(given.names, own.systems, undefined, strict=True)
        ],
    }


def write_segments(
    path: Path, given: Given, metrics: Sequence[Metric], scores: Sequence[Scores], undefined: Sequence[Reasons]
) -> None:
    """A row per segment and system: what line, whose, and a column per metric; empty where there is no score, for the
    reasons in the last column."""
    columns = ["line", "system", *(own.signature for own in scores), "undefined_reason"]
    labels = metric_labels(metrics)
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write("\t".join(columns) + "\n")
            for system, name in enumerate(given.names):
                rows = zip(*(own.segments[system].tolist() for own in scores), strict=True)
                for number, values in enumerate(rows, start=1):
                    cells = ["" if math.isnan(value) else repr(value) for value in values]
                    why = [own[system][number - 1] for own in undefined]
                    told = [f"{label}: {reason}" for label, reason in zip(labels, why, strict=True) if reason]
                    cells.append("; ".join(told))
                    file.write("\t".join([str(number), name, *cells]) + "\n")
    except OSError as error:
        raise CommandError(f"--segments {path}: cannot be written: {error.strerror}") from error
