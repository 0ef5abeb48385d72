"""The version of the running code, with the revision if this is a checkout."""

import subprocess
from functools import cache
from pathlib import Path

from django.conf import settings

PATIENCE = 5  # seconds
LONGEST = 60


@cache
def code_version() -> str:
    """Return a version such as ``0.1.0+g0123456789ab``, with ``.dirty`` if tracked files differ from the revision.

    Cached: a process runs the code that it loaded, whatever is checked out later.
    """
    revision = _revision(Path(settings.BASE_DIR))
    return f"{settings.VERSION}+{revision}"[:LONGEST] if revision else settings.VERSION


def _revision(folder: Path) -> str:
    """Return the revision; '' if the folder is not a checkout or git cannot read it."""
    if not (folder / ".git").exists():  # an installation inside another checkout
        return ""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty=.dirty", "--abbrev=12", "--exclude=*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    revision = result.stdout.strip()
    return f"g{revision}" if result.returncode == 0 and revision else ""
