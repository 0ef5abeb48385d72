"""The commands: list metrics, score files, train a model, estimate quality without references."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from metrics.cli import quality, report, significance
from metrics.cli.cache import ScoreCache, usual_directory
from metrics.cli.errors import CommandError
from metrics.cli.files import read_inputs
from metrics.cli.scoring import score
from metrics.cli.specifications import metric_from
from metrics.cli.training import train
from metrics.cli.undefined import reasons
from metrics.scoring.models.kinds import TRAINABLE
from metrics.scoring.models.store import ModelStore
from metrics.scoring.registry import METRICS
from metrics.subsets import Subset

REFUSED = 2

DESCRIPTION = """\
Metrics of generated text from files, without a database.

  python -m metrics list
  python -m metrics score --systems mine.txt theirs.txt --references ref0.txt ref1.txt --metric bleu --metric chrf
  python -m metrics score --systems mine.txt --weighted my-set-v1-weighted.tsv --metric delta_bleu:order=2,tok=13a
  python -m metrics score --systems base.txt mine.txt --references ref0.txt --metric chrf --metric ter --paired-bs
  python -m metrics train lsa --texts conversations.txt --models models
  python -m metrics qe rated.csv --source mr --output output --rating quality --quick
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except CommandError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)  # noqa: T201 # output of a command
        return REFUSED
    except BrokenPipeError:
        # The reader has stopped: drop what is left in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m metrics", description=DESCRIPTION, formatter_class=plain)
    commands = parser.add_subparsers(required=True, metavar="command")
    listed = commands.add_parser("list", help="metrics, their parameters and their ranges")
    listed.add_argument("metric", nargs="*", help="these alone")
    listed.set_defaults(run=_list)
    _score_options(commands.add_parser("score", help="score systems' outputs", formatter_class=plain))
    _train_options(commands.add_parser("train", help="train a model that metrics read"))
    quality.add_options(commands.add_parser("qe", help="predict ratings without references", formatter_class=plain))
    return parser


def _score_options(parser: argparse.ArgumentParser) -> None:
    texts = parser.add_argument_group("texts", "a text a line, UTF-8; .gz and .zst are unpacked; - is standard input")
    texts.add_argument("--systems", nargs="+", required=True, metavar="[NAME=]FILE", help="outputs of each system")
    texts.add_argument("--references", nargs="+", default=[], metavar="FILE", help="an empty line: no reference there")
    texts.add_argument("--weighted", metavar="FILE", help="a release's weighted.tsv or items.jsonl")
    texts.add_argument("--sources", metavar="FILE", help="what is answered or rephrased")
    scored = parser.add_argument_group("what is computed")
    scored.add_argument("--metric", action="append", required=True, metavar="NAME[:KEY=VALUE,...]", help="once or more")
    scored.add_argument("--subset", default="all", help="references: all, original (the first), w>0, w>=0.6 (all)")
    scored.add_argument("--models", type=Path, action="append", default=[], metavar="FOLDER", help="trained models")
    significance.add_options(parser)
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--format", choices=report.FORMATS, default="text")
    shown.add_argument("--segments", type=Path, metavar="FILE", help="also write every segment's scores, as TSV")
    shown.add_argument("--quiet", action="store_true", help="no progress")
    shown.add_argument("--cache", type=Path, default=usual_directory(), metavar="FOLDER", help="(%(default)s)")
    shown.add_argument("--no-cache", action="store_true", help="compute all of it, and keep nothing")
    parser.set_defaults(run=_score)


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=TRAINABLE)
    parser.add_argument("--texts", nargs="+", required=True, metavar="FILE", help="a text a line, UTF-8; .gz, .zst, -")
    parser.add_argument("--models", type=Path, required=True, metavar="FOLDER", help="where the model is kept")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="once or more")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=_train)


def _list(options: argparse.Namespace) -> None:
    unknown = [name for name in options.metric if name not in METRICS]
    if unknown:
        raise CommandError(f"metric: found {unknown[0]!r}; accepted: {', '.join(METRICS)}")
    report.print_metrics(options.metric or list(METRICS))


def _score(options: argparse.Namespace) -> None:
    models = ModelStore(options.models)
    metrics = [metric_from(written, models) for written in options.metric]
    if len(set(metrics)) < len(metrics):
        raise CommandError("--metric: found one metric twice with equal parameters; accepted: each once")
    try:
        subset = Subset.parse(options.subset)
    except ValueError as error:
        raise CommandError(f"--{error}") from error
    design = significance.design_from(options)
    if design:
        significance.check_systems(design, options.systems)
    inputs = read_inputs(options.systems, options.references, options.weighted, options.sources)
    cache = ScoreCache(None if options.no_cache else options.cache)
    progress = report.progress(quiet=options.quiet)
    scores = score(inputs, metrics, subset, models, cache, progress, to_resample=design is not None)
    undefined = [reasons(inputs, metric, subset, each) for metric, each in zip(metrics, scores, strict=True)]
    results = [significance.tested(inputs, each, design) for each in scores] if design else None
    report.print_scores(inputs, metrics, scores, undefined, report.Output(options.format, design, results))
    if options.segments:
        report.write_segments(options.segments, inputs, metrics, scores, undefined)


def _train(options: argparse.Namespace) -> None:
    train(options.kind, options.texts, options.option, options.models, report.progress(quiet=options.quiet))
