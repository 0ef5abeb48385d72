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
from correlations.selectors.metrics import study_warning

Flags = dict[str, dict[str, Any]]  # of the fields of a specification; "flag" names it if the field does not


class StudyCommand(AssayCommand, ABC):
    FLAGS: ClassVar[Flags]
    create: Callable[..., tuple[Any, bool]]
    execute_study: Callable[..., None]
    name: ClassVar[str]  # by default

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--name", default="", help="name of the study; by default the name of the file")
        parser.add_argument("--spec", help="JSON file with the specification; - reads standard input; a flag wins")
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
        project = project_by_slug(options["project"])
        given = read_specification(options["spec"])
        given |= {name: options[name] for name in self.fields if options[name] is not None}
        name = options["name"] or (Path(options["spec"]).stem if options["spec"] not in (None, "-") else self.name)
        study, _ = self.create(project=project, name=name, specification=self.specification(given), by=None)
        job_requeue(study)
        with progress_bar(quiet=options["json"]) as progress:
            self.execute_study(study_id=study.pk, progress=progress)
        check_done(study)
        if options["json"]:
            whole = {"study": study.pk, "signature": study.signature, "specification": study.specification}
            self.stdout.write(json.dumps(whole | {"result": study.result or {}}, ensure_ascii=False))
            return
        result = study.read_result()
        self.stdout.write(f"{study.name}: {result.items.used:,} items, signature {study.signature[:16]}")
        if warning := study_warning(study):
            self.stdout.write(warning)
        self.report(result)

    def specification(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the specification, with what flags write as text in its JSON form."""
        return given

    @abstractmethod
    def report(self, result: Any) -> None:
        """Print the result as text."""


def read_specification(written: str | None) -> dict[str, Any]:
    """Read the specification from a JSON file or standard input (-); empty if no file is named."""
    if not written:
        return {}
    try:
        given = json.loads(sys.stdin.read() if written == "-" else Path(written).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"--spec {written}: {error}") from error
    if not isinstance(given, dict):
        raise CommandError(f"--spec {written}: found a {type(given).__name__}; accepted: an object")
    return given


def three_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:z.3f}"
