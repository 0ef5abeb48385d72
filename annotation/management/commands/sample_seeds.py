import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import AnnotationError
from annotation.core.normalisation import DEFAULT_RULE, RULES
from annotation.datasets.services.imports import dataset_import_execute
from annotation.management.importing import member_and_project, progress_bar, refusing, tell
from annotation.seeds.services.selections import seeds_sample

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


class Command(BaseCommand):
    help = "Draw triples of a corpus at random into a new data set, each with its response as seed: here and now."

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")
        parser.add_argument("--corpus", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, help="name of the data set to create")
        parser.add_argument("--n", type=int, required=True, help="triples, each drawn at most once")
        parser.add_argument("--seed", type=int, default=20150726, help="decides what is drawn (%(default)s)")
        parser.add_argument("--hygiene", type=Path, metavar="FILE", help="JSON: a list of steps")
        parser.add_argument(
            "--normalisation", choices=RULES, default=DEFAULT_RULE, help="when two texts are one response (%(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print the report as JSON on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        corpus = project.corpora.filter(slug=options["corpus"]).first()
        with refusing():
            if corpus is None:
                known = ", ".join(project.corpora.values_list("slug", flat=True)) or "none yet"
                raise AnnotationError(f"--corpus: found {options['corpus']!r}; accepted: {known}.")
            job = seeds_sample(
                corpus=corpus,
                name=options["name"],
                n=options["n"],
                seed=options["seed"],
                hygiene=_steps(options["hygiene"]),
                normalisation=options["normalisation"],
                by=user,
            )
        with progress_bar() as progress:
            dataset_import_execute(import_id=job.pk, progress=progress)
        job.refresh_from_db()
        tell(self, job, made={"dataset": job.dataset.slug} if job.dataset else {}, as_json=options["json"])


def _steps(path: Path | None) -> list[Any]:
    if path is None:
        return []
    try:
        found = json.loads(path.read_text())
    except OSError as error:
        raise CommandError(f"--hygiene: found {path} ({error.strerror}); accepted: a file that can be read.") from error
    except ValueError as error:
        raise CommandError(f"--hygiene: {path} is no JSON: {error}") from error
    if not isinstance(found, list):
        raise CommandError(f"--hygiene: {path} holds no list; accepted: a list of steps.")
    return found
