from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.importing import (
    add_common_arguments,
    content_of,
    member_and_project,
    progress_bar,
    refusing,
    tell,
)
from annotation.models import Dataset
from annotation.services.imports import rating_import_create, rating_import_execute
from annotation.services.imports.rating_files import RatingOptions

EPILOG = """\
examples:
  manage.py import_dataset demo/examples/dataset.csv --project demo --user manager --name "My data"
  manage.py import_ratings demo/examples/ratings.csv --project demo --user manager --dataset my-data --name "Pilot"
  zcat demo/dstc7/dstc7-task2-human-eval-per-judge.tsv.gz > judges.tsv
  manage.py import_ratings judges.tsv --project demo --user manager --dataset dstc7 --name "All judges" \\
      --column rater=JudgeID --column item=InstanceID --column system=SystemID \\
      --alias TeamEC=TeamCE --scale 1 5 --json > report.json

The formats are described in docs/data-formats.md.
"""


def pair(text: str) -> tuple[str, str]:
    name, equals, other = text.partition("=")
    if not (name and equals and other):
        raise ValueError(text)
    return name, other


class Command(BaseCommand):
    help = "Import judgements collected elsewhere into a closed campaign: all of them, or none."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_common_arguments(parser)
        parser.add_argument("--dataset", required=True, help="slug of the data set that was rated")
        parser.add_argument("--name", required=True, help="name of the campaign to create")
        parser.add_argument("--scale", nargs=2, type=int, default=[1, 5], metavar=("LOW", "HIGH"), help="(1 5)")
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

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        dataset = Dataset.objects.filter(project=project, slug=options["dataset"]).first()
        if dataset is None:
            known = ", ".join(project.datasets.values_list("slug", flat=True)) or "none yet"
            raise CommandError(
                f"--dataset: found {options['dataset']!r}; accepted: a data set of the project: {known}."
            )
        with refusing():
            job = rating_import_create(
                dataset=dataset,
                by=user,
                name=options["name"],
                filename=options["file"].name,
                content=content_of(options["file"]),
                file_format=options["format"],
                options=RatingOptions(
                    columns=dict(options["column"]),
                    criteria=options["criterion"],
                    only_systems=options["only_system"],
                    aliases=dict(options["alias"]),
                    scale_min=options["scale"][0],
                    scale_max=options["scale"][1],
                ),
            )
        with progress_bar() as progress:
            rating_import_execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        made = {"campaign": job.campaign.name} if job.campaign else {}
        tell(self, job, made=made, as_json=options["json"])
