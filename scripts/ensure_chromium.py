"""Make sure that the browser tests have a Chromium: an installed one, else Playwright's, else Debian's package.

Debian's headless shell is preferred: a page costs it a fifth of the time that a whole browser takes.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.browser.support import HEADLESS_SHELL, chromium_path


def found() -> str | None:
    if path := chromium_path():
        return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def tried(*command: str) -> bool:
    print("Trying:", *command, flush=True)
    return subprocess.run(command, check=False, timeout=900).returncode == 0


def apt_install(package: str) -> bool:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    return tried("apt-get", "update", "-q") and tried("apt-get", "install", "-y", "-q", package)


def main() -> int:
    if "ASSAY_CHROMIUM" in os.environ or shutil.which(HEADLESS_SHELL):
        return 0
    if not apt_install(HEADLESS_SHELL) and not found():
        tried(sys.executable, "-m", "playwright", "install", "chromium") or apt_install("chromium")
    if path := found():
        print("Browser tests use", path)
        return 0
    print(
        "No Chromium found for the browser tests. Install one (Debian: apt-get install chromium-headless-shell), "
        "or name one in ASSAY_CHROMIUM.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
