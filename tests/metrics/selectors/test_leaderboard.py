import csv
import html
import re
from dataclasses import replace

import numpy as np
import pytest
from django.db.models import Avg
from django.urls import reverse
from scipy.stats import rankdata

from annotation.models import Criterion, Item, Project, Response, ResponseSource, SourceKind, System
from annotation.results.selectors.verdicts import CriterionVerdict, compute_results
from metrics.models import RunOrigin, ScoreRun, SystemRatings
from metrics.scoring.comparisons import LEVEL
from metrics.scoring.registry import get_metric
from metrics.selectors import comparisons
from metrics.selectors.comparisons import comparisons_of
from metrics.selectors.leaderboard import board_runs, leaderboard
from metrics.selectors.leaderboard_glance import glance
from metrics.selectors.leaderboard_marks import note_agreement
from metrics.selectors.leaderboard_table import Leaderboard
from metrics.selectors.leaderboard_words import beside_raters, headline, summary
from metrics.selectors.run_items import item_set_of_report
from metrics.selectors.system_ratings import is_rating, stored_ratings
from metrics.services.runs import GroupOf, score_run_create, score_run_execute, score_runs_create
from metrics.services.score_imports import score_file_import
from metrics.services.score_options import ImportOptions
from metrics.services.system_ratings import system_ratings_compute, system_ratings_request
from metrics.subsets import Subset
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.metrics.runs import finished_run
from tests.metrics.world import HYPOTHESES, World, make_world

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(project: Project) -> World:
    """Return a world in which some differences are significant and some are not."""
    return make_world(project, n_items=5, seed=6)


def cells_of(board: Leaderboard, key: str) -> dict[str, object]:
    place = [column.key for column in board.columns].index(key)
    return {row.system.name: row.cells[place] for row in board.rows}


def test_marks_are_those_of_the_runs_pairs_without_testing_any(
    small: World, monkeypatch, django_assert_max_num_queries
) -> None:
    runs = [finished_run(small, name) for name in ("bleu", "chrf", "ter", "length")]
    pairs = {run.number: comparisons_of(run) for run in runs}
    expected = {
        run.number: {
            score.system.name: ""
            if pairs[run.number].pair(score.system_id, pairs[run.number].scores[0].system_id).test.differs
            else "tied"
            for score in pairs[run.number].scores[1:]
        }
        | {pairs[run.number].scores[0].system.name: "best"}
        for run in runs
    }
    monkeypatch.setattr(comparisons, "comparisons_of", None)

    with django_assert_max_num_queries(8):
        board = leaderboard(small.dataset, board_runs(small.dataset).shown)

    standings = set()
    for run in runs[:3]:
        shown = {name: cell.standing for name, cell in cells_of(board, f"r{run.number}").items()}
        assert shown == expected[run.number], run.metric
        standings |= set(shown.values())
    assert standings == {"best", "tied", ""}
    assert {cell.standing for cell in cells_of(board, f"r{runs[3].number}").values()} == {""}  # no length is better
    assert [column.label for column in board.columns] == ["BLEU", "chrF", "TER", "Length"]
    for cell in cells_of(board, f"r{runs[0].number}").values():
        assert 0 <= cell.start <= cell.at <= cell.start + cell.width <= 100.01
        assert (cell.p_best is None) == (cell.standing == "best")
        assert cell.standing != "tied" or cell.p_best > LEVEL


def test_rows_are_sorted_best_first_by_any_column_and_back(small: World) -> None:
    run, ter = finished_run(small, "bleu"), finished_run(small, "ter")

    def order(**sorting: object) -> list[str]:
        board = leaderboard(small.dataset, board_runs(small.dataset).shown, **sorting)
        return [row.system.name for row in board.rows]

    by_score = [score.system.name for score in run.scores.order_by("-score").select_related("system")]
    by_edits = [score.system.name for score in ter.scores.order_by("score").select_related("system")]
    assert order() == order(sort="nonsense") == by_score
    assert order(sort=f"r{ter.number}") == by_edits
    assert order(sort=f"r{ter.number}", reverse=True) == by_edits[::-1]
    assert order(sort="system", reverse=True) == sorted(HYPOTHESES, reverse=True)


