"""Collect static files, which takes seconds of the processor, only if others are there than were collected."""

from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

STAMP, MANIFEST = "collected.sha256", "staticfiles.json"


def collect_changed() -> bool:
    """Collect and compress static files unless it was done with the same ones. Return whether it was needed."""
    folder = Path(settings.STATIC_ROOT)
    stamp, digest = folder / STAMP, _digest()
    if stamp.exists() and stamp.read_text() == digest and (folder / MANIFEST).exists():
        return False
    stamp.unlink(missing_ok=True)  # a start that is interrupted leaves none
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(digest)
    return True


def _digest() -> str:
    """Return a digest of all files' paths, sizes and times of change, and of how they are stored."""
    facts = [repr(settings.STORAGES["staticfiles"])]
    for finder in get_finders():
        for name, storage in finder.list(None):
            status = Path(storage.path(name)).stat()
            facts.append(f"{storage.path(name)} {status.st_size} {status.st_mtime_ns}")
    return sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()
