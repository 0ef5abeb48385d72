"""Import reference weights that were made elsewhere, as a finished release: all of them, or none."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.errors import ImportRefused
from annotation.management.base import (
    AssayCommand,
    add_import_arguments,
    content_of,
    member_and_project,
    row_by_name,
    row_errors,
)
from annotation.references.releases.selectors.releases import release_name
from annotation.references.releases.services.imports import ImportOptions, release_import
from annotation.references.sets.services import TEXT_KINDS

EPILOG = """\
examples:
  What another Assay exported:
    manage.py import_references demo-ours-v1-items.jsonl --project demo --user manager --dataset dstc7 --name "Theirs"

  Weights of texts that the data set does not have:
    manage.py import_references weights.tsv --project demo --user manager --dataset dstc7 --name "Theirs" \\
      --add-texts --kind mined --origin "https://example.org/weights" --licence "CC BY 4.0"

  The next release of a set that is there:
    manage.py import_references later.csv --project demo --user manager --dataset dstc7 --reference-set theirs

The formats are described in docs/data-formats.md.
"""


class Command(AssayCommand):
    help = __doc__
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_import_arguments(parser)
        parser.add_argument(
            "--dataset", required=True, help="slug of the data set whose items and texts the file names"
        )
        parser.add_argument("--name", default="", help="name of the new reference set")
        parser.add_argument("--reference-set", metavar="SLUG", help="or: make it the next release of this set")
        parser.add_argument("--origin", default="", help="where the weights come from")
        parser.add_argument("--licence", default="", help="of the weights")
        parser.add_argument("--add-texts", action="store_true", help="add texts that the data set does not have")
        parser.add_argument(
            "--kind",
            choices=TEXT_KINDS,
            default="human",
            help="of added texts for which the file names none (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        dataset = row_by_name(project.datasets, "--dataset", options["dataset"])
        slug = options["reference_set"]
        reference_set = row_by_name(dataset.reference_sets, "--reference-set", slug) if slug else None
        try:
            release = release_import(
                dataset=dataset,
                filename=options["file"].name,
                content=content_of(options["file"]),
                options=ImportOptions(
                    reference_set=reference_set,
                    file_format=options["format"],
                    **{name: options[name] for name in ("name", "add_texts", "kind", "origin", "licence")},
                ),
                by=user,
            )
        except ImportRefused as error:
            report = {"errors": error.rows, "total": error.total}
            raise CommandError(f"{error.message}{row_errors(report)}") from error
        name, report = release_name(release), release.report
        if options["json"]:
            self.print_json({"release": name, "content_hash": release.content_hash, "report": report})
            return
        items = report["items"]
        self.stdout.write(f"{name}: {report['references']['weighted']:,} weights imported")
        self.stdout.write(f"  {items['without_positive']:,} of {items['with_weight']:,} items have no positive weight")
        self.stdout.write(f"  {report['imported']['texts_added']:,} texts added to the data set “{dataset}”")
        self.stdout.write(f"  sha256 {release.content_hash}")
