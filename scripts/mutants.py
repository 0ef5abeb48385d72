"""Draw a sample of cosmic-ray's mutants, and run the tests of the module that one of them changes.

cosmic-ray baseline mutants.toml
cosmic-ray init mutants.toml mutants.sqlite
python -m scripts.mutants sample mutants.sqlite --size 200 --seed 1
cosmic-ray exec mutants.toml mutants.sqlite
cr-report mutants.sqlite | tail -3
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The packages are pure: their tests need no database, and only these shared fixtures.
FIXTURES = (
    "tests.hypothesis_profiles",
    "tests.correlations.stats.conftest",
    "tests.metrics.scoring.explain.conftest",
)
PLUGINS = ("no:django", "no:randomly", "no:cacheprovider", *FIXTURES)
# What needs a database would fail without any mutant.
IN_DATABASE = "*_in_the_database.py"
SETTINGS = ["-c", "/dev/null", f"--rootdir={ROOT}", "--noconftest", f"--ignore-glob={IN_DATABASE}"]
OPTIONS = ["-q", "-x", *SETTINGS, *(f"-p{name}" for name in PLUGINS)]


def sample(session: Path, size: int, seed: int) -> None:
    """Keep ``size`` mutants of the session, chosen by the seed."""
    with closing(sqlite3.connect(session)) as database, database:
        rows = database.execute(
            "SELECT job_id FROM mutation_specs ORDER BY module_path, operator_name, occurrence"
        ).fetchall()
        sampled = random.Random(seed).sample(rows, min(size, len(rows)))
        database.execute("CREATE TEMP TABLE kept (job_id)")
        database.executemany("INSERT INTO kept VALUES (?)", sampled)
        for table in ("mutation_specs", "work_items"):
            database.execute(f"DELETE FROM {table} WHERE job_id NOT IN (SELECT job_id FROM kept)")
    print(f"{len(sampled)} of {len(rows)} mutants")


def test() -> int:
    """Run the tests of the module that differs from the last commit; return pytest's exit status.

    If no module differs, run all tests that any mutant is tried on: they must pass.
    """
    diff = ["git", "diff", "--name-only", "--", "*.py"]
    changed = subprocess.run(diff, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    tests = [tests_of(Path(changed[0]))] if changed else [Path("tests") / package for package in packages()]
    return subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, *tests], cwd=ROOT, check=False).returncode


def tests_of(module: Path) -> Path:
    """Return the test file of the module's name, or else the nearest folder that has tests."""
    folder = Path("tests") / module.parent
    own = folder / f"test_{module.stem}.py"
    if (ROOT / own).exists():
        return own
    return next(each for each in (folder, *folder.parents) if has_tests(ROOT / each))


def has_tests(folder: Path) -> bool:
    return any(not path.match(IN_DATABASE) for path in folder.glob("test_*.py"))


def packages() -> list[str]:
    """Return the packages that mutants are made of."""
    settings = tomllib.loads((ROOT / "mutants.toml").read_text())
    return list(settings["cosmic-ray"]["module-path"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawn = commands.add_parser("sample")
    drawn.add_argument("session", type=Path)
    drawn.add_argument("--size", type=int, default=200)
    drawn.add_argument("--seed", type=int, default=1)
    commands.add_parser("test")
    options = parser.parse_args()
    if options.command == "test":
        return test()
    sample(options.session, options.size, options.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
