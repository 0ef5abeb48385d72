"""Draw a sample of cosmic-ray's mutants, and run the tests of the module that one of them changes.

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
OPTIONS = ["-q", "-x", "-c", "/dev/null", f"--rootdir={ROOT}", "--noconftest", *(f"-p{name}" for name in PLUGINS)]


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

    Without a test file of the module's name these are all tests of its folder.
    """
    diff = ["git", "diff", "--name-only", "--", "*.py"]
    changed = Path(subprocess.run(diff, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()[0])
    folder = Path("tests") / changed.parent
    tests = folder / f"test_{changed.stem}.py"
    if not (ROOT / tests).exists():
        tests = folder
    return subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, str(tests)], cwd=ROOT, check=False).returncode


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
