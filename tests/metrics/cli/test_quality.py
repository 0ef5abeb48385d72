"""Quality estimation from a table of rated outputs, as a person at a command line asks for it."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from metrics.cli.main import main
from metrics.scoring.models.store import ModelStore
from metrics.scoring.williams import williams_test
from tests.metrics.scoring.qe.made import made_instances

INSTANCES = made_instances(90)
RATINGS = np.array([each.rating for each in INSTANCES])
LENGTHS = np.array([len(each.output) for each in INSTANCES], dtype=float)
COLUMNS = ["--source", "mr", "--output", "text", "--rating", "quality"]
# By texts: what the made outputs are read as are too few inputs for folds.
RIDGE = ["--option", "estimator=ridge", "--option", "folds=texts", "--seeds", "2"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rated.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["mr", "text", "quality", "domain", "system", "reference", "length"])
        for each, length in zip(INSTANCES, LENGTHS, strict=True):
            writer.writerow(
                [each.source, each.output, each.rating, each.domain, each.system, each.references[0], length]
            )
    return path


def run(table: Path, *arguments: str) -> int:
    return main(["qe", str(table), *COLUMNS, *arguments])


def test_the_report_compares_predictions_with_ratings_scores_and_a_constant(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"report.{name}" for name in ("json", "markdown", "predictions")}
    written = [part for name, path in files.items() for part in (f"--{name}", str(path))]

    assert run(table, *RIDGE, "--scores", "length", *written) == 0

    printed = capsys.readouterr().out
    assert files["markdown"].read_text() == printed
    report = json.loads(files["json"].read_text())
    with files["predictions"].open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [(row["seed"], row["row"]) for row in rows] == [(seed, str(n)) for seed in "12" for n in range(1, 91)]
    predicted = np.array([float(row["predicted"]) for row in rows]).reshape(2, 90)
    by_name = {row["name"]: row for row in report["rows"]}
    ridge = by_name["Ridge regression on n-grams"]
    expected = [stats.pearsonr(each, RATINGS).statistic for each in predicted]
    assert ridge["pearson"]["by_seed"] == pytest.approx(expected)
    assert ridge["spearman"]["by_seed"][0] == pytest.approx(stats.spearmanr(predicted[0], RATINGS).statistic)
    assert ridge["mae"]["mean"] == pytest.approx(np.abs(predicted - RATINGS).mean())
    assert ridge["rmse"]["by_seed"][1] == pytest.approx(np.sqrt(((predicted[1] - RATINGS) ** 2).mean()))
    assert ridge["pearson"]["spread"] == pytest.approx(np.std(expected, ddof=1))
    assert by_name["length"]["pearson"]["mean"] == pytest.approx(stats.pearsonr(LENGTHS, RATINGS).statistic)
    assert by_name["Constant, mean of training"]["pearson"]["mean"] is None
    test = report["tests"][0]
    between = [stats.pearsonr(each, LENGTHS).statistic for each in predicted]
    pairs = zip(expected, between, strict=True)
    human = by_name["length"]["pearson"]["mean"]
    assert test["p"] == pytest.approx([williams_test(r, human, other, 90).pvalue for r, other in pairs])
    assert "| Constant, mean of training | – | – |" in printed
    assert "As in the paper, only equal texts stayed together" in printed
    assert f"It was so for {report['read_before']} of 90." in printed
    assert "Pearson’s r against length: higher for 2 of 2 seeds; Williams’ test p" in printed


def test_a_network_is_shown_beside_ridge_and_goes_on_from_its_checkpoints(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    runs, models = tmp_path / "runs", tmp_path / "models"
    arguments = ["--quick", "--option", "plan=S2", "--option", "embedding=8", "--checkpoint", str(runs)]
    assert run(table, *arguments, "--models", str(models)) == 0
    *report, reference, path = capsys.readouterr().out.splitlines()
    assert any(line.startswith("| Ridge regression on n-grams |") for line in report)
    assert any(line.startswith("| GRU, S2 |") for line in report)
    assert "No output was predicted by a model that had learnt from one that it reads alike." in report
    assert ModelStore([models]).path("quality", reference) == Path(path)
    finished = {file.name: file.stat().st_mtime_ns for file in runs.glob("*-done.npz")}
    assert sorted(finished) == [f"seed-1-fold-{fold}-done.npz" for fold in range(3)]
    assert run(table, *arguments) == 0
    assert capsys.readouterr().out.splitlines() == report
    assert {file.name: file.stat().st_mtime_ns for file in runs.glob("*-done.npz")} == finished


def test_json_lines_are_read_and_a_domain_is_tested_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"mr": f"hello(n={n})", "text": f"hi {n}", "quality": n % 5 + 1, "domain": "ab"[n % 2], "refs": ["hi", "ho"]}
        for n in range(600)
    ]
    table = tmp_path / "rated.jsonl.gz"
    table.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    report = tmp_path / "report.json"
    arguments = ["--domain", "domain", "--cross", "domain=b", "--cross-plan", "C1", "--json", str(report)]
    assert run(table, *RIDGE, *arguments, "--references", "refs", "--option", "plan=S3") == 0
    written = json.loads(report.read_text())
    assert written["cross"] == {"plan": "C1", "field": "domain", "value": "b"}
    assert {row["n"] for row in written["rows"]} == {100}
    assert "Ridge regression" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--option", "layer=2"], "--option: found 'layer=2'; accepted: estimator=network, source=dialogue act"),
        (["--option", "layers=two"], "--option: found 'layers=two'; accepted: an integer from 1 to 4"),
        (["--option", "dropout=2"], "--option: dropout: found 2.0; accepted: a number from 0 to 0.95"),
        (["--option", "delexicalise=perhaps"], "accepted: True or False"),
        (["--scores", "lenght"], "lenght: found no such column; accepted: a column named lenght (did you mean"),
        (["--rating", "text"], "rated.csv, line 2, field text: found"),
        (["--cross", "domain=x"], "--cross: found no --domain"),
        (["--domain", "domain", "--cross", "domain=spa"], "domain: found 0 of 90 instances with 'spa'"),
        (["--cross", "place=x"], "--cross: found 'place=x'; accepted: domain=VALUE or system=VALUE"),
        (["--jobs", "2"], "--jobs: found no --checkpoint"),
        (["--folds", "2"], "folds: found 2; accepted: an integer from 3"),
        (["--written", "none.csv"], "none.csv: cannot be read: No such file or directory"),
    ],
)
def test_errors_are_reported(
    table: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(table, *RIDGE, *arguments) == 2
    assert message in capsys.readouterr().err
