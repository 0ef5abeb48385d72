"""Make the secrets of docker/compose.yaml, each a file: python docker/make_secrets.py

What is there stays as it is: another password would not open a database that exists.
"""

import secrets
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "secrets"


def make(folder: Path) -> list[str]:
    """Make what is missing; return the names of the files that were made."""
    folder.mkdir(mode=0o700, exist_ok=True)
    password = _kept(folder / "database_password") or secrets.token_urlsafe(32)
    wanted = {
        "database_password": password,  # of PostgreSQL's account
        "database_url": f"postgresql://postgres:{password}@database:5432/assay",
        "secret_key": secrets.token_urlsafe(50),  # signs sessions, and encrypts providers' tokens
        "metrics_token": secrets.token_urlsafe(32),  # Prometheus sends it to read /metrics
    }
    made = [name for name in wanted if not (folder / name).exists()]
    for name in made:
        path = folder / name
        path.touch(mode=0o644)  # the account inside the container reads it; the folder keeps others out
        path.write_text(wanted[name])
    return made


def _kept(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


if __name__ == "__main__":
    made = make(FOLDER)
    sys.stdout.write(f"{FOLDER}: made {', '.join(made)}.\n" if made else f"{FOLDER}: all are there.\n")
