"""Make sure that the browser tests have a Chromium: an installed one, else Playwright's own, else Debian's package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found() -> str | None:
    named = os.environ.get("ASSAY_CHROMIUM")
    if named:
        return named
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def tried(*command: str) -> bool:
    print("Trying:", *command, flush=True)
    return subprocess.run(command, check=False, timeout=900).returncode == 0


def main() -> int:
    if found():
        return 0
    tried(sys.executable, "-m", "playwright", "install", "chromium")
    if not found() and os.geteuid() == 0 and shutil.which("apt-get"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        tried("apt-get", "update", "-q") and tried("apt-get", "install", "-y", "-q", "chromium")
    if path := found():
        print("Browser tests use", path)
        return 0
    print(
        "No Chromium found for the browser tests. Install one (Debian: apt-get install chromium), "
        "or name one in ASSAY_CHROMIUM.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
