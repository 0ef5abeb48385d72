"""The base of the commands that compute a study: flags, a specification file, the result as text or JSON."""

import json
import sys
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from django.core.management import CommandError

from annotation.core.jobs import job_requeue
from annotation.management.base import AssayCommand, check_done, progress_bar, project_by_slug
from annotation.models import Project
from correlations.selectors.metrics import study_warning

Flags = dict[str, dict[str, Any]]  # of the fields of a specification; "flag" names it if the field does not


class StudyCommand(AssayCommand, ABC):
    FLAGS: ClassVar[Flags]
    WORDS: ClassVar[str] = "JSON file with the specification; - reads standard input; a flag wins"
    create: Callable[..., tuple[Any, bool]]
    execute_study: Callable[..., None]
    name: ClassVar[str]  # by default

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("words", nargs="*", metavar="spec.json", help=self.WORDS)
        parser.add_argument("--project", help="slug of the project")
        parser.add_argument("--name", default="", help="name of the study; by default the name of the file")
        parser.add_argument("--spec", help="the file, named by an option")
        shared: Flags = {
            "release": {"help": "reference set, or reference set and release: name/v2"},
            "campaigns": {"flag": "--campaign", "action": "append", "help": "whose ratings count; may be repeated"},
            "criteria": {"nargs": "+", "help": "criteria to average; by default all of the campaigns"},
            "bootstrap": {"type": int, "help": "replicates; 0 computes no bootstrap intervals (500)"},
            "seed": {"type": int, "help": "every random choice follows from it"},
        }
        for name, given in (shared | self.FLAGS).items():
            options = {"flag": f"--{name.replace('_', '-')}", **given}
            parser.add_argument(options.pop("flag"), dest=name, **options)
        parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
        self.fields = (*shared, *self.FLAGS)

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["project"]:
            raise CommandError("--project: found nothing; accepted: the slug of a project.")
        project = project_by_slug(options["project"])
        files = [*options["words"], *filter(None, [options["spec"]])]
        if len(files) > 1:
            raise CommandError(f"found {' and '.join(files)}; accepted: one specification.")
        file = files[0] if files else None
        given = read_object(file, option="--spec") if file else {}
        given |= self.flags({name: options[name] for name in self.fields if options[name] is not None})
        name = options["name"] or (Path(file).stem if file not in (None, "-") else self.name)
        specification = self.specification(given)
        if self.run_jointly(project, name, specification, options):
            return
        study, _ = self.create(project=project, name=name, specification=specification, by=None)
        job_requeue(study)
        with progress_bar(quiet=options["json"]) as progress:
            self.execute_study(study_id=study.pk, progress=progress)
        check_done(study)
        self.write_files(study, options)
        if options["json"]:
            whole = {"study": study.pk, "signature": study.signature, "specification": study.specification}
            self.stdout.write(json.dumps(whole | {"result": study.result or {}}, ensure_ascii=False))
            return
        result = study.read_result()
        self.stdout.write(f"{study.name}: {result.items.used:,} items, signature {study.signature[:16]}")
        if warning := study_warning(study):
            self.stdout.write(warning)
        self.report(result)

    def flags(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what flags give, in the form of a specification."""
        return given

    def specification(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the specification, with what it may write as text in its JSON form."""
        return given

    def run_jointly(self, project: Project, name: str, specification: dict[str, Any], options: dict[str, Any]) -> bool:
        """Run a specification over several data sets, if the kind has such; return whether it was one."""
        return False

    def write_files(self, study: Any, options: dict[str, Any]) -> None:
        """Write the files that options name; by default none."""

    @abstractmethod
    def report(self, result: Any) -> None:
        """Print the result as text."""


def read_object(written: str, *, option: str) -> dict[str, Any]:
    """Read an object from a JSON file or standard input (-)."""
    try:
        given = json.loads(sys.stdin.read() if written == "-" else Path(written).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{option} {written}: {error}") from error
    if not isinstance(given, dict):
        raise CommandError(f"{option} {written}: found a {type(given).__name__}; accepted: an object")
    return given


def three_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:z.3f}"