def test_a_run_that_was_requested_counts_before_one_of_a_study(small: World) -> None:
    requested = finished_run(small, "chrf", word_order=2)
    of_study = {
        "project": small.project,
        "release": small.release,
        "systems": small.hypotheses,
        "by": None,
        "group": GroupOf(RunOrigin.STUDY, 5, "A study"),
    }
    rows = [(get_metric("chrf"), Subset.parse(text)) for text in ("original", "w>=0")]
    made = score_runs_create(rows=rows, **of_study)
    for run in made:
        score_run_execute(run_id=run.pk)

    assert [run.number for run in made] == [2, 3]
    assert len({run.group_id for run in made}) == 1
    assert board_runs(small.dataset).shown == [requested]
    again = finished_run(small, "chrf", subset="original")
    assert (again.pk, again.group.origin) == (made[0].pk, RunOrigin.REQUEST)
    assert board_runs(small.dataset).shown == [again]


def test_a_metric_stands_once_in_its_usual_settings_and_the_others_are_a_click_away(
    small: World, manager, as_user
) -> None:
    """On a release order 2, 13a tokens and lowercase are usual, whatever was scored last."""
    usual = {"max_order": 2, "tokenize": "13a", "lowercase": True}
    at_spaces = finished_run(small, "bleu", tokenize="whitespace", lowercase=True)
    assert board_runs(small.dataset).shown == [at_spaces], "no other"
    shown = finished_run(small, "bleu", **usual)
    newest = finished_run(small, "bleu", max_order=4, tokenize="13a")
    two = finished_run(small, "rouge_l", tokenize="char"), finished_run(small, "rouge_l", tokenize="whitespace")

    runs = board_runs(small.dataset)
    assert runs.shown == [shown, two[1]], "of two that are not usual, the newer"
    assert set(runs.others) == {at_spaces, newest, two[0]}

    client, url = as_user(manager), reverse("metrics:run-list", args=[small.project.slug])
    page = client.get(url)
    assert [column.run.number for column in page.context["table"].runs] == [shown.number, two[1].number]
    assert "3 other settings" in page.content.decode()
    every = client.get(url, {"settings": "all"})
    assert len(every.context["table"].runs) == 5
    assert every.context["headline"] == page.context["headline"]
    assert [len(downloaded_runs(client, each)) for each in (page, every)] == [2, 5], "those that the page shows"
    by_newest = client.get(url, {"sort": f"r{newest.number}", "settings": "all"}).context["table"]
    on_phones = [column.key for column in by_newest.columns if column.is_on_phones]
    assert len(on_phones) == 2
    assert f"r{newest.number}" in on_phones


def downloaded_runs(client, page) -> set[int]:
    """Return the runs in the table to which the page's own link leads."""
    link = re.search(r'href="([^"]*/leaderboard\.csv[^"]*)"', page.content.decode())
    assert link
    table = b"".join(client.get(html.unescape(link[1])).streaming_content).decode()
    return {int(row["run"]) for row in csv.DictReader(table.splitlines()) if row["run"]}


def plain_reference(item: Item, text: str) -> None:
    response = Response.objects.create(item=item, text=text, text_key=text)
    ResponseSource.objects.create(response=response, item=item, kind=SourceKind.HUMAN)


