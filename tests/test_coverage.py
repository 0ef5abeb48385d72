"""Every interval and p-value has a simulation; whether they hold is in docs/methods.md."""

import dataclasses
import importlib
import inspect
import pkgutil
import re

import numpy as np

from benchmarks import coverage
from benchmarks.__main__ import SECTIONS, table
from benchmarks.coverage.case import PROMISED, held, rejected

PACKAGES = (
    "annotation.ranking",
    "annotation.weighting",
    "annotation.dry_runs.simulation",
    "correlations.stats",
    "metrics.scoring",
)
INTERVAL = re.compile(r"(^|_)(low|p_?values?|interval|half_widths?|standard_error)$")


def fields_of_results() -> set[str]:
    """Name the fields of the pure packages' results that are the lower end of something, or a p-value."""
    names = set()
    for package in PACKAGES:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            for name, kind in inspect.getmembers(importlib.import_module(info.name), inspect.isclass):
                if kind.__module__ == info.name:
                    is_data = dataclasses.is_dataclass(kind)
                    fields = [f.name for f in dataclasses.fields(kind)] if is_data else getattr(kind, "_fields", ())
                    part = f"{package.split('.')[0]}." * (name == "Interval")  # two classes have this name
                    names |= {f"{part}{name}.{field}" for field in fields if INTERVAL.search(field)}
    return names


def test_every_interval_and_p_value_is_simulated() -> None:
    simulated = {field for case in coverage.CASES for field in case.fields}
    assert fields_of_results() - coverage.NO_INTERVALS == simulated


def test_the_table_in_the_documents_has_a_row_for_each_simulation() -> None:
    document = coverage.DOCUMENT.read_text(encoding="utf-8")
    section = document.split(f"## {SECTIONS['coverage'][0]}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert rows[:2] == table([], coverage.HEADINGS).splitlines()
    settings = [setting.label for case in coverage.CASES for setting in case.settings]
    assert [row.split(" | ")[2].strip() for row in rows[2:]] == settings


def test_an_undefined_interval_neither_holds_nor_misses() -> None:
    assert np.array_equal(held([0, 1, np.nan], 0.5, [1, 2, np.nan]), [1, 0, np.nan], equal_nan=True)
    assert np.array_equal(rejected([0.05, 0.051, np.nan]), [1, 0, np.nan], equal_nan=True)


def test_what_a_row_is_called_is_what_it_held() -> None:
    """A row may miss its band by chance alone: the table says by how much."""
    wrong = []
    for (shown, setting), share in coverage.written().items():
        case = next(case for case in coverage.CASES if case.shown == shown)
        claims = next(s.claims for s in case.settings if s.label == setting) or case.claims
        held_in, chance = (float(number) for number in share.removesuffix("%").split("±"))
        low, high = PROMISED.get(claims, (0, 100))
        if not low - chance <= held_in <= high + chance:
            wrong.append(f"{shown}, {setting}: {share}, promised {low} to {high} %")
    assert wrong == []
