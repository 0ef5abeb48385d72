"""Which code is running: the version, and the revision where this is a checkout."""

import subprocess
from functools import cache
from pathlib import Path

from django.conf import settings

PATIENCE = 5  # seconds
LONGEST = 60


@cache
def code_version() -> str:
    """Such as ``0.1.0+g0123456789ab``; ``.dirty`` where tracked files differ from that revision.

    Read once: a process that has loaded its code runs that code, whatever is checked out afterwards.
    """
    revision = _revision(Path(settings.BASE_DIR))
    return f"{settings.VERSION}+{revision}"[:LONGEST] if revision else settings.VERSION


def _revision(folder: Path) -> str:
    """'' where the folder is no checkout of its own, or git is not there or refuses to read it."""
    if not (folder / ".git").exists():  # an installation inside somebody else's checkout
        return ""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty=.dirty", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"g{found.stdout.strip()}" if found.returncode == 0 and found.stdout.strip() else ""
