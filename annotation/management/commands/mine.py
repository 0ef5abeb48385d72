"""Mine references for the seeds of a data set from a corpus, here and now; --store adds them to the data set."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import CommandError

from annotation.management.base import (
    AssayCommand,
    add_member_arguments,
    add_numbers,
    check_done,
    content_of,
    json_list,
    member_and_project,
    progress_bar,
    row_by_name,
)
from annotation.mining.services.report import run_report
from annotation.mining.services.runs import mining_run_create, mining_run_execute
from annotation.mining.services.storing import mining_run_store
from annotation.mining.specification import MiningSpecification
from annotation.models import MiningRun, Project, SourceKind, User

NUMBERS = {
    "n": "mined responses per seed",
    "negatives": "random responses per seed",
    "depth": "how many times n the ranking is followed",
    "seed": "of the random responses",
    "near_duplicate": "least resemblance of near-duplicates",
    "alpha": "of the score",
    "epsilon": "of the score",
}
EPILOG = """\
examples:
  Fifteen for each original response, and the message parroted, into the data set at once:
    manage.py mine --project demo --user manager --dataset chats --corpus pool --store

  The seed is the output of a system; with random negatives and text hygiene, as JSON for a script:
    manage.py mine --project demo --user manager --dataset dstc7 --corpus pool --seed-source Human \\
      --negatives 3 --hygiene hygiene.json --json

  hygiene.json holds a list of steps:
    [{"step": "mask_urls"}, {"step": "language", "language": "en"}, {"step": "length", "max_tokens": 40}]
"""


class Command(AssayCommand):
    help = __doc__
    epilog = EPILOG

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_member_arguments(parser)
        parser.add_argument("--dataset", required=True, metavar="SLUG")
        parser.add_argument("--corpus", required=True, metavar="SLUG")
        parser.add_argument(
            "--seed-source", default=SourceKind.SEED.value, metavar="SYSTEM|KIND", help="what the seed is (%(default)s)"
        )
        parser.add_argument("--split", action="append", default=[], help="only items of this split; repeatable")
        add_numbers(parser, NUMBERS, MiningSpecification())
        parser.add_argument("--no-parrot", action="store_true", help="without the message itself as a response")
        parser.add_argument("--hygiene", type=Path, metavar="FILE", help="JSON list of steps")
        parser.add_argument("--store", action="store_true", help="add the kept candidates to the data set")
        parser.add_argument("--no-near-duplicates", action="store_true", help="with --store: without near-duplicates")
        parser.add_argument(
            "--leave-out",
            type=Path,
            metavar="FILE",
            help="with --store: without the candidates in this JSON Lines, in the format of a download",
        )
        parser.add_argument("--json", action="store_true", help="print the run and its report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        run = _create_run(project, user, options)
        with progress_bar() as progress:
            mining_run_execute(run_id=run.pk, progress=progress)
        check_done(run)
        if options["store"]:
            near = False if options["no_near_duplicates"] else None
            mining_run_store(run=run, near_duplicates=near, leave_out=_left_out(run, options["leave_out"]), by=user)
            run.refresh_from_db()
        self._print(run, as_json=options["json"])

    def _print(self, run: MiningRun, *, as_json: bool) -> None:
        if as_json:
            record = {
                "run": run.pk,
                "dataset": run.dataset.slug,
                "corpus": run.corpus.slug,
                "specification": run.specification,
                "signature": run.signature,
                "report": run.report,
            }
            self.print_json(record)
            return
        report = run_report(run)
        self.stdout.write(f"{run}: {report.seeds:,} seeds, {report.n_kept:,} candidates kept")
        for row in report.kinds:
            fates = ", ".join(f"{n:,} {fate}" for fate, n in row.fates.items())
            self.stdout.write(f"{row.all:>13,}  {row.label} ({fates})")
        self.stdout.write(f"{report.fewer:>13,}  Seeds with fewer mined texts than requested")
        self.stdout.write(f"{report.near_kept:>13,}  Near-duplicates kept")
        for step in report.steps:
            self.stdout.write(f"{step.n:>13,}  {step.step} ({step.fate})")
        if run.stored_at is not None:
            stored = run.report["stored"]
            self.stdout.write(
                f"{stored['new_responses']:>13,}  New responses of {run.dataset}, and {stored['known_responses']:,} "
                "known ones with a further source"
            )


def _create_run(project: Project, user: User, options: dict[str, Any]) -> MiningRun:
    dataset = row_by_name(project.datasets, "--dataset", options["dataset"])
    corpus = row_by_name(project.corpora.defer("content"), "--corpus", options["corpus"])
    kinds = [kind for kind in SourceKind.values if kind != SourceKind.SYSTEM]
    source = options["seed_source"]
    specification = {name: options[name] for name in NUMBERS} | {"parrot": not options["no_parrot"]}
    return mining_run_create(
        project=project,
        dataset=dataset,
        corpus=corpus,
        specification=specification | {"hygiene": json_list(options["hygiene"], option="--hygiene")},
        seed_choice={("kind" if source in kinds else "system"): source, "splits": options["split"]},
        by=user,
    )


def _left_out(run: MiningRun, path: Path | None) -> list[int] | None:
    """Return the ids of the candidates that a file names by item, kind and rank."""
    if path is None:
        return None
    ids = []
    for number, line in enumerate(content_of(path, option="--leave-out").splitlines(), start=1):
        try:
            row = json.loads(line)
            named = {"item__external_id": row["item_id"], "kind": row["kind"], "rank": row["rank"]}
            ids.append(run.candidates.values_list("pk", flat=True).get(**named))
        except (ValueError, LookupError, TypeError, ObjectDoesNotExist) as error:
            raise CommandError(
                f"--leave-out: {path}, line {number}: found {line.decode(errors='replace')[:80]}; accepted: item_id, "
                f"kind and rank of a candidate of {run}."
            ) from error
    return ids
