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


def with_sections(report: str, sections: dict[str, str]) -> str:
    """The report with these sections (title to table) in place of those of the same title, all in their usual order.

    >>> print(with_sections("# Benchmarks\\n\\nA note.\\n\\n## Studies\\n\\n| a |\\n", {"Scoring": "| b |"}))
    # Benchmarks
    <BLANKLINE>
    A note.
    <BLANKLINE>
    ## Scoring
    <BLANKLINE>
    | b |
    <BLANKLINE>
    ## Studies
    <BLANKLINE>
    | a |
    <BLANKLINE>
    """
    head, *found = report.strip().split("\n\n## ")
    tables = dict(one.split("\n\n", 1) for one in found) | sections
    ordered = [f"## {title}\n\n{tables[title]}" for title, _ in SECTIONS.values() if title in tables]
    return "\n\n".join([head, *ordered]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "only",
        nargs="*",
        choices=[*SECTIONS, []],
        help="some sections; prints them, and writes them with --write alone",
    )
    parser.add_argument("--write", action="store_true", help="put these sections in place of the report's own")
    asked = parser.parse_args()
    names = asked.only or list(SECTIONS)
    note = (
        "Written by `make bench`. Each ratio compares two things measured in the same run; the absolute figures belong "
        f"to one machine ({machine()}) and its mood."
    )
    tables = {}
    for name in names:
        title, module = SECTIONS[name]
        print(f"{title} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        rows = importlib.import_module(module).run()
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr)
        tables[title] = table(rows)
    text = with_sections(f"# Benchmarks\n\n{note}", tables)
    if names == list(SECTIONS):
        REPORT.write_text(text, encoding="utf-8")
    elif asked.write:
        REPORT.write_text(with_sections(REPORT.read_text(encoding="utf-8"), tables), encoding="utf-8")
    if asked.write or names == list(SECTIONS):
        print(f"Wrote {REPORT.relative_to(ROOT)}", file=sys.stderr)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
