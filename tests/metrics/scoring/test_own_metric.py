"""A user's own metric: what docs/metrics/own.md prints is built, found, and scored with."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.metric import Workspace
from metrics.scoring.registry import METRICS, get_metric
from metrics.scoring.segments import Segments

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics" / "own.md").read_text(encoding="utf-8")


def printed(language: str) -> str:
    match = re.search(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert match is not None
    return match.group(1)


class Environment:
    """A folder on the import path, for packages as pip would install them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: list[str] = []

    def install(self, name: str, module: str, source: str, entries: dict[str, str]) -> None:
        (self.folder / f"{module}.py").write_text(source, encoding="utf-8")
        about = self.folder / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
        lines = [f"{entry} = {value}" for entry, value in entries.items()]
        (about / "entry_points.txt").write_text("\n".join(["[assay.metrics]", *lines, ""]), encoding="utf-8")
        self.modules.append(module)
        importlib.invalidate_caches()
        METRICS.forget()


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    monkeypatch.syspath_prepend(str(tmp_path))
    created = Environment(tmp_path)
    yield created
    for module in created.modules:
        sys.modules.pop(module, None)
    monkeypatch.undo()
    METRICS.forget()


def install_example(environment: Environment) -> None:
    project = tomllib.loads(printed("toml"))["project"]
    environment.install(project["name"], "shared_words", printed("python"), project["entry-points"]["assay.metrics"])


def test_the_example_of_the_page_scores_and_signs_as_the_page_says(environment: Environment) -> None:
    install_example(environment)
    assert "shared_words" in METRICS
    assert METRICS.broken == {}
    example = doctest.DocTestParser().get_doctest(printed("pycon"), {}, "own.md", "own.md", 0)
    assert len(example.examples) >= 6
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_example_has_what_every_metric_has(environment: Environment) -> None:
    install_example(environment)
    metric = get_metric("shared_words")
    assert get_metric("shared_words", **metric.parameters()) == metric
    segments = Segments([["a b", "", "a"], ["a", "x", "b"]], [["a b", "c"], [""], []])
    statistics = Workspace(segments).statistics(metric, reference_mask=[False, True, True])
    np.testing.assert_array_equal(statistics.sentence_scores, [[0.0, np.nan, np.nan], [0.0, 0.0, np.nan]])
    np.testing.assert_array_equal(Workspace(segments).statistics(metric).system_scores(), [1.0, 0.25])
    with pytest.raises(ValueError, match="lowercase: found 1; accepted: True or False"):
        get_metric("shared_words", lowercase=1)


BROKEN = """
from dataclasses import dataclass
from typing import ClassVar

from metrics.scoring.pair_metric import PairMetric
from metrics.scoring.parameters import whole

not_a_metric = 3


class Named(PairMetric):
    name: ClassVar[str] = "named"
    label: ClassVar[str] = "Named"
    summary: ClassVar[str] = "Says what it is."

    def compare(self, hypothesis, reference):
        return 1.0


class Plain(Named):
    depth: int = whole(1, low=0, high=2, label="Depth", key="depth")


@dataclass(frozen=True)
class Unfinished(PairMetric):
    name: ClassVar[str] = "unfinished"


@dataclass(frozen=True)
class Nameless(PairMetric):
    def compare(self, hypothesis, reference):
        return 1.0


@dataclass(frozen=True)
class Taken(Named):
    name: ClassVar[str] = "bleu"


@dataclass(frozen=True)
class Elsewhere(Named):
    group: ClassVar[str] = "elsewhere"


@dataclass(frozen=True)
class Contradictory(Named):
    depth: int = whole(9, low=0, high=2, label="Depth", key="depth")
"""


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("gone = not_there:Metric", "ModuleNotFoundError: No module named 'not_there'"),
        ("gone = broken_metric:Absent", "AttributeError: module 'broken_metric' has no attribute 'Absent'"),
        ("three = broken_metric:not_a_metric", "found 3; accepted: a class derived from metrics.scoring.metric.Metric"),
        ("plain = broken_metric:Plain", "found no dataclass; accepted: a class under @dataclass(frozen=True)"),
        ("unfinished = broken_metric:Unfinished", "found no compare; accepted: a metric that defines them"),
        ("nameless = broken_metric:Nameless", "found no name; accepted: a class attribute with a text"),
        ("taken = broken_metric:Taken", "found name 'bleu'; accepted: one that is not taken"),
        ("elsewhere = broken_metric:Elsewhere", "found group 'elsewhere'; accepted: 'weighted', 'overlap'"),
        ("odd = broken_metric:Contradictory", "ValueError: depth: found 9; accepted: an integer from 0 to 2"),
    ],
)
def test_a_broken_metric_is_named_with_its_reason_and_breaks_no_other(
    environment: Environment, entry: str, reason: str
) -> None:
    before = set(METRICS)
    environment.install("broken-metric", "broken_metric", BROKEN, dict([entry.split(" = ")]))
    install_example(environment)
    assert list(METRICS.broken) == [entry]
    assert METRICS.broken[entry].startswith(reason)
    assert set(METRICS) == before | {"shared_words"}
    assert get_metric("bleu").signature().startswith("bleu|")


def test_a_module_that_fails_on_import_is_named_with_what_it_raised(environment: Environment) -> None:
    environment.install("failing", "failing_metric", "raise RuntimeError('no such table')", {"f": "failing_metric:F"})
    assert METRICS.broken == {"f = failing_metric:F": "RuntimeError: no such table"}
    assert "bleu" in METRICS


def test_a_removed_package_leaves_the_list(environment: Environment, tmp_path: Path) -> None:
    install_example(environment)
    assert "shared_words" in METRICS
    for file in (tmp_path / "shared_words-1.0.dist-info").iterdir():
        file.unlink()
    METRICS.forget()
    with pytest.raises(ValueError, match="metric: found 'shared_words'; accepted: 'bleu'"):
        get_metric("shared_words")
