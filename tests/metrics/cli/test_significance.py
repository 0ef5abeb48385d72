"""Intervals and paired tests from files, beside sacrebleu's own output on the same files."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from metrics.cli import scoring
from metrics.cli.main import main
from metrics.cli.significance import Design, explained
from metrics.scoring import paired_tests
from metrics.scoring.aggregates import MeanAggregate
from metrics.scoring.paired_tests import randomization_p, resampled_scores
from metrics.scoring.registry import METRICS
from tests.metrics.scoring.corpora import dstc7_sample

SYSTEMS = ("TeamA", "TeamCE", "TeamG")
METRIC_OPTIONS = ["--metric", "bleu:order=4,tok=13a,smooth=exp", "--metric", "chrf", "--metric", "ter"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, sample = tmp_path_factory.mktemp("files"), dstc7_sample()
    texts = {name: sample.outputs[name] for name in SYSTEMS}
    texts |= {f"ref{number}": [gold[number] for gold in sample.gold] for number in range(2)}
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line.strip()}\n" for line in lines))
    (folder / "again.txt").write_bytes((folder / "TeamA.txt").read_bytes())
    (folder / "short.txt").write_text("one line\n")
    return folder


def arguments_for(files: Path, systems: tuple[str, ...], *options: str) -> list[str]:
    paths = [str(files / f"{name}.txt") for name in systems]
    references = [str(files / f"ref{number}.txt") for number in range(2)]
    cache = ["--cache", str(files / "cache")]
    return ["score", "--systems", *paths, "--references", *references, *METRIC_OPTIONS, *cache, *options]


def ours(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def sacrebleu(files: Path, systems: tuple[str, ...], *options: str, seed: int) -> str:
    references = [str(files / f"ref{number}.txt") for number in range(2)]
    outputs = [str(files / f"{name}.txt") for name in systems]
    command = [sys.executable, "-m", "sacrebleu", *references, "-i", *outputs, "-m", "bleu", "chrf", "ter", *options]
    environment = os.environ | {"SACREBLEU_SEED": str(seed), "PYTHONUTF8": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


@pytest.mark.parametrize(
    ("options", "seed"),
    [
        (["--paired-bs"], 12345),
        (["--paired-bs", "--paired-bs-n", "333"], 7),
        (["--paired-ar", "--paired-ar-n", "1500"], 12345),
    ],
)
def test_tests_and_intervals_are_those_of_sacrebleu(
    files: Path, capsys: pytest.CaptureFixture[str], options: list[str], seed: int
) -> None:
    """Scores, means and half-widths to the last of four decimals of a percentage, p-values likewise: as it prints."""
    table = sacrebleu(files, SYSTEMS, *options, "--format", "text", "-w", "4", "--no-color", seed=seed)
    table = table.split("-----")[0]
    scores = re.findall(r"(\d+\.\d{4})(?: \((\d+\.\d{4}) ± (\d+\.\d{4})\))?", re.sub(r"p = \S+", "", table))
    p_values = re.findall(r"p = (\d\.\d{4})", table)
    metrics = json.loads(ours(capsys, arguments_for(files, SYSTEMS, *options, "--seed", str(seed), "--format", "json")))
    rows = [[metric["systems"][number] for metric in metrics] for number in range(len(SYSTEMS))]
    names = ("score", "mean", "ci") if "--paired-bs" in options else ("score",)
    written = [[f"{100 * system[name]:.4f}" for name in names] for row in rows for system in row]
    assert written == [list(filter(None, values)) for values in scores]
    assert [f"{system['p_value']:.4f}" for row in rows[1:] for system in row] == p_values
    assert {metric["resampling"]["baseline"] for metric in metrics} == {SYSTEMS[0]}


def test_the_interval_of_one_system_is_that_of_sacrebleu(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(sacrebleu(files, SYSTEMS[:1], "--confidence", "--confidence-n", "500", "-w", "4", seed=12345))
    options = ["--confidence", "--confidence-n", "500", "--format", "json"]
    metrics = json.loads(ours(capsys, arguments_for(files, SYSTEMS[:1], *options)))
    for metric, row in zip(metrics, rows, strict=True):
        (system,) = metric["systems"]
        assert (f"{100 * system['mean']:.4f}", f"{100 * system['ci']:.4f}") == (
            f"{row['confidence_mean']:.4f}",
            f"{row['confidence_var']:.4f}",
        )
        assert system["low"] <= system["score"] <= system["high"]


def test_every_metric_whose_scores_sum_is_tested_and_others_say_why_not(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the registry that need no model, no program and no weights."""
    texts = arguments_for(
        files, SYSTEMS[:2], "--sources", str(files / "ref0.txt"), "--paired-ar", "--paired-ar-n", "99"
    )
    before = texts.index("--metric")
    texts = texts[:before] + texts[before + len(METRIC_OPTIONS) :]
    names = [
        name
        for name, metric in METRICS.items()
        if not metric.unavailable()
        and not metric.slow
        and not metric().needs_weights
        and metric.group != "external"
        and not any(parameter.kind == "model" for parameter in metric.parameter_list())
    ]
    output = ours(capsys, [*texts, *(f"--metric={name}" for name in names), "--format", "json", "--no-cache"])
    for name, metric in zip(names, json.loads(output), strict=True):
        first, second = metric["systems"]
        assert first["p_value"] is None
        assert (second["p_value"] is None) == METRICS[name].pools, name
        assert ("not distinct" in second["resampling_reason"]) == METRICS[name].pools, name
    assert len(names) > 8