def test_a_metric_has_a_column_for_each_kind_of_references_with_its_items(small: World) -> None:
    for item, name in ((small.items[0], "human reply"), (small.items[1], "another reply")):
        plain_reference(item, name)
    own, _ = score_run_create(
        project=small.project,
        dataset=small.dataset,
        systems=small.hypotheses,
        metric="bleu",
        parameters={},
        by=None,
    )
    score_run_execute(run_id=own.pk)
    weighted, delta = finished_run(small, "bleu"), finished_run(small, "delta_bleu")
    length = finished_run(small, "length")

    board = leaderboard(small.dataset, board_runs(small.dataset).shown)

    positive = "4 items with a positive weight"
    heads = [(column.label, column.references, column.items.label) for column in board.columns]
    assert heads[0] == ("BLEU", "own references", "2 items with own references")
    assert set(heads[1:3]) == {
        ("ΔBLEU", str(small.release), positive),
        ("BLEU", str(small.release), "all 5 items"),
    }
    assert heads[3:] == [("Length", "", "all 5 items")]
    plain = board.columns[0]
    assert plain.items.about.startswith("2 of 5 items, by own references. Left out: 3 with no reference")
    assert plain.settings == "order 2, tokens as they are"
    assert plain.all_settings == "order 2, tokens as they are, case kept, unsmoothed"
    assert {column.label: column.settings for column in board.columns[2:]}["Length"] == ""
    assert [column.begins_block for column in board.columns] == [False, True, True, True]
    assert board.has_several_item_sets
    for run in (weighted, delta, length):
        assert next(c for c in board.columns if c.run == run).items == item_set_of_report(run)
    sentences = summary(board)
    assert sentences[0].startswith("Over all 5 items: BLEU (order 2, tokens as they are) puts ")
    assert any(each.startswith(f"Over the {positive}: ΔBLEU (order 2) puts ") for each in sentences)
    of_own = "BLEU (order 2, tokens as they are) over the 2 items with own references gives all "
    assert any(each.startswith(of_own) and each.endswith("systems the same score.") for each in sentences)
    assert sentences[-1] == "Scores over different items are not compared with each other."


def test_a_system_without_a_common_item_is_not_compared_with_the_best(world: World) -> None:
    """The file has Echo for items 0 to 19, Quill for 20 to 39, Parrot for all: Echo and Quill share none."""
    scored = [("Echo", index, 9 - index % 2) for index in range(20)]
    scored += [("Quill", index, 2 + index % 2) for index in range(20, 40)]
    scored += [("Parrot", index, 4 + index % 3) for index in range(40)]
    rows = "".join(f"{system},item-{index},{score}\n" for system, index, score in scored)
    ((run, _),) = score_file_import(
        dataset=world.dataset,
        by=None,
        filename="judge.csv",
        content=f"system,item,score\n{rows}".encode(),
        options=ImportOptions(name="judge"),
    )

    board = leaderboard(world.dataset, board_runs(world.dataset).shown)

    cells = cells_of(board, f"r{run.number}")
    assert {name: cell.items for name, cell in cells.items()} == {"Echo": 20, "Parrot": 40, "Quill": 20}
    assert [cells[name].is_partial for name in ("Echo", "Parrot", "Quill")] == [True, False, True]
    assert (cells["Echo"].standing, cells["Quill"].standing) == ("best", "apart")
    assert not board.columns[0].is_sure
    compared = comparisons_of(run)
    assert compared.pair(world.systems["Echo"].pk, world.systems["Quill"].pk).test.reason
    assert not compared.is_one_ahead_of_all
    assert summary(board)[-1] == "Echo and Quill share no items, or too few, and are not compared."
    assert "every other system." not in headline(board)


# --- Raters -----------------------------------------------------------------------------------------------------------


def rated(world: World) -> SystemRatings:
    row = system_ratings_request(dataset=world.dataset)
    assert row is not None
    system_ratings_compute(ratings_id=row.pk)
    row.refresh_from_db()
    assert row.state == "done", row.error
    return row


