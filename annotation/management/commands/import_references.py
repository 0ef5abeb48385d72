"""Import reference weights that were made elsewhere, as a finished release: all of them, or none."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import ImportRefused
from annotation.management.importing import add_common_arguments, bad_rows, content_of, member_and_project, refusing
from annotation.references.releases.selectors.releases import release_name
from annotation.references.releases.services.imports import ADDED_KINDS, release_import

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


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_common_arguments(parser)
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
            choices=ADDED_KINDS,
            default="human",
            help="of added texts for which the file names none (%(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        dataset = self._named(project.datasets.all(), options["dataset"], "--dataset")
        slug = options["reference_set"]
        reference_set = self._named(dataset.reference_sets.all(), slug, "--reference-set") if slug else None
        with refusing():
            try:
                release = release_import(
                    dataset=dataset,
                    filename=options["file"].name,
                    content=content_of(options["file"]),
                    by=user,
                    name=options["name"],
                    reference_set=reference_set,
                    file_format=options["format"],
                    add_texts=options["add_texts"],
                    kind=options["kind"],
                    origin=options["origin"],
                    licence=options["licence"],
                )
            except ImportRefused as error:
                found = {"errors": error.rows, "total": error.total}
                raise CommandError(f"{error.message}{bad_rows(found)}") from error
        if options["json"]:
            record = {"release": release_name(release), "content_hash": release.content_hash, "report": release.report}
            self.stdout.write(json.dumps(record, ensure_ascii=False, indent=2))
            return
        report = release.report
        self.stdout.write(f"{release_name(release)}: {report['references']['weighted']:,} weights imported")
        items = report["items"]
        self.stdout.write(f"  {items['without_positive']:,} of {items['with_weight']:,} items have no positive weight")
        self.stdout.write(f"  {report['imported']['texts_added']:,} texts added to the data set “{dataset}”")
        self.stdout.write(f"  sha256 {release.content_hash}")

    def _named(self, rows: Any, slug: str, option: str) -> Any:
        found = rows.filter(slug=slug).first()
        if found is None:
            known = ", ".join(rows.values_list("slug", flat=True)[:20]) or "none yet"
            raise CommandError(f"{option}: found {slug!r}; accepted: {known}.")
        return found
