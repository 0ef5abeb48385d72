"""Write a campaign's record: complete as a zip, or one table of it; or check a record that was written."""

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.core.exports import CONTENT_TYPES
from annotation.management.base import AssayCommand, campaign_by_name, write_file
from annotation.models import Campaign
from annotation.records.selectors.tables import TABLES
from annotation.records.services.archive import TABLE_FORMATS, record_chunks, single_chunks
from annotation.records.services.papers import record_documents
from annotation.records.services.verification import record_verify

EPILOG = """\
examples:
  Everything, with a manifest of hashes:
    manage.py export_log --project demo --campaign "Reference ratings" --out record.zip

  One table:
    manage.py export_log --project demo --campaign 3 --table presentations --out presentations.parquet

  Is a record whole and unchanged? Needs no database:
    manage.py export_log --verify record.zip
"""


class Command(AssayCommand):
    help = __doc__
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG")
        parser.add_argument("--campaign", metavar="NAME|ID")
        parser.add_argument(
            "--table", choices=sorted(TABLES), help="only this table; the file's ending decides its format"
        )
        parser.add_argument("--without-parquet", action="store_true", help="only JSON Lines: half the size")
        parser.add_argument("--out", type=Path, metavar="FILE")
        parser.add_argument("--verify", type=Path, metavar="FILE", help="check this record instead")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verify"]:
            self._verify(options["verify"])
            return
        for name in ("project", "campaign", "out"):
            if not options[name]:
                raise CommandError(f"Give --{name}, or --verify alone.")
        campaign = campaign_by_name(options["project"], options["campaign"])
        write_file(options["out"], _chunks(campaign, options), quiet=options["verbosity"] == 0)
        self.stdout.write(f"{options['out']}: {options['out'].stat().st_size:,} bytes")

    def _verify(self, path: Path) -> None:
        findings = record_verify(path)
        for finding in findings:
            self.stdout.write(f"{'ok  ' if finding.ok else 'BAD '}{finding.what}")
        if bad := sum(not finding.ok for finding in findings):
            raise CommandError(f"The record was changed or damaged: {bad} of {len(findings)} checks failed.")
        self.stdout.write(f"The record is whole: {len(findings)} checks passed.")


def _chunks(campaign: Campaign, options: dict[str, Any]) -> Iterable[bytes]:
    if options["table"] is None:
        formats = ("jsonl",) if options["without_parquet"] else TABLE_FORMATS
        return record_chunks(campaign, formats=formats, documents=record_documents)
    ending = options["out"].suffix.removeprefix(".")
    if ending not in CONTENT_TYPES:
        raise CommandError(f"--out: a table is written as {', '.join(CONTENT_TYPES)}; found the ending {ending!r}.")
    return single_chunks(TABLES[options["table"]], campaign, ending)
