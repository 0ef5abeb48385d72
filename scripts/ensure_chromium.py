"""Make sure that the browser tests have a Chromium: an installed one, else Playwright's, else Debian's package.

Debian's headless shell is preferred: it takes a fifth of the time of a full browser.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.browser.support import HEADLESS_SHELL, chromium_path


def chromium_found() -> str | None:
    if path := chromium_path():
        return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def run_command(*command: str) -> bool:
    print("Trying:", *command, flush=True)
    return subprocess.run(command, check=False, timeout=900).returncode == 0


def apt_install(*packages: str) -> bool:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    return run_command("apt-get", "update", "-q") and run_command("apt-get", "install", "-y", "-q", *packages)


def main() -> int:
    if "ASSAY_CHROMIUM" in os.environ or shutil.which(HEADLESS_SHELL):
        return 0
    if not apt_install(HEADLESS_SHELL) and not chromium_found():
        run_command(sys.executable, "-m", "playwright", "install", "chromium") or apt_install("chromium")
    if path := chromium_found():
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