def test_the_marks_of_raters_are_those_of_the_results_of_each_criterion(world: World) -> None:
    """The numbers and differences are those that the page of results computes; of one criterion a naive mean, too."""
    campaign = world.output_campaign
    first = campaign.criteria.order_by("position").first()
    third = Criterion.objects.create(
        campaign=campaign, name="fluency", question="Fluent?", position=2, scale_min=0, scale_max=100
    )
    rng = np.random.default_rng(4)
    for rating in list(campaign.ratings.filter(criterion=first)):
        rating.pk, rating.criterion, rating.value = None, third, int(rng.integers(0, 101))
        rating.save(force_insert=True)
    finished_run(world, "bleu")
    rated(world)

    board = leaderboard(world.dataset, board_runs(world.dataset).shown, stored_ratings(world.dataset))

    results = compute_results([campaign])
    assert [column.head for column in board.columns] == ["Informativeness", "Relevance", "Fluency", "BLEU"]
    assert [(block.first.label, len(block.columns)) for block in board.blocks] == [("Raters", 3), ("BLEU", 1)]
    assert [row.system.name for row in board.rows] == ["Human", "Echo", "Parrot", "Quill"]
    assert cells_of(board, board.columns[3].key)["Human"].reason == "not among the systems of this run"
    of_echo = campaign.ratings.filter(criterion=first, response__sources__system__name="Echo").order_by()
    by_item = of_echo.values("response__item").annotate(mean=Avg("value")).values_list("mean", flat=True)
    assert cells_of(board, board.columns[0].key)["Echo"].score == pytest.approx(np.mean(by_item))
    for verdict, column in zip(results.criteria, board.columns[:3], strict=True):
        first, *others = verdict.systems
        cells = cells_of(board, column.key)
        for each in others:
            pair, cell = verdict.pair(first.name, each.name), cells[each.name]
            assert (cell.score, cell.low, cell.high) == (each.estimate, each.low, each.high)
            expected = "" if pair.is_certain or each.first_rank > 1 else "tied"
            assert (cell.standing, cell.p_best) == (expected, pair.adjusted)
        shares_first = any(cells[each.name].standing == "tied" for each in others)
        assert cells[first.name].standing == ("tied" if shares_first else "best")
    assert {cell.standing for cell in cells_of(board, board.columns[2].key).values()} == {"tied"}  # fluency is chance
    assert_glance(board, results.criteria[0])
    (sentence,) = board.rater_sentences
    assert sentence.text == (
        "Informativeness and relevance: 3 raters give Human the highest mean; Echo, Parrot and Quill cannot be told "
        "from it. Fluency: 3 raters cannot tell Human, Echo, Quill and Parrot apart."
    )
    assert sentence.basis == f"{results.ratings:,} ratings by 3 raters of 40 items in “{campaign.name}”"
    assert "Raters" not in headline(board)
    assert beside_raters(board) == "By the raters Echo may be first, too."  # on each criterion, as the sentence says


def assert_glance(board: Leaderboard, verdict: CriterionVerdict) -> None:
    """Places are ranks by scipy without tests, else the places that are left; pairs are counted one by one.

    They are, as if the raters found a difference in each pair but one.
    """
    pairs = [replace(pair, adjusted=0.01 if place else 0.5) for place, pair in enumerate(verdict.pairs)]
    verdict, (first, *others) = replace(verdict, pairs=pairs), board.columns
    shown = glance(replace(board, columns=[first, *others[:-1], untested := replace(others[-1], is_tested=False)]))
    assert shown is not None
    assert [[line.column.head for line in lines] for lines in shown.blocks] == [
        ["Informativeness", "Relevance", "Fluency"],
        ["BLEU"],
    ]
    bleu = cells_of(board, board.columns[3].key)
    scores = {name: cell.score for name, cell in bleu.items() if cell.score is not None}
    ranks = dict(
        zip(scores, rankdata([-round(s, untested.digits) for s in scores.values()], method="min"), strict=True)
    )
    (line,) = shown.blocks[1]
    names = [head.name for head in shown.heads]
    assert names == [each.name for each in verdict.systems]
    assert [place.number for place in line.places] == [ranks.get(name) for name in names]
    of_raters = shown.blocks[0][0].places
    assert [place.number for place in of_raters] == [each.first_rank for each in verdict.systems]
    certain = [pair for pair in verdict.pairs if pair.is_certain and {pair.first, pair.second} <= scores.keys()]
    note_agreement(untested, verdict, scores)
    expected = (sum(scores[each.first] > scores[each.second] for each in certain), len(certain))
    assert (untested.agreed, untested.certain_pairs) == expected
    assert untested.certain_pairs > 0
    may_be_best = [each.first_rank == 1 for each in verdict.systems]
    assert first.is_open == all(may_be_best)
    assert [head.may_be_best for head in shown.heads] == [each and not first.is_open for each in may_be_best]


