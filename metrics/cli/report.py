"""What the commands print."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from metrics.cli.cache import Scores
from metrics.cli.errors import CommandError
from metrics.cli.files import Given
from metrics.scoring.metric import Metric, metric_labels
from metrics.scoring.registry import METRICS

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
    needed = [
        "references" if metric.needs_references else "",
        "sources" if metric.needs_sources else "",
        *(f"a {one.choices[0]} model" for one in metric.parameter_list() if one.kind == "model"),
    ]
    return ", ".join(filter(None, needed)) or "the outputs alone"


def print_scores(given: Given, metrics: Sequence[Metric], scores: Sequence[Scores], written: str) -> None:
    if written == "json":
        line(json.dumps([_as_json(given, own) for own in scores], ensure_ascii=False, indent=1))
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
    for label, own in zip(labels, scores, strict=True):
        for name, row in zip(given.names, own.segments, strict=True):
            undefined = sum(map(math.isnan, row.tolist()))
            if undefined:
                line(f"{label}, {name}: {undefined:,} of {given.n_segments:,} segments have no score")


def _as_json(given: Given, own: Scores) -> dict[str, object]:
    return {
        "signature": own.signature,
        "segments": given.n_segments,
        "systems": [
            {"system": name, "score": _finite(float(value)), "segments_without_score": int(sum(map(math.isnan, row)))}
            for name, value, row in zip(given.names, own.systems, own.segments.tolist(), strict=True)
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_segments(path: Path, given: Given, metrics: Sequence[Metric], scores: Sequence[Scores]) -> None:
    """A row per segment and system: what line, whose, and a column per metric; empty where there is no score."""
    columns = ["line", "system", *(own.signature for own in scores)]
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write("\t".join(columns) + "\n")
            for system, name in enumerate(given.names):
                rows = zip(*(own.segments[system].tolist() for own in scores), strict=True)
                for number, values in enumerate(rows, start=1):
                    cells = ["" if math.isnan(value) else repr(value) for value in values]
                    file.write("\t".join([str(number), name, *cells]) + "\n")
    except OSError as error:
        raise CommandError(f"--segments {path}: cannot be written: {error.strerror}") from error