def test_a_table_shows_intervals_and_p_values(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = ours(capsys, arguments_for(files, ("TeamA", "TeamG", "again"), "--paired-bs", "--metric", "distinct"))
    table = output.splitlines()
    header = next(line for line in table if line.startswith("system"))
    first, second, same = table[table.index(header) + 1 :][:3]
    assert "±" in first
    assert "p =" not in first
    assert second.count("*") == 2
    assert same.count("p = 0.0010") == 3
    assert "*" not in same
    assert "BLEU, again: as TeamA on every segment; sacrebleu's p-value says nothing here" in table
    assert "distinct-n: no interval and no test: a resample repeats segments, and what is repeated is not distinct" in (
        table
    )
    assert table[-1] == "p: paired bootstrap test against TeamA, 1,000 resamples, seed 12345; * below 0.05."


@pytest.mark.parametrize(
    ("test", "n_segments", "warned"), [("paired-bs", 49, 1), ("paired-bs", 50, 0), ("paired-ar", 3, 0)]
)
def test_a_bootstrap_of_few_segments_comes_with_a_warning(test: str, n_segments: int, warned: int) -> None:
    lines = explained(Design(test, trials=1000, resamples=0, seed=1), "TeamA", n_segments)
    assert sum("segments: so few understate" in line for line in lines) == warned


def test_files_of_rows_hold_what_json_holds(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = arguments_for(files, SYSTEMS, "--paired-ar", "--paired-ar-n", "200", "--confidence", "--format")
    metrics = json.loads(ours(capsys, [*arguments, "json"]))
    tsv = [line.split("\t") for line in ours(capsys, [*arguments, "tsv"]).splitlines()]
    assert list(csv.reader(io.StringIO(ours(capsys, [*arguments, "csv"])))) == tsv
    signature = metrics[1]["signature"]
    for name in ("mean", "ci", "low", "high", "p_value"):
        column = tsv[0].index(f"{signature} {name}")
        written = [float(row[column]) if row[column] else None for row in tsv[1:]]
        assert written == [system[name] for system in metrics[1]["systems"]]


def test_statistics_come_from_the_cache_once_a_test_has_stored_them(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = arguments_for(files, SYSTEMS, "--cache", str(files / "another"))
    ours(capsys, plain)
    expected = ours(capsys, [*plain, "--paired-bs"])  # computed again: scores alone were stored
    monkeypatch.setattr(scoring, "_computed", lambda inputs, metrics, *rest: dict.fromkeys(metrics))
    assert ours(capsys, [*plain, "--paired-bs"]) == expected


def test_draws_in_batches_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """As NumPy draws all of them at once."""
    scores = np.random.default_rng(3).random((2, 37))
    packed = np.stack([scores, np.ones_like(scores)], axis=-1)
    chosen = np.random.default_rng(5).choice(37, size=(210, 37), replace=True)
    kept = np.random.default_rng(5).integers(2, size=(210, 37), dtype=bool)
    gaps = np.abs(np.where(kept, *scores).mean(axis=1) - np.where(kept, *scores[::-1]).mean(axis=1))
    beyond = int((gaps > abs(scores[0].mean() - scores[1].mean()) + 1e-12).sum())
    for cells in (10, 37 * 70, 10_000):
        monkeypatch.setattr(paired_tests, "CELLS", cells)
        resampled = resampled_scores(packed, MeanAggregate(), resamples=210, seed=5)
        np.testing.assert_allclose(resampled, scores[:, chosen].mean(axis=-1).T)
        assert randomization_p(*packed, MeanAggregate(), trials=210, seed=5) == (beyond + 1) / 211


def test_a_resample_without_a_score_leaves_interval_and_test_undefined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of two references is missing: some resamples hold no segment that counts."""
    for name, text in {"a": "x y\nz\n", "b": "x\nz\n", "ref": "x y\n\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    texts = ["--systems", *(str(tmp_path / f"{name}.txt") for name in "ab"), "--references", str(tmp_path / "ref.txt")]
    output = ours(capsys, ["score", *texts, "--metric", "rouge_l", "--no-cache", "--paired-bs", "--format", "json"])
    (result,) = json.loads(output)
    for system in result["systems"]:
        assert (system["mean"], system["p_value"]) == (None, None)
        assert system["resampling_reason"].endswith("of 1,000 resamples have no score")


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ("TeamA", "--paired-bs", "--paired-bs: found one system, {}/TeamA.txt; accepted: two or more after --systems"),
        ("TeamA TeamG", "--paired-ar-n 5", "--paired-ar-n: found without --paired-ar; accepted: together with it"),
        ("TeamA TeamG", "--paired-bs --paired-bs-n 0", "--paired-bs-n: found 0; accepted: 1 or more"),
        ("TeamA TeamG", "--paired-bs --confidence --confidence-n 5", "--confidence-n: found beside --paired-bs"),
        ("TeamA TeamG", "--seed 5", "--seed: found without a test; accepted: with --paired-bs"),
        ("TeamA TeamG", "--paired-ar --seed=-5", "--seed: found -5; accepted: 0 or more"),
        (
            "TeamA short",
            "--paired-bs",
            "{0}/short.txt: found 1 lines; accepted: 60, as many as {0}/TeamA.txt has ({0}/short.txt has no line 2)",
        ),
        (
            "short TeamA",
            "--paired-bs",
            "TeamA.txt: found 60 lines; accepted: 1, as many as {0}/short.txt has ({0}/short",
        ),
    ],
)
def test_errors_name_the_option_the_file_and_the_line(
    files: Path, capsys: pytest.CaptureFixture[str], systems: str, options: str, message: str
) -> None:
    assert main(arguments_for(files, tuple(systems.split()), *options.split())) == 2
    assert message.format(files) in capsys.readouterr().err
