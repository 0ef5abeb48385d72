from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.datasets.services.imports import dataset_import_execute
from annotation.management.base import (
    AssayCommand,
    add_member_arguments,
    add_normalisation,
    json_list,
    member_and_project,
    row_by_name,
)
from annotation.seeds.services.sampling import seeds_sample

EPILOG = """\
examples:
  As many as the paper of ΔBLEU judged:
    manage.py sample_seeds --project demo --user manager --corpus pool --name "Candidates" --n 33000

  Short ones without account names, as JSON for a script:
    manage.py sample_seeds --project demo --user manager --corpus pool --name "Short" --n 500 \\
      --hygiene hygiene.json --json

  hygiene.json holds a list of steps:
    [{"step": "mask_handles"}, {"step": "length", "max_tokens": 20}]
"""


class Command(AssayCommand):
    help = "Draw triples of a corpus at random into a new data set, each with its response as seed: here and now."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_member_arguments(parser)
        parser.add_argument("--corpus", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, help="name of the data set to create")
        parser.add_argument("--n", type=int, required=True, help="triples, each drawn at most once")
        parser.add_argument("--seed", type=int, default=20150726, help="random seed of the draw (%(default)s)")
        parser.add_argument("--hygiene", type=Path, metavar="FILE", help="JSON: a list of steps")
        add_normalisation(parser)
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        job = seeds_sample(
            corpus=row_by_name(project.corpora, "--corpus", options["corpus"]),
            hygiene=json_list(options["hygiene"], option="--hygiene"),
            by=user,
            **{name: options[name] for name in ("name", "n", "seed", "normalisation")},
        )
        self.run_import(job, dataset_import_execute, options)
