"""What both commands read and print of a study."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from correlations.models import ParameterStudy, Study


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


def as_json(study: Study | ParameterStudy) -> str:
    whole = {"study": study.pk, "signature": study.signature, "specification": study.specification}
    return json.dumps(whole | {"result": study.result or {}}, ensure_ascii=False)
