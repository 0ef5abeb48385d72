import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.core.progress import Progress
from annotation.datasets.services.imports import dataset_import_create, dataset_import_execute
from annotation.datasets.services.synthetic import SyntheticSize, synthetic_files
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.management.base import AssayCommand, add_numbers, check_done, member_and_project, progress_bar

SIZES = {
    "items": "conversations",
    "references": "references of each item, each rated",
    "systems": "systems, each with an output for every item",
    "pairs": "pairs of systems to compare, drawn and named in design.json",
    "raters": "people who rate",
    "ratings": "ratings of each response",
    "seed": "the same seed gives the same bytes",
}
EPILOG = """\
examples:
  manage.py generate_dataset --out /tmp/synthetic
  manage.py generate_dataset --items 200 --project demo --user manager --name "Synthetic, small"
"""


class Command(AssayCommand):
    help = (
        "Make up a data set with ratings, by default at the scale of the first study with weighted references: "
        "2,114 items, 16 references each, 7 systems, 5 ratings of each response on 5 points. Write the files that "
        "import_dataset and import_ratings read, or import them into a project."
    )
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_numbers(parser, SIZES, SyntheticSize())
        parser.add_argument("--out", type=Path, help="folder to write the files to; created if missing")
        parser.add_argument("--project", help="slug of a project to import into")
        parser.add_argument("--user", help="... on behalf of this manager or owner")
        parser.add_argument(
            "--name", default="Synthetic conversations", help="... as a data set of this name (%(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print a summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["out"] and not options["project"]:
            raise CommandError("Say where to put it: --out FOLDER, or --project SLUG --user NAME.")
        try:
            size = SyntheticSize(**{name: options[name] for name in SIZES})
        except ValueError as error:
            raise CommandError(f"--{error}") from error
        with progress_bar() as progress:
            progress(0, 4, "Making up conversations")
            files = synthetic_files(size)
            made: dict[str, Any] = {"design": json.loads(files["design.json"])}
            if options["out"]:
                made["files"] = self._write(files, options["out"])
            if options["project"]:
                made |= self._import(files, options, progress)
            progress(4, 4, "Done")
        self._print(made, as_json=options["json"])

    def _write(self, files: dict[str, bytes], folder: Path) -> list[str]:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (folder / name).write_bytes(content)
        except OSError as error:
            raise CommandError(f"--out: found {folder} ({error.strerror}); accepted: a folder to write to.") from error
        return [str(folder / name) for name in files]

    def _import(self, files: dict[str, bytes], options: dict[str, Any], progress: Progress) -> dict[str, Any]:
        user, project = member_and_project(options)
        progress(1, 4, "Importing the data set")
        job = dataset_import_create(
            project=project, by=user, name=options["name"], filename="items.jsonl", content=files["items.jsonl"]
        )
        dataset_import_execute(import_id=job.pk)
        check_done(job)
        dataset = job.dataset
        assert dataset is not None  # noqa: S101 - a finished import has one
        campaigns = []
        for step, kind in enumerate(("reference", "output"), start=2):
            progress(step, 4, f"Importing the {kind} ratings")
            name = f"{options['name']}: {kind} ratings"
            filename = f"{kind}-ratings.csv"
            ratings = rating_import_create(
                dataset=dataset, by=user, name=name, filename=filename, content=files[filename]
            )
            rating_import_execute(import_id=ratings.pk)
            check_done(ratings)
            campaigns.append(ratings.name)
        return {"dataset": dataset.slug, "campaigns": campaigns}

    def _print(self, made: dict[str, Any], *, as_json: bool) -> None:
        if as_json:
            self.print_json(made)
            return
        for path in made.get("files", []):
            self.stdout.write(f"Wrote {path}")
        if "dataset" in made:
            self.stdout.write(f"Imported the data set {made['dataset']} and {' and '.join(made['campaigns'])}")
