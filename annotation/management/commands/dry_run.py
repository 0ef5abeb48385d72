"""Play a campaign through with simulated raters, here and now, and print what it foretells."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import AnnotationError
from annotation.dry_runs.selectors import dry_run_report
from annotation.dry_runs.services.running import dry_run_create, dry_run_execute
from annotation.dry_runs.services.specification import FIELDS, suggested
from annotation.models import Campaign, DryRun, JobState, Project

EPILOG = """\
examples:
  With as many raters as the campaign seems to want:
    manage.py dry_run --project demo --campaign "Reference ratings"

  A third of them spammers, as JSON for a script:
    manage.py dry_run --project demo --campaign 3 --raters 40 --spam-share 0.33 --seed 7 --json

Numbers that are not given are suggested by the campaign. Shares are from 0 to 1.
"""


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--campaign", required=True, metavar="NAME|ID")
        for name, bounds in FIELDS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="N", help=bounds.accepted)
        parser.add_argument("--json", action="store_true", help="print specification and result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = _campaign(options["project"], options["campaign"])
        given = {name: options[name] for name in FIELDS if options[name] is not None}
        try:
            run = dry_run_create(campaign=campaign, specification={**suggested(campaign).to_dict(), **given})
        except AnnotationError as error:
            raise CommandError(error.message) from error
        dry_run_execute(dry_run_id=run.pk)
        run.refresh_from_db()
        if run.state != JobState.DONE:
            raise CommandError(run.error or f"The dry run ended as {run.state}.")
        self._print(run, as_json=options["json"])

    def _print(self, run: DryRun, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"specification": run.specification, "result": run.result}, indent=1))
            return
        report = dry_run_report(run)
        for question, answer, _ in report.verdicts:
            self.stdout.write(f"{question}\n  {answer}")
        for note in report.notes:
            self.stdout.write(f"Note: {note}")
        for finding in run.result["findings"]:
            self.stdout.write(f"Trouble: {finding['what']} ({finding['times']} times)")


def _campaign(slug: str, wanted: str) -> Campaign:
    project = Project.objects.filter(slug=slug, is_sandbox=False).first()
    if project is None:
        raise CommandError(f"--project: no project has the slug {slug!r}.")
    campaigns = Campaign.objects.filter(project=project, imported=False)
    found = campaigns.filter(pk=int(wanted)) if wanted.isdecimal() else campaigns.filter(name=wanted)
    campaign = found.first()
    if campaign is None:
        names = ", ".join(f"{one.pk} ({one.name})" for one in campaigns[:20]) or "none"
        raise CommandError(f"--campaign: found {wanted!r}; accepted: {names}.")
    return campaign
