"""Play a campaign through with simulated raters, here and now, and print what it foretells."""

import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotation.dry_runs.selectors import dry_run_report
from annotation.dry_runs.services.extent import suggested
from annotation.dry_runs.services.running import dry_run_create, dry_run_execute
from annotation.dry_runs.specification import SETTINGS
from annotation.management.base import AssayCommand, campaign_by_name, check_done
from annotation.models import DryRun

EPILOG = """\
examples:
  With as many raters as the campaign needs:
    manage.py dry_run --project demo --campaign "Reference ratings"

  A third of them spammers, as JSON for a script:
    manage.py dry_run --project demo --campaign 3 --raters 40 --spam-share 0.33 --seed 7 --json

Numbers that are not given are suggested by the campaign. Shares are from 0 to 1.
"""


class Command(AssayCommand):
    help = __doc__
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--campaign", required=True, metavar="NAME|ID")
        for name, setting in SETTINGS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="N", help=setting.bounds.accepted)
        parser.add_argument("--json", action="store_true", help="print specification and result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_by_name(options["project"], options["campaign"])
        given = {name: options[name] for name in SETTINGS if options[name] is not None}
        run = dry_run_create(campaign=campaign, specification={**suggested(campaign).to_dict(), **given})
        with without_request_lines():
            dry_run_execute(dry_run_id=run.pk)
        check_done(run)
        self._print(run, as_json=options["json"])

    def _print(self, run: DryRun, *, as_json: bool) -> None:
        if as_json:
            self.print_json({"specification": run.specification, "result": run.result})
            return
        report = dry_run_report(run)
        for answer in report.answers:
            self.stdout.write(f"{answer.question}\n  {answer.text}")
        for note in report.notes:
            self.stdout.write(f"Note: {note}")
        for finding in run.result["findings"]:
            self.stdout.write(f"Problem: {finding['what']} ({finding['times']} times)")


@contextmanager
def without_request_lines() -> Iterator[None]:
    """Leave the hundreds of requests of simulated raters out of the log; warnings and errors stay."""
    log = logging.getLogger("assay.request")
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(level)
