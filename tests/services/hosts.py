"""Hosts for tests: network namespaces on a bridge of this machine, where they may be made; else only names."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.services.servers import LOOPBACK

BRIDGE, PREFIX = "assay-tests", "10.213.77"


@dataclass
class Network:
    address: str = LOOPBACK  # of this machine, as its hosts reach it
    cidr: str = ""
    namespaces: dict[str, str] = field(default_factory=dict)

    def namespace(self, host: str) -> str:
        return self.namespaces.get(host, "")

    def cut(self, host: str) -> None:
        self._set(host, "down")

    def mend(self, host: str) -> None:
        self._set(host, "up")

    def _set(self, host: str, state: str) -> None:
        _ip("link", "set", self.namespaces[host], state)


@contextmanager
def network(*hosts: str) -> Iterator[Network]:
    """Yield hosts that reach this machine, and nothing else, over a network of their own.

    Without the permission to make namespaces, their processes are this machine's own.
    """
    if not _may_make_namespaces():
        yield Network()
        return
    made = Network(f"{PREFIX}.1", f"{PREFIX}.0/24", {host: f"assay-{host}" for host in hosts})
    try:
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{made.address}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        for number, name in enumerate(made.namespaces.values(), start=2):
            _ip("netns", "add", name)
            # The end of the cable that stays here has the host's name.
            _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("link", "set", name, "master", BRIDGE)
            _ip("link", "set", name, "up")
            for device in ("lo", "eth0"):
                _ip("-n", name, "link", "set", device, "up")
            _ip("-n", name, "addr", "add", f"{PREFIX}.{number}/24", "dev", "eth0")
        yield made
    finally:
        for name in made.namespaces.values():
            _ip("link", "del", name, check=False)
            _ip("netns", "del", name, check=False)
        _ip("link", "del", BRIDGE, check=False)


def _may_make_namespaces() -> bool:
    if os.geteuid() != 0 or not shutil.which("ip"):
        return False
    probe = "assay-probe"
    try:
        _ip("netns", "add", probe)
    except subprocess.CalledProcessError:
        return False
    _ip("netns", "del", probe)
    return True


def _ip(*words: str, check: bool = True) -> None:
    subprocess.run(["ip", *words], check=check, capture_output=True)
