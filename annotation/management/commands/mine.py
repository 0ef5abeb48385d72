"""Mine references for the seeds of a data set from a corpus, here and now; --store adds them to the data set."""

import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError

from annotation.core.errors import AnnotationError
from annotation.management.importing import member_and_project, progress_bar, refusing
from annotation.mining.services import mining_run_create, mining_run_execute, mining_run_store
from annotation.mining.services.report import run_report
from annotation.mining.specification import MiningSpecification
from annotation.models import JobState, MiningRun, Project, SourceKind, User

DEFAULTS = MiningSpecification()
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


class Command(BaseCommand):
    help = __doc__

    def create_parser(self, *args: Any, **options: Any) -> Any:
        return super().create_parser(*args, epilog=EPILOG, formatter_class=RawDescriptionHelpFormatter, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", required=True, help="username on whose behalf; a manager or owner of the project")
        parser.add_argument("--dataset", required=True, metavar="SLUG")
        parser.add_argument("--corpus", required=True, metavar="SLUG")
        parser.add_argument(
            "--seed-source", default=SourceKind.SEED.value, metavar="SYSTEM|KIND", help="what the seed is (%(default)s)"
        )
        parser.add_argument("--split", action="append", default=[], help="only items of this split; repeatable")
        for name, what in NUMBERS.items():
            default = getattr(DEFAULTS, name)
            parser.add_argument(
                f"--{name.replace('_', '-')}", type=type(default), default=default, help=f"{what} (%(default)s)"
            )
        parser.add_argument("--no-parrot", action="store_true", help="without the message itself as a response")
        parser.add_argument("--hygiene", type=Path, metavar="FILE", help="JSON list of steps")
        parser.add_argument("--store", action="store_true", help="add what was kept to the data set")
        parser.add_argument(
            "--no-near-duplicates", action="store_true", help="with --store: all but those marked as near"
        )
        parser.add_argument(
            "--leave-out",
            type=Path,
            metavar="FILE",
            help="with --store: all near-duplicates but those in this JSON Lines, as candidates are downloaded",
        )
        parser.add_argument("--json", action="store_true", help="print the run and its report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        user, project = member_and_project(options)
        with refusing():
            run = _asked(project, user, options)
        with progress_bar() as progress:
            mining_run_execute(run_id=run.pk, progress=progress)
        run.refresh_from_db()
        if run.state != JobState.DONE:
            raise CommandError(run.error or f"The run ended as {run.state}.")
        if options["store"]:
            with refusing():
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
            self.stdout.write(json.dumps(record, ensure_ascii=False, indent=2))
            return
        report = run_report(run)
        self.stdout.write(f"{run}: {report.seeds:,} seeds, {report.n_kept:,} candidates kept")
        for row in report.kinds:
            fates = ", ".join(f"{n:,} {fate}" for fate, n in row.fates.items())
            self.stdout.write(f"{row.all:>13,}  {row.label} ({fates})")
        self.stdout.write(f"{report.fewer:>13,}  Seeds with fewer mined texts than asked for")
        self.stdout.write(f"{report.near_kept:>13,}  Near-duplicates kept")
        for step in report.steps:
            self.stdout.write(f"{step.n:>13,}  {step.step} ({step.fate})")
        if run.stored_at is not None:
            stored = run.report["stored"]
            self.stdout.write(
                f"{stored['new_responses']:>13,}  New responses of {run.dataset}, and {stored['known_responses']:,} "
                "that were there and got a further source"
            )


def _asked(project: Project, user: User, options: dict[str, Any]) -> MiningRun:
    dataset = _found(project.datasets, "--dataset", options["dataset"])
    corpus = _found(project.corpora.defer("content"), "--corpus", options["corpus"])
    kinds = [kind for kind in SourceKind.values if kind != SourceKind.SYSTEM]
    source = options["seed_source"]
    specification = {name: options[name] for name in NUMBERS} | {"parrot": not options["no_parrot"]}
    return mining_run_create(
        project=project,
        dataset=dataset,
        corpus=corpus,
        specification=specification | {"hygiene": _hygiene(options["hygiene"])},
        seed_choice={("kind" if source in kinds else "system"): source, "splits": options["split"]},
        by=user,
    )


def _found(related: Any, option: str, slug: str) -> Any:
    found = related.filter(slug=slug).first()
    if found is None:
        accepted = ", ".join(related.values_list("slug", flat=True)[:20]) or "none is there yet"
        raise AnnotationError(f"{option}: found {slug!r}; accepted: {accepted}.")
    return found


def _left_out(run: MiningRun, path: Path | None) -> list[int] | None:
    """Ids of the candidates that a file names by item, kind and rank."""
    if path is None:
        return None
    found = []
    for number, line in enumerate(_read("--leave-out", path).splitlines(), start=1):
        try:
            row = json.loads(line)
            named = {"item__external_id": row["item_id"], "kind": row["kind"], "rank": row["rank"]}
            found.append(run.candidates.values_list("pk", flat=True).get(**named))
        except (ValueError, LookupError, TypeError, ObjectDoesNotExist) as error:
            raise AnnotationError(
                f"--leave-out: {path}, line {number}: found {line[:80]}; accepted: item_id, kind and rank of a "
                f"candidate of {run}."
            ) from error
    return found


def _read(option: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise AnnotationError(f"{option}: {path} cannot be read: {error.strerror}.") from error


def _hygiene(path: Path | None) -> list[Any]:
    if path is None:
        return []
    try:
        steps: list[Any] = json.loads(_read("--hygiene", path))
    except ValueError as error:
        raise AnnotationError(f"--hygiene: {path} is not JSON: {error}.") from error
    return steps
