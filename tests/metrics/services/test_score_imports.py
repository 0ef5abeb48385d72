"""Scores made elsewhere as runs: whole or not at all, the same ones never twice."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.models import AuditEntry, JobState, User
from metrics.models import ScoreRun, ScoreShard
from metrics.selectors.arrays import run_arrays, run_replicates
from metrics.selectors.comparisons import comparisons_of
from metrics.selectors.score_scales import RunScale
from metrics.services.runs import score_run_create
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import import_summary, score_file_import, score_file_preview
from metrics.services.score_options import ImportOptions
from metrics.services.score_rescaling import run_rescale
from tests.metrics.world import World

pytestmark = pytest.mark.django_db

NAMED = ImportOptions(name="COMET-22", lowest=0.0, highest=1.0, note="wmt22-comet-da, Apache 2.0")
TABLE = "system,item,score\nEcho,item-0,0.5\nEcho,item-2,1\nParrot,item-0,0.25\n"


def imported(world: World, text: str = TABLE, filename: str = "comet.csv", options: ImportOptions = NAMED, by=None):
    return score_file_import(dataset=world.dataset, by=by, filename=filename, content=text.encode(), options=options)


def test_a_table_becomes_a_run_with_scores_intervals_and_segments(world: World, manager: User) -> None:
    ((run, created),) = imported(world, by=manager)

    assert created
    assert (run.state, run.metric, run.release, run.dataset) == (JobState.DONE, "external", None, world.dataset)
    arrays = run_arrays(run)
    assert [system.name for system in arrays.systems] == ["Echo", "Parrot"]
    assert arrays.item_ids.tolist() == [world.items[0].pk, world.items[2].pk]
    np.testing.assert_array_equal(arrays.scores, [[0.5, 1.0], [0.25, np.nan]])
    scores = {score.system.name: score for score in run.scores.all()}
    assert (scores["Echo"].score, scores["Echo"].n_segments) == (0.75, 2)
    assert (scores["Parrot"].score, scores["Parrot"].n_segments) == (0.25, 1)
    assert scores["Echo"].low == pytest.approx(0.5)
    assert run_replicates(run) is not None


def test_a_run_records_where_its_scores_come_from_and_what_is_missing(world: World, manager: User) -> None:
    ((run, _),) = imported(world, by=manager)

    origin = run.report["imported"]
    assert origin["file"] == "comet.csv"
    assert len(origin["sha256"]) == 64
    assert origin["note"] == "wmt22-comet-da, Apache 2.0"
    assert run.requested_by == manager
    assert run.report["missing"] == 1
    dropped = {entry["reason"]: entry["count"] for entry in run.report["dropped"]}
    assert dropped == {"no score in the file": 38}
    assert (run.report["items_scored"], run.report["items_partly"]) == (2, 1)
    entry = AuditEntry.objects.get(verb="score_run.import")
    assert entry.summary == "Imported scores of COMET-22 from comet.csv."
    assert entry.data["runs"] == [run.pk]


def test_systems_that_lack_scores_of_different_items_are_compared_on_those_of_both(
    world: World, viewer, as_user
) -> None:
    """Echo has the higher mean, and on what both were scored on Parrot is the better one."""
    scores = {
        "Echo": {0: 0.9, 1: 0.8, 2: 0.1, 3: 0.2, 4: 0.15},
        "Parrot": {2: 0.2, 3: 0.35, 4: 0.2, 5: 0.1, 6: 0.1},
    }
    rows = [
        f"{name},item-{number},{score}\n"
        for name, system_scores in scores.items()
        for number, score in system_scores.items()
    ]
    ((run, _),) = imported(world, "system,item,score\n" + "".join(rows))

    (pair,) = comparisons_of(run).pairs

    assert (pair.better.system.name, pair.test.segments) == ("Parrot", 3)
    assert pair.better.score < pair.worse.score
    assert pair.test.difference == pytest.approx(np.mean([0.1, 0.15, 0.05]))
    client = as_user(viewer)
    page = client.get(reverse("metrics:run-comparisons", args=[world.project.slug, run.number])).content.decode()
    assert "Compared on 3 of 7 items, those that both have a score of." in page
    url = f"/api/v1/projects/{world.project.slug}/score-runs/{run.pk}/comparisons/"
    (comparison,) = client.get(url).json()["results"]
    assert (comparison["better"], comparison["shared_items"]) == ("Parrot", 3)


def test_the_same_scores_are_looked_up_whatever_their_layout(world: World) -> None:
    ((run, _),) = imported(world)
    ((repeated, created),) = imported(world, "item,Parrot,Echo\nitem-2,,1.0\nitem-0,0.25,.5\n", "wide.csv")
    assert not created
    assert repeated == run
    assert AuditEntry.objects.filter(verb="score_run.import").count() == 1


def test_another_direction_or_score_is_another_run(world: World) -> None:
    imported(world)
    lower = ImportOptions(name="COMET-22", lowest=0.0, highest=1.0, lower_is_better=True)
    assert imported(world, options=lower)[0][1]
    assert imported(world, TABLE.replace("0.25", "0.26"))[0][1]
    assert ScoreRun.objects.count() == 3


def test_scores_of_systems_alone_have_no_segments_and_say_so(world: World) -> None:
    ((run, _),) = imported(world, "system,score\nEcho,0.9\nQuill,\n", "systems.csv")
    scores = {score.system.name: (score.score, score.low, score.undefined_reason) for score in run.scores.all()}
    assert scores == {"Echo": (0.9, None, ""), "Quill": (None, None, "no score in the file")}
    assert run.report["items"] == 0
    assert "systems alone" in run.bootstrap["reason"]
    assert not ScoreShard.objects.filter(run=run).exists()


def test_a_score_outside_the_stated_range_refuses_the_file_with_its_line(world: World) -> None:
    with pytest.raises(ImportRefused) as raised:
        imported(world, TABLE.replace("0.25", "1.5") + "Parrot,item-1,-0.5\n")
    assert [(row["line"], row["found"]) for row in raised.value.rows] == [(4, "1.5"), (5, "-0.5")]
    assert raised.value.rows[0]["accepted"] == "a score from 0 to 1, the given range"
    with pytest.raises(ImportRefused) as raised:  # beside other mistakes, too
        imported(world, TABLE.replace("0.25", "1.5") + "Nobody,item-1,0.5\nParrot,item-1,0;5\n")
    assert sorted(row["line"] for row in raised.value.rows) == [4, 5, 6]
    assert not ScoreRun.objects.exists()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (ImportOptions(), "name"),
        (ImportOptions(name="a|b"), "name"),
        (ImportOptions(name="x", lowest=1, highest=0), "highest"),
        (ImportOptions(name="x", note="n" * 2001), "note"),
        (ImportOptions(name="x", lower=["y"]), "lower"),
        (ImportOptions(name="x", skip=["y"]), "skip"),
        (ImportOptions(names=["score=x"]), "names"),  # the only column has no name
        (ImportOptions(name="x", scale=["y=1..5"]), "scale"),
        (ImportOptions(name="x", scale=["1-5"]), "scale"),
        (ImportOptions(name="x", scale=["1..5", "none"]), "scale"),
        (ImportOptions(name="x", scale=["x=1..5", "x=1..7"]), "scale"),
    ],
)
def test_a_wrong_option_is_reported_at_its_field(world: World, options: ImportOptions, field: str) -> None:
    with pytest.raises(AnnotationError) as raised:
        imported(world, options=options)
    assert list(raised.value.fields) == [field]
    assert not ScoreRun.objects.exists()


JUDGED = "system,item,gpt_judge,COMET\n" + "".join(
    f"{system},item-{index},{1 + (index + shift) % 5},0.{index + 10}\n"
    for shift, system in enumerate(("Echo", "Parrot"))
    for index in range(10)
)


def test_the_scale_of_each_column_is_stated_or_proposed_the_same_everywhere(world: World) -> None:
    def ranges(**options: object) -> dict[str, tuple[object, ...]]:
        previews = score_file_preview(
            dataset=world.dataset, filename="all.csv", content=JUDGED.encode(), options=ImportOptions(**options)
        )
        return {each.metric.scorer: (each.metric.lowest, each.metric.highest, each.scale.source) for each in previews}

    assert ranges() == {"gpt_judge": (1, 5, "proposed"), "COMET": (None, None, "proposed")}
    assert ranges(scale=["none", "COMET=0..1"]) == {"gpt_judge": (None, None, "stated"), "COMET": (0, 1, "stated")}
    assert ranges(lowest=0, scale=["gpt_judge=0..10"]) == {"gpt_judge": (0, 10, "stated"), "COMET": (0, None, "stated")}
    assert ranges(shown_scales={"gpt_judge": "1..7", "gone": "1..3"})["gpt_judge"] == (1, 7, "stated")
    assert ranges(lower=["gpt_judge"])["gpt_judge"] == (None, None, "proposed")


def test_the_only_column_that_is_imported_has_the_name(world: World) -> None:
    (run, _), *others = imported(world, JUDGED, "all.csv", ImportOptions(name="GPT-4", skip=["COMET"]))
    assert not others
    assert (run.parameters["scorer"], run.parameters["highest"]) == ("GPT-4", 5)  # its column is a judge's by its name
    with pytest.raises(AnnotationError, match=r"2 columns of scores \(COMET, gpt_judge\)"):
        imported(world, JUDGED, "all.csv", ImportOptions(name="GPT-4"))


def test_columns_are_named_and_left_out_by_what_the_file_calls_them(world: World) -> None:
    ((run, _),) = imported(
        world,
        JUDGED.replace("gpt_judge", "judge=a"),
        "all.csv",
        ImportOptions(names=["judge=a=GPT-4"], skip=["COMET"], scale=["judge=a=0..10"]),
    )
    assert (run.parameters["scorer"], run.parameters["highest"]) == ("GPT-4", 10)
    assert run.report["imported"]["column"] == "judge=a"
    for wrong in (["COMET"], ["comet=x"], ["COMET="], ["COMET=x", "COMET=y"]):
        with pytest.raises(AnnotationError, match=r"accepted: COLUMN=NAME, once for a column of gpt_judge, COMET\."):
            imported(world, JUDGED, "all.csv", ImportOptions(names=wrong))
    with pytest.raises(AnnotationError, match="Found no column to import"):
        imported(world, JUDGED, "all.csv", ImportOptions(skip=["COMET", "gpt_judge"]))


def test_a_scale_that_is_stated_later_makes_a_corrected_run_of_the_same_scores(world: World, manager: User) -> None:
    (run, _), _ = imported(world, JUDGED, "all.csv", ImportOptions(scale=["none"]), by=manager)
    (proposed, _), _ = imported(world, JUDGED, "all.csv", ImportOptions())

    corrected, created = run_rescale(run=run, scale="raters", by=manager)

    assert (corrected, created) == (proposed, False)  # whichever way they came in
    corrected, created = run_rescale(run=run, scale="1..7", by=manager)
    assert created
    assert (corrected.parameters["lowest"], corrected.parameters["highest"]) == (1, 7)
    np.testing.assert_array_equal(run_arrays(corrected).scores, run_arrays(run).scores)
    assert run_arrays(corrected).item_ids.tolist() == run_arrays(run).item_ids.tolist()
    assert list(corrected.scores.values_list("score", "n_segments")) == list(
        run.scores.values_list("score", "n_segments")
    )
    assert corrected.report["imported"]["corrects"] == run.number
    summaries = list(
        AuditEntry.objects.filter(verb="score_run.rescale").order_by("pk").values_list("summary", flat=True)
    )
    assert summaries == [
        "Stated the scale of gpt_judge: 1 to 5, the raters’ scale.",  # of the run that assumed it
        "Stated the scale of gpt_judge: 1 to 7.",
    ]
    for text in ("2..5", "5..1", ""):
        with pytest.raises(AnnotationError, match="Scale: "):
            run_rescale(run=run, scale=text, by=manager)


def test_a_scale_that_was_assumed_or_not_known_is_stated_from_its_confirmation_on(world: World) -> None:
    (judge, _), (comet, _) = imported(world, JUDGED, "all.csv", ImportOptions())
    with CaptureQueriesContext(connection) as queries:
        assert [import_summary(judge)[name] for name in ("scores", "range_from")] == [
            "1 to 5, whole numbers",
            "proposed",
        ]
    assert not any("criterion" in query["sql"] for query in queries)  # the raters' scales are not read
    assert RunScale.of(comet).words == "not known"

    assert run_rescale(run=judge, scale="1..5", by=None) == (judge, False)
    assert not any(created for _, created in imported(world, JUDGED, "all.csv", ImportOptions(scale=["COMET=none"])))

    for run in (judge, comet):
        run.refresh_from_db()
    assert RunScale.of(judge).origin == RunScale.of(comet).origin == "stated at the import"
    assert RunScale.of(comet).words == "no fixed range"
    assert "corrects" not in judge.report["imported"]


def test_a_range_that_an_archive_of_assay_does_not_know_is_proposed(world: World) -> None:
    imported(world, JUDGED, "all.csv", ImportOptions(scale=["none", "COMET=0..1"]))
    archive = b"".join(archive_chunks(world.dataset))

    previews = score_file_preview(dataset=world.dataset, filename="a.zip", content=archive, options=ImportOptions())

    scales = {each.metric.scorer: (each.scale.lowest, each.scale.highest, each.scale.source) for each in previews}
    assert scales == {"gpt_judge": (1, 5, "proposed"), "COMET": (0, 1, "file")}


def test_a_preview_writes_nothing(world: World) -> None:
    (preview,) = score_file_preview(
        dataset=world.dataset, filename="comet.csv", content=TABLE.encode(), options=ImportOptions(name="COMET-22")
    )
    assert preview.rows() == [
        {"system": "Echo", "n": 2, "mean": 0.75, "low": 0.5, "high": 1.0},
        {"system": "Parrot", "n": 1, "mean": 0.25, "low": 0.25, "high": 0.25},
    ]
    assert (preview.n_missing, preview.n_items - preview.positions.size) == (1, 38)
    assert preview.not_named == ["Human", "Quill", "Random"]
    assert not ScoreRun.objects.exists()


def test_an_imported_run_cannot_be_computed(world: World) -> None:
    with pytest.raises(AnnotationError, match="made elsewhere"):
        score_run_create(
            project=world.project,
            dataset=world.dataset,
            systems=world.hypotheses,
            metric="external",
            parameters={},
            by=None,
        )
