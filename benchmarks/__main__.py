"""Run every benchmark and write docs/benchmarks.md. Compare ratios of one run; absolute times depend on the machine."""

import argparse
import importlib
import os
import platform
import re
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
    "quality": ("Quality estimation without references", "benchmarks.bench_qe"),
    "score-run": ("Scoring a large data set", "benchmarks.bench_score_run"),
    "study": ("Studies", "benchmarks.bench_study"),
    "ranking": ("Ranking systems", "benchmarks.bench_ranking"),
    "resampling": ("Resampling a study", "benchmarks.bench_resampling"),
    "import": ("Import of the demo", "benchmarks.bench_import"),
    "mining": ("Mining a corpus", "benchmarks.bench_mining"),
    "mining-run": ("Mining through the whole product", "benchmarks.bench_mining_run"),
    "launch": ("A million slots", "benchmarks.bench_launch"),
    "browse": ("Browsing references", "benchmarks.bench_browse"),
    "weighing": ("The evidence for a large release's weights", "benchmarks.bench_weighing"),
    "handout": ("Hand-out and submit over HTTP", "benchmarks.bench_handout"),
    "top-up": ("Ratings where they decide", "benchmarks.bench_top_up"),
    "forecast": ("Forecasts for preferences", "benchmarks.bench_forecast"),
    "coverage": ("What intervals and p-values hold", "benchmarks.coverage"),  # a section of docs/methods.md
}
HEADINGS = {
    "name": "What",
    "value": "Measured",
    "unit": "Unit",
    "against": "Against",
    "ratio": "Ratio",
    "target": "To reach",
}
NUMBERS = {"value", "ratio", "share"}


def table(rows: list[dict[str, Any]], headings: dict[str, str]) -> str:
    rule = ("---:" if column in NUMBERS else "---" for column in headings)
    lines = ["| " + " | ".join(headings.values()) + " |", "| " + " | ".join(rule) + " |"]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in headings) + " |" for row in rows]
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
    """Return the report with these sections (title to table) replaced or added, in their usual order.

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
    head, *existing = report.strip().split("\n\n## ")
    tables = dict(section.split("\n\n", 1) for section in existing) | sections
    ordered = [f"## {title}\n\n{tables[title]}" for title, _ in SECTIONS.values() if title in tables]
    return "\n\n".join([head, *ordered]) + "\n"


def with_table(document: str, title: str, new: str) -> str:
    """Return the document with the first table of this section replaced.

    >>> print(with_table("## A\\n\\nText.\\n\\n| a |\\n| b |\\n\\nMore.", "A", "| c |"))
    ## A
    <BLANKLINE>
    Text.
    <BLANKLINE>
    | c |
    <BLANKLINE>
    More.
    """
    before, heading, section = document.partition(f"## {title}\n")
    return before + heading + re.sub(r"(?m)(^\|.*\n)+", lambda _: new + "\n", section, count=1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "only",
        nargs="*",
        choices=[*SECTIONS, []],
        help="some sections; prints them, and writes them with --write alone",
    )
    parser.add_argument("--write", action="store_true", help="put these sections in place of the report's own")
    parser.add_argument("--rows", default="", metavar="WORDS", help="of coverage: only rows with these words")
    options = parser.parse_args()
    names = options.only or list(SECTIONS)
    note = (
        "Written by `make bench`. Each ratio compares two things measured in the same run; the absolute figures belong "
        f"to one machine ({machine()}) and its mood."
    )
    every, tables = names == list(SECTIONS), {}
    for name in names:
        title, path = SECTIONS[name]
        print(f"{title} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        module = importlib.import_module(path)
        rows = table(module.run(*[options.rows] * (name == "coverage")), getattr(module, "HEADINGS", HEADINGS))
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr)
        document: Path | None = getattr(module, "DOCUMENT", None)
        if document is None:
            tables[title] = rows
            continue
        print(rows)
        if options.write or every:
            document.write_text(with_table(document.read_text(encoding="utf-8"), title, rows), encoding="utf-8")
            print(f"Wrote {document.relative_to(ROOT)}", file=sys.stderr)
    if not tables:
        return 0
    text = with_sections(f"# Benchmarks\n\n{note}", tables)
    if every:
        REPORT.write_text(text, encoding="utf-8")
    elif options.write:
        REPORT.write_text(with_sections(REPORT.read_text(encoding="utf-8"), tables), encoding="utf-8")
    if options.write or every:
        print(f"Wrote {REPORT.relative_to(ROOT)}", file=sys.stderr)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
