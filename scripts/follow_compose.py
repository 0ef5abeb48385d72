"""Follow docker/Dockerfile and docker/compose.yaml without containers: python -m scripts.follow_compose [--venv FOLDER]

In an empty folder: the committed files, an environment with the requirements, the secrets, the job before each start,
and every service of the image with its own command and environment, beside a PostgreSQL. Ends with 0 when each part
says that it is well. With ``--venv`` an environment that is there is used instead of a new one.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from config.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parent.parent
HOST = "assay.example.org"
WAIT_SECONDS = 180
PARTS = {"web": "web", "worker": "worker", "long_worker": "long_worker", "beat": "scheduler"}  # as /healthz calls them


class Followed:
    """The services of the compose file, as processes."""

    def __init__(self, home: Path, venv: Path | None) -> None:
        self.home, self.code, self.data = home, home / "assay", home / "data"
        self.venv = venv or home / "venv"
        self.services: dict[str, Any] = {}
        self.processes: list[subprocess.Popen[bytes]] = []
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]

    def build(self) -> None:
        """Do what the Dockerfile does, but for the account."""
        self.code.mkdir()
        self.data.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=self.code, input=archive, check=True)
        dockerfile = (self.code / "docker/Dockerfile").read_text()
        self.command_of_web = re.search(r'^CMD \["sh", "-c", "(.*)"\]$', dockerfile, re.MULTILINE)[1]  # type: ignore[index]
        self.services = yaml.safe_load((self.code / "docker/compose.yaml").read_text())["services"]
        if not self.venv.exists():
            subprocess.run([sys.executable, "-m", "venv", self.venv], check=True)
            self.sh("pip install --quiet --requirement requirements.txt")
        self.sh(re.search(r"^RUN (python -m compileall .*?) \\$", dockerfile, re.MULTILINE)[1])  # type: ignore[index]
        self.sh("python docker/make_secrets.py")

    def begin(self, database: EmbeddedPostgres) -> None:
        (self.code / "docker/secrets/database_url").write_text(database.url())
        job = self.services["migrate"]["command"]
        subprocess.run(job, cwd=self.code, env=self.environment("migrate"), check=True)
        for name in PARTS:
            command = self.services[name].get("command") or self.command_of_web.replace(
                "0.0.0.0:8000", f"127.0.0.1:{self.port}"
            )
            with (self.home / f"{name}.log").open("w") as log:
                self.processes.append(
                    subprocess.Popen(
                        ["sh", "-c", command if command.startswith("exec ") else f"exec {command}"],
                        cwd=self.code,
                        env=self.environment(name),
                        stdout=log,
                        stderr=subprocess.STDOUT,
                    )
                )

    def environment(self, service: str) -> dict[str, str]:
        """Return the service's own environment, with the paths of this machine in place of the container's."""
        given = {name: str(value) for name, value in self.services[service]["environment"].items()}
        paths = {"/run/secrets": str(self.code / "docker/secrets")}
        resolved = {name: _resolved(value) for name, value in given.items()}
        for name, value in resolved.items():
            for there, here in paths.items():
                resolved[name] = value.replace(there, here)
        path = f"{self.venv / 'bin'}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.data), "ASSAY_DATA_DIR": str(self.data), **resolved}

    def wait(self) -> dict[str, str]:
        """Return the parts that are not well when time is over; none if all are."""
        ends = time.monotonic() + WAIT_SECONDS
        while (sick := self.sick()) and time.monotonic() < ends:
            time.sleep(1)
        return sick

    def sick(self) -> dict[str, str]:
        states = {}
        for name, part in PARTS.items():
            check = self.services[name]["healthcheck"]["test"]
            assert check == ["CMD", "python", "docker/health.py", part], check
            address = {"ASSAY_HEALTH_URL": f"http://127.0.0.1:{self.port}/healthz"}
            environment = self.environment(name) | address
            done = subprocess.run(
                check[1:], cwd=self.code, env=environment, check=False, capture_output=True, text=True
            )
            if done.returncode:
                states[name] = (done.stdout or done.stderr).strip().splitlines()[-1]
        return states

    def end(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.wait(60)

    def sh(self, line: str) -> None:
        environment = {**os.environ, "PATH": f"{self.venv / 'bin'}:{os.environ['PATH']}"}
        subprocess.run(["sh", "-c", line], cwd=self.code, env=environment, check=True)


def _resolved(value: str) -> str:
    """Return a value of the compose file as Docker Compose reads it with the example's variables."""
    known = {"ASSAY_HOST": HOST}

    def variable(match: re.Match[str]) -> str:
        return known.get(match[1], match[2] if match[2] is not None else "")

    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}", variable, value)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m scripts.follow_compose", description=__doc__)
    parser.add_argument("--venv", type=Path, help="an environment with the requirements")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-compose-") as folder:
        home = Path(folder)
        home.chmod(0o755)  # the database runs under an account of its own
        database, followed = (
            EmbeddedPostgres(home / "postgres"),
            Followed(home, options.venv and options.venv.resolve()),
        )
        database.hold()
        try:
            followed.build()
            followed.begin(database)
            sick = followed.wait()
            for name in sick:
                print(f"{name}: {sick[name]}\n{(home / f'{name}.log').read_text()[-2000:]}", file=sys.stderr)
            print(f"{len(PARTS) - len(sick)} of {len(PARTS)} services are well.")
            return int(bool(sick))
        finally:
            followed.end()
            database.release()


if __name__ == "__main__":
    sys.exit(main())
