"""What leaves in mt-metrics-eval's layout comes back as it was, to the last bit."""

import io
import json
import zipfile

import numpy as np
import pytest

from annotation.models import Dataset
from metrics.models import ScoreRun
from metrics.selectors.arrays import run_arrays
from metrics.services.runs import score_run_create, score_run_execute
from metrics.services.score_exports import archive_chunks, run_names, score_text
from metrics.services.score_imports import score_file_import
from metrics.services.score_options import ImportOptions
from metrics.subsets import Subset
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def exported(dataset: Dataset) -> dict[str, str]:
    content = b"".join(archive_chunks(dataset))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def imported(world: World, text: str, name: str, **options) -> ScoreRun:
    ((run, _),) = score_file_import(
        dataset=world.dataset,
        by=None,
        filename="scores.csv",
        content=text.encode(),
        options=ImportOptions(name=name, **options),
    )
    return run


def scores_of(run: ScoreRun) -> dict[str, float | None]:
    return {score.system.name: score.score for score in run.scores.all()}


@pytest.fixture
def runs(world: World) -> list[ScoreRun]:
    """Odd numbers, a missing one, a lower-is-better metric of systems alone, and a computed run."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 40)) * 10.0 ** rng.integers(-12, 12, size=(2, 40))
    rows = [
        f"{system},item-{index},{float(values[row, index])!r}"
        for row, system in enumerate(("Echo", "Quill"))
        for index in range(40)
        if (row, index) != (1, 7)
    ]
    imports = [
        imported(world, "system,item,score\n" + "\n".join(rows), "My metric v2"),
        imported(
            world, "system,score\nEcho,0.1\nParrot,0.30000000000000004\n", "errors", lower_is_better=True, lowest=0.0
        ),
    ]
    run, _ = score_run_create(
        project=world.project, release=world.release, systems=world.hypotheses, metric="chrf", parameters={}, by=None
    )
    score_run_execute(run_id=run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    return [*imports, run]


def test_an_export_imported_again_is_equal_to_the_last_bit(world: World, runs: list[ScoreRun]) -> None:
    content = b"".join(archive_chunks(world.dataset))
    results = score_file_import(
        dataset=world.dataset, by=None, filename="out.zip", content=content, options=ImportOptions()
    )

    reimported = {(run.parameters["scorer"], run.parameters["level"]): (run, created) for run, created in results}
    segments, created = reimported["My metric v2", "segment"]
    assert (segments, created) == (runs[0], False)  # the same scores, name and direction: the same run
    assert reimported["errors", "system"] == (runs[1], False)
    systems, _ = reimported["My metric v2", "system"]
    assert scores_of(systems) == scores_of(runs[0])
    chrf, created = reimported["chrf-all", "segment"]
    assert created
    theirs, mine = run_arrays(chrf), run_arrays(runs[2])
    counted = mine.valid.any(axis=0)
    np.testing.assert_array_equal(theirs.item_ids, mine.item_ids[counted])
    np.testing.assert_array_equal(theirs.scores, mine.scores[:, counted])
    assert scores_of(reimported["chrf-all", "system"][0]) == scores_of(runs[2])
    assert chrf.parameters["highest"] == 1.0


def test_the_layout_is_that_of_mt_metrics_eval(world: World, runs: list[ScoreRun]) -> None:
    files = exported(world.dataset)

    assert files["cats/metric-scores/cats/errors-src.sys.score"] == "Echo\t0.1\nParrot\t0.30000000000000004\n"
    assert "cats/metric-scores/cats/errors-src.seg.score" not in files
    lines = files["cats/metric-scores/cats/My_metric_v2-src.seg.score"].splitlines()
    assert [line.split("\t")[0] for line in lines] == ["Echo"] * 40 + ["Quill"] * 40
    assert lines[47] == "Quill\tNone"
    for name in ("sources/cats.txt", "documents/cats.docs", "references/cats.ref1.txt", "system-outputs/cats/Echo.txt"):
        assert len(files[f"cats/{name}"].splitlines()) == 40
    assert files["cats/system-outputs/cats/Echo.txt"].splitlines()[3] == world.responses["Echo", 3].text
    described = json.loads(files["cats/metrics.json"])["metrics"]
    assert described["errors-src"]["lower_is_better"] is True
    assert described["chrf-all"]["signature"] == runs[2].signature


def test_file_names_say_how_runs_of_one_metric_differ(world: World) -> None:
    def run(metric: str, subset: str = "all", **parameters: object) -> ScoreRun:
        score_run, _ = score_run_create(
            project=world.project,
            release=world.release,
            systems=world.hypotheses,
            metric=metric,
            parameters=parameters,
            subset=Subset.parse(subset),
            by=None,
        )
        return score_run

    runs = [
        run("bleu", max_order=2),
        run("bleu", max_order=4),
        run("bleu", "w>=0.6"),
        run("bleu", "original"),
        run("chrf"),
        run("chrf", "w>0"),
        imported(world, "system,score\nEcho,0.1\n", "COMET-src"),
    ]
    assert run_names(runs) == [
        "bleu.order_2",
        "bleu.order_4",
        "bleu.w_from_0.6",
        "bleu.original",
        "chrf",
        "chrf.w_above_0",
        "COMET",
    ]


def test_a_run_whose_metric_takes_other_parameters_now_leaves_with_its_scores(
    world: World, runs: list[ScoreRun]
) -> None:
    ScoreRun.objects.filter(pk=runs[-1].pk).update(parameters={"gone": 1})

    files = exported(world.dataset)

    described = json.loads(files["cats/metrics.json"])["metrics"]["chrf-all"]
    assert (described["run"], "lowest" in described) == (runs[-1].number, False)
    assert "cats/metric-scores/cats/chrf-all.seg.score" in files


def test_human_scores_are_means_over_raters(world: World) -> None:
    """The world's judgements are means over its two criteria: so is the mean of the criteria's means."""
    files = exported(world.dataset)
    names = sorted(name for name in files if "/human-scores/" in name and name.endswith("seg.score"))
    assert names == [
        f"cats/human-scores/cats.{criterion}.{campaign}.seg.score"
        for criterion in ("informativeness", "relevance")
        for campaign in ("Output_ratings", "Reference_ratings")
    ]
    means = []
    for criterion in ("informativeness", "relevance"):
        rows = [
            line.split("\t")
            for line in files[f"cats/human-scores/cats.{criterion}.Output_ratings.seg.score"].splitlines()
        ]
        means.append([float(score) for system, score in rows if system == "Parrot"])
    expected = [np.mean(world.judgements["Parrot", index]) for index in range(40)]
    np.testing.assert_allclose(np.mean(means, axis=0), expected)
    system = dict(
        line.split("\t") for line in files["cats/human-scores/cats.relevance.Output_ratings.sys.score"].splitlines()
    )
    assert float(system["Parrot"]) == pytest.approx(np.mean(means[1]))


def test_numbers_are_written_in_full() -> None:
    values = [0.1, 1e-300, -0.0, 1 / 3, 123456789.12345679]
    assert [float(score_text(value)) for value in values] == values
    assert score_text(float("nan")) == "None"
