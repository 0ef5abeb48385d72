"""Damaged files for every reader and import, damaged requests to every route.

    python -m scripts.fuzz --files 10000 --imports 2000 --requests 20000 --seed 1
    python -m scripts.fuzz requests --first 1234 --count 1

The whole run is cut into pieces, each a process; as many run at once as ``--processes``. What goes wrong is printed
with its number, which repeats it, also in another piece.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from scripts.fuzz import files, imports, requests
from scripts.fuzz.outcome import KEPT, Outcome

PARTS: dict[str, ModuleType] = {"requests": requests, "imports": imports, "files": files}  # longest pieces first


class Piece(NamedTuple):
    part: str
    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.part} {self.first:,} to {self.first + self.count - 1:,}"


def pieces(counts: dict[str, int]) -> list[Piece]:
    return [
        Piece(part, first, min(module.PIECE, counts[part] - first))
        for part, module in PARTS.items()
        for first in range(0, counts[part], module.PIECE)
    ]


def run_in_process(piece: Piece, seed: int) -> Outcome:
    """Run a piece in a process of its own, which prints what goes wrong."""
    outcome = Outcome(PARTS[piece.part].MEMORY_MIB)
    began = time.monotonic()
    with tempfile.NamedTemporaryFile("r", prefix="assay-fuzz-") as result:
        command = [sys.executable, "-m", "scripts.fuzz", piece.part, "--result", result.name]
        command += ["--first", str(piece.first), "--count", str(piece.count), "--seed", str(seed)]
        code = subprocess.run(command, check=False).returncode
        if written := result.read():
            outcome = Outcome.loaded(written)
        else:
            outcome.wrong(f"{piece}: the process ended with {code}")
    print(f"{piece}: {outcome.n_wrong} wrong, {time.monotonic() - began:.0f} s", flush=True)
    return outcome


def run_all(counts: dict[str, int], seed: int, processes: int) -> int:
    began = time.monotonic()
    todo = pieces(counts)
    with ThreadPoolExecutor(processes) as pool:
        outcomes = list(pool.map(lambda piece: run_in_process(piece, seed), todo))
    wrong = 0
    for part, module in PARTS.items():
        whole = Outcome(module.MEMORY_MIB)
        for piece, outcome in zip(todo, outcomes, strict=True):
            if piece.part == part:
                whole.add(outcome)
        wrong += whole.n_wrong
        print(f"{counts[part]:,} {part}, seed {seed}:\n{whole.summary()}")
    print(f"{time.monotonic() - began:.0f} s with {processes} processes; {wrong} wrong")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=PARTS, help="only this part, in this process")
    parser.add_argument("--first", type=int, default=0, help="of a part: the number of the first")
    parser.add_argument("--count", type=int, default=1, help="of a part: how many")
    for part, default in (("files", 10_000), ("imports", 2000), ("requests", 20_000)):
        parser.add_argument(f"--{part}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    KEPT.mkdir(parents=True, exist_ok=True)
    if options.part is None:
        counts = {part: getattr(options, part) for part in PARTS}
        return min(1, run_all(counts, options.seed, options.processes))
    outcome: Outcome = PARTS[options.part].run(range(options.first, options.first + options.count), options.seed)
    if options.result:
        options.result.write_text(outcome.dumped())
    else:
        print(outcome.summary())
    return min(1, outcome.n_wrong)


if __name__ == "__main__":
    sys.exit(main())
