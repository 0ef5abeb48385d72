from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotation.core.errors import ImportRefused
from annotation.core.file_limits import WORKER
from annotation.core.problems import problem_sentence
from annotation.core.rows import FORMATS
from annotation.datasets.services.outputs import outputs_add, outputs_preview
from annotation.management.base import (
    AssayCommand,
    add_import_arguments,
    content_of,
    member_and_project,
    row_by_name,
)

EPILOG = """\
examples:
  manage.py add_outputs system-c.csv --project demo --user manager --dataset dstc7 --system SystemC --check
  manage.py add_outputs outputs.jsonl --project demo --user manager --dataset dstc7

docs/data-formats.md describes the files.
"""


class Command(AssayCommand):
    help = "Add outputs of systems to the items of a data set that exists: all in the file, or none."
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_import_arguments(parser, formats=FORMATS)
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="whose items the systems answered")
        parser.add_argument("--system", default="", help="name of the system, if the file does not name it")
        parser.add_argument("--check", action="store_true", help="show what the file holds, and store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        path: Path = options["file"]
        file: dict[str, Any] = {
            "dataset": row_by_name(project.datasets, "--dataset", options["dataset"]),
            "filename": path.name,
            "content": content_of(path),
            "file_format": options["format"],
            "system": options["system"],
            "limits": WORKER,
        }
        try:
            added = outputs_preview(**file) if options["check"] else outputs_add(**file, by=user)
        except ImportRefused as refusal:
            for row in refusal.rows[1:]:
                self.stderr.write(problem_sentence(row))
            raise
        if options["json"]:
            self.print_json(asdict(added))
            return
        self.print_counts(
            [
                ("Outputs", added.outputs),
                (f"Items, of {added.items_of_dataset:,}", added.items),
                ("New responses", added.new_responses),
                ("Responses that were there", added.known_responses),
                *(
                    (f"{each.system} ({'new' if each.is_new else 'has others'})", each.outputs)
                    for each in added.systems
                ),
            ]
        )
