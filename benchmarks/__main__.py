"""Run every benchmark and write docs/benchmarks.md. Ratios within one run; absolute times say little elsewhere."""

import argparse
import importlib
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "docs" / "benchmarks.md"
SECTIONS = {
    "scoring": ("Scoring", "benchmarks.bench_scoring"),
    "overlap": ("ROUGE-L, CIDEr and METEOR", "benchmarks.bench_overlap"),
    "am-fm": ("Adequacy and fluency", "benchmarks.bench_am_fm"),
    "embeddings": ("Word embeddings", "benchmarks.bench_embeddings"),
    "score-run": ("Scoring a large data set", "benchmarks.bench_score_run"),
    "study": ("Studies", "benchmarks.bench_study"),
    "import": ("Import of the demo", "benchmarks.bench_import"),
    "mining": ("Mining a corpus", "benchmarks.bench_mining"),
    "mining-run": ("Mining through the whole product", "benchmarks.bench_mining_run"),
    "launch": ("A million slots", "benchmarks.bench_launch"),
    "browse": ("Browsing references", "benchmarks.bench_browse"),
    "weighing": ("What stands behind a large release", "benchmarks.bench_weighing"),
    "handout": ("Hand-out and submit over HTTP", "benchmarks.bench_handout"),
}
COLUMNS = ("name", "value", "unit", "against", "ratio", "target")
HEADINGS = ("What", "Measured", "Unit", "Against", "Ratio", "To reach")


def table(rows: list[dict[str, Any]]) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "| --- | ---: | --- | --- | ---: | --- |"]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in COLUMNS) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value).replace("|", "\\|")


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB"
    return f"{system}, Python {platform.python_version()}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "only", nargs="*", choices=[*SECTIONS, []], help="some sections; prints them and writes nothing"
    )
    names = parser.parse_args().only or list(SECTIONS)
    note = (
        "Written by `make bench`. Each ratio compares two things measured in the same run; the absolute figures belong "
        f"to one machine ({machine()}) and its mood."
    )
    parts = ["# Benchmarks", note]
    for name in names:
        title, module = SECTIONS[name]
        print(f"{title} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        rows = importlib.import_module(module).run()
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr)
        parts += [f"## {title}", table(rows)]
    text = "\n\n".join(parts) + "\n"
    if names == list(SECTIONS):
        REPORT.write_text(text, encoding="utf-8")
        print(f"Wrote {REPORT.relative_to(ROOT)}", file=sys.stderr)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
