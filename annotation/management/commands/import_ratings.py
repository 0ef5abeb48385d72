from argparse import ArgumentParser
from dataclasses import fields
from typing import Any

from django.core.management.base import CommandError

from annotation.datasets.services.report import report_rows
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.judgements.services.options import (
    AGGREGATES,
    DEFAULT_CRITERION,
    RATING_FORMATS,
    SHAPES,
    RatingOptions,
)
from annotation.judgements.services.preview import Preview, judges_line, rating_preview, scale_lines
from annotation.management.base import (
    AssayCommand,
    add_import_arguments,
    content_of,
    member_and_project,
    row_by_name,
    row_errors,
)

# Options that may be repeated, by the field of RatingOptions that they fill.
LISTS = {"criteria": "--criterion", "only_systems": "--only-system", "raters": "--rater"}
PAIRS = {
    "columns": ("--column", "NAME=HEADER"),
    "aliases": ("--alias", "NAME=SYSTEM"),
    "item_types": ("--item-type", "TYPE=SYSTEM"),
    "choices": ("--choice", "LABEL=NUMBER"),
    "scales": ("--scale-of", "CRITERION=LOW:HIGH"),
}
EPILOG = """\
examples:
  manage.py import_dataset demo/examples/dataset.csv --project demo --user manager --name "My data"
  manage.py import_ratings demo/examples/ratings.csv --project demo --user manager --dataset my-data --name "Pilot"
  zcat demo/dstc7/dstc7-task2-human-eval-per-judge.tsv.gz > judges.tsv
  manage.py import_ratings judges.tsv --project demo --user manager --dataset dstc7 --name "All judges" \\
      --column rater=JudgeID --column item=InstanceID --column system=SystemID \\
      --alias TeamEC=TeamCE --scale 1 5 --json > report.json
  manage.py import_ratings scores.csv --project wmt --user manager --dataset news --name "DA" \\
      --item "{document}#{item}" --look

The formats are described in docs/data-formats.md.
"""


def pair(text: str) -> tuple[str, str]:
    name, equals, other = text.partition("=")
    if not (name and equals and other):
        raise ValueError(text)
    return name, other


class Command(AssayCommand):
    help = "Import judgements collected elsewhere into a closed campaign: all of them, or none."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_import_arguments(parser, formats=RATING_FORMATS)
        parser.add_argument("--dataset", required=True, help="slug of the data set that was rated")
        parser.add_argument("--name", required=True, help="name of the campaign to create")
        parser.add_argument("--look", action="store_true", help="preview the file, and import nothing")
        about = {option.name: option.metadata["description"].replace("%", "%%") for option in fields(RatingOptions)}
        parser.add_argument(
            "--scale", nargs=2, type=int, default=[None, None], metavar=("LOW", "HIGH"), help="(1 5; Appraise: 0 100)"
        )
        parser.add_argument("--shape", choices=SHAPES, default="", help=about["shape"])
        parser.add_argument("--name-criterion", default=DEFAULT_CRITERION, help=about["criterion"])
        parser.add_argument("--aggregate", choices=AGGREGATES, default="", help=about["aggregate"])
        parser.add_argument("--item", default="{item}", help=about["item"])
        for field, option in LISTS.items():
            parser.add_argument(option, dest=field, action="append", default=[], help=about[field])
        for field, (option, metavar) in PAIRS.items():
            parser.add_argument(
                option, dest=field, action="append", type=pair, default=[], metavar=metavar, help=about[field]
            )

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        dataset = row_by_name(project.datasets, "--dataset", options["dataset"])
        reading: dict[str, Any] = {name: options[name] for name in ("shape", "aggregate", "item", *LISTS)}
        reading |= {name: dict(options[name]) for name in PAIRS} | {"criterion": options["name_criterion"]}
        reading |= dict(zip(("scale_min", "scale_max"), options["scale"], strict=True))
        upload = {
            "filename": options["file"].name,
            "content": content_of(options["file"]),
            "file_format": options["format"],
            "options": RatingOptions(**reading),
        }
        if options["look"]:
            self._look(rating_preview(dataset=dataset, **upload))
            return
        job = rating_import_create(dataset=dataset, by=user, name=options["name"], **upload)
        self.run_import(job, rating_import_execute, options)

    def _look(self, preview: Preview) -> None:
        self.stdout.write(preview.sentence)
        if preview.judges:
            how = f"To take them as raters, name all raters by {LISTS['raters']}."
            self.stdout.write(f"{judges_line(preview.judges)}. {how}")
        for line in scale_lines(preview):
            self.stdout.write(f"Scale of {line}")
        self.print_counts(report_rows(preview.counts))
        if preview.errors:
            raise CommandError(f"Read like this, nothing can be imported.{row_errors(vars(preview))}")