def test_a_judges_column_is_beside_the_raters_and_a_study_of_all_is_one_click_away(
    world: World, manager, viewer, as_user
) -> None:
    bleu, length = finished_run(world, "bleu"), finished_run(world, "length")
    rated(world)
    judge, published = (imported(world, name) for name in ("gpt4_judge", "METEOR, published"))

    assert board_runs(world.dataset).shown == [judge, bleu, published, length]

    url, study = (
        reverse(name, args=[world.project.slug]) for name in ("metrics:run-list", "correlations:study-create")
    )
    link = f'href="{study}?dataset={world.dataset.pk}">Start a study'
    assert link in as_user(manager).get(url).content.decode()
    assert link not in as_user(viewer).get(url).content.decode()


def imported(world: World, name: str) -> ScoreRun:
    rows = "".join(f"{system},item-{index},{index % 5 + len(system)}\n" for system in HYPOTHESES for index in range(40))
    content, options = f"system,item,score\n{rows}".encode(), ImportOptions(name=name)
    ((run, _),) = score_file_import(
        dataset=world.dataset, by=None, filename="scores.csv", content=content, options=options
    )
    return run


def test_two_imports_of_the_same_scores_are_one_metric_in_sentences(world: World) -> None:
    finished_run(world, "bleu")
    for name in ("gpt4_judge", "GPT-4"):
        imported(world, name)

    board = leaderboard(world.dataset, board_runs(world.dataset).shown)

    assert len([column for column in board.columns if column.label in ("gpt4_judge", "GPT-4")]) == 2
    note = "gpt4_judge has the same scores as GPT-4."  # the newest first
    assert note in summary(board)
    assert headline(board).endswith(note)
    assert "of 3" not in headline(board)
    assert sum("gpt4_judge" in sentence for sentence in summary(board)) == 1


def test_systems_with_the_same_outputs_are_named_as_one(world: World) -> None:
    twin = System.objects.create(dataset=world.dataset, name="Twin")
    for source in list(ResponseSource.objects.filter(system=world.systems["Echo"])):
        ResponseSource.objects.create(response=source.response, item=source.item, kind=source.kind, system=twin)
    finished_run(world, "bleu", systems=[*world.hypotheses, twin])
    rated(world)

    board = leaderboard(world.dataset, board_runs(world.dataset).shown, stored_ratings(world.dataset))

    assert {row.system.name: row.same for row in board.rows if row.same} == {"Echo": ["Twin"], "Twin": ["Echo"]}
    for place, column in enumerate(board.columns):
        echo, other = (row.cells[place] for row in board.rows if row.same)
        assert (echo.score, echo.standing) == (other.score, other.standing), column.name
        said = [*column.best, *column.tied, *column.apart]
        assert not {"Echo", "Twin"} & set(said)
        assert said.count("Echo = Twin") <= 1
    assert any("Echo = Twin" in text for text in [*summary(board), *(each.text for each in board.rater_sentences)])


def test_mean_ratings_are_computed_once_until_ratings_change(world: World) -> None:
    first = rated(world)
    assert system_ratings_request(dataset=world.dataset) is None

    rating = world.output_campaign.ratings.select_related("presentation").latest("pk")
    rating.pk, rating.revision, rating.value = None, rating.revision + 1, 1
    rating.save(force_insert=True)

    waiting = system_ratings_request(dataset=world.dataset)
    assert waiting is not None
    assert system_ratings_request(dataset=world.dataset) is None  # one at a time
    assert stored_ratings(world.dataset)  # the earlier ones are shown meanwhile
    system_ratings_compute(ratings_id=waiting.pk)
    assert not SystemRatings.objects.filter(pk=first.pk).exists()


def test_mean_ratings_are_said_to_be_computed_only_if_an_output_was_rated(project: Project) -> None:
    dataset = make_dataset(project)
    item = make_item(dataset, "i0")
    rate(make_campaign(dataset), "ann", make_response(item, "Yes.", "human"), 4)
    assert system_ratings_request(dataset=dataset) is not None
    assert not is_rating(dataset)

    make_response(item, "Yes.", "A system")

    assert is_rating(dataset)
