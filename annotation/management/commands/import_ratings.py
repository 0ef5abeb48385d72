from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.datasets.services.imports import resolve_format
from annotation.datasets.services.report import report_rows
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.judgements.services.options import (
    AGGREGATES,
    DEFAULT_CRITERION,
    ITEM_TYPES,
    RATING_ENDINGS,
    RATING_FORMATS,
    SHAPES,
    RatingOptions,
)
from annotation.judgements.services.preview import rating_preview
from annotation.management.importing import (
    add_common_arguments,
    bad_rows,
    content_of,
    member_and_project,
    progress_bar,
    refusing,
    tell,
)
from annotation.models import Dataset

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


def reading_of(options: dict[str, Any]) -> RatingOptions:
    return RatingOptions(
        shape=options["shape"] or "",
        columns=dict(options["column"]),
        criteria=options["criterion"],
        raters=options["rater"],
        criterion=options["name_criterion"],
        aggregate=options["aggregate"],
        only_systems=options["only_system"],
        aliases=dict(options["alias"]),
        item=options["item"],
        item_types=dict(options["item_type"]),
        choices=dict(options["choice"]),
        scale_min=options["scale"][0],
        scale_max=options["scale"][1],
    )


class Command(BaseCommand):
    help = "Import judgements collected elsewhere into a closed campaign: all of them, or none."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_common_arguments(parser, formats=RATING_FORMATS)
        parser.add_argument("--dataset", required=True, help="slug of the data set that was rated")
        parser.add_argument("--name", required=True, help="name of the campaign to create")
        parser.add_argument(
            "--scale",
            nargs=2,
            type=int,
            default=[None, None],
            metavar=("LOW", "HIGH"),
            help="(1 5; for Appraise 0 100)",
        )
        parser.add_argument("--shape", choices=SHAPES, help="what the file holds; recognised if not told")
        parser.add_argument("--look", action="store_true", help="say what the file looks like, and import nothing")
        parser.add_argument(
            "--column",
            action="append",
            type=pair,
            default=[],
            metavar="NAME=HEADER",
            help="a column's name in the file",
        )
        parser.add_argument(
            "--criterion", action="append", default=[], help="a column with ratings; all others if none"
        )
        parser.add_argument("--only-system", action="append", default=[], help="leave rows of other systems out")
        parser.add_argument(
            "--alias",
            action="append",
            type=pair,
            default=[],
            metavar="NAME=SYSTEM",
            help="a name for another's outputs",
        )
        parser.add_argument(
            "--rater", action="append", default=[], help="for a column for each rater: one of them; all others if none"
        )
        parser.add_argument(
            "--name-criterion", default=DEFAULT_CRITERION, help="where the file names none (%(default)s)"
        )
        parser.add_argument("--aggregate", choices=AGGREGATES, default="", help="of medians or means only: which")
        parser.add_argument("--item", default="{item}", help="Appraise: the item's id, such as {document}#{item}")
        parser.add_argument(
            "--item-type",
            action="append",
            type=pair,
            default=[],
            metavar="TYPE=SYSTEM",
            help=f"Appraise: a check ({', '.join(ITEM_TYPES[1:])}) that is a judgement of a system; * is the row's own",
        )
        parser.add_argument(
            "--choice",
            action="append",
            type=pair,
            default=[],
            metavar="LABEL=NUMBER",
            help="Label Studio: the number of a choice",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        dataset = Dataset.objects.filter(project=project, slug=options["dataset"]).first()
        if dataset is None:
            known = ", ".join(project.datasets.values_list("slug", flat=True)) or "none yet"
            raise CommandError(
                f"--dataset: found {options['dataset']!r}; accepted: a data set of the project: {known}."
            )
        filename, content = options["file"].name, content_of(options["file"])
        with refusing():
            reading = reading_of(options)
            if options["look"]:
                self.look(dataset, filename, content, options["format"], reading)
                return
            job = rating_import_create(
                dataset=dataset,
                by=user,
                name=options["name"],
                filename=filename,
                content=content,
                file_format=options["format"],
                options=reading,
            )
        with progress_bar() as progress:
            rating_import_execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        made = {"campaign": job.campaign.name} if job.campaign else {}
        tell(self, job, made=made, as_json=options["json"])

    def look(
        self, dataset: Dataset, filename: str, content: bytes, file_format: str | None, reading: RatingOptions
    ) -> None:
        found = rating_preview(
            dataset=dataset,
            filename=filename,
            content=content,
            file_format=resolve_format(filename, file_format, endings=RATING_ENDINGS),
            options=reading,
        )
        self.stdout.write(found.sentence)
        for what, count in report_rows(found.counts):
            self.stdout.write(f"{count:>9,}  {what}")
        if found.errors:
            raise CommandError(f"So read, nothing could be imported.{bad_rows(vars(found))}")
