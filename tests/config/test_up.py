"""The one command: everything up, everything down, nothing lost."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from config.management.commands.up import names_of, network_address
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("host", "names"),
    [("127.0.0.1", ("127.0.0.1", "127.0.0.1")), ("0.0.0.0", (network_address(), "127.0.0.1"))],
)
def test_the_shnetwork_address_is_one_that_a_browser_can_open(host: str, names: tuple[str, str]) -> None:
    assert names_of(host) == names


@pytest.mark.worker
def test_up_serves_web_and_worker_and_ctrl_c_stops_all_of_it(server_folder: Path) -> None:
    ours = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    environment |= {"ASSAY_DATA_DIR": str(server_folder), "DEBUG": "1"}
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--host", "0.0.0.0", "--port", "18650", "--web-workers", "1"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    try:
        address = ""
        for line in process.stdout:
            if found := re.search(r"http://([\d.]+:(\d+))", line):
                name, address = found[1], f"http://127.0.0.1:{found[2]}"
                break
        assert address, "it ended before it printed an address"
        # The printed name is one that it answers to, whichever way the request came in.
        with urllib.request.urlopen(urllib.request.Request(f"{address}/healthz", headers={"Host": name})) as answer:
            assert json.load(answer)["status"] == "ok"
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[0]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert process.returncode == 0
    assert rest.rstrip().endswith("stopped.")
    assert not (server_folder / "postgres" / "data" / "postmaster.pid").exists()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{address}/healthz", timeout=2)
