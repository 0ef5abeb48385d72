"""What the report of a study says of its rows, comparisons and units."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.models import Response, ResponseSource, System
from annotation.results.selectors.stored import Read
from annotation.results.selectors.verdicts import compute_results
from correlations.charts.sweeps import AXES
from correlations.models import Study
from correlations.overview import study_findings
from correlations.results.study import RowPair
from correlations.results.worth import PairsRight
from correlations.selectors import held, level_tables, reports, significance_tables
from correlations.selectors.headlines import Headline, study_headline
from correlations.selectors.metrics import tokens_of_row
from correlations.selectors.printed_tables import correlation_grids, names, ranking_grid
from correlations.selectors.rated_pairs import certain_pairs
from correlations.selectors.significance import contest
from correlations.selectors.significance_words import answer
from correlations.selectors.tables import Table, table
from correlations.selectors.tuned import CHOSEN_HERE, MARK, references_chosen
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.views.metrics import _agree
from metrics.scoring.settings import with_settings
from metrics.templatetags.report import percent
from tests.correlations.services.test_any_metric import make_imported_run
from tests.correlations.views.conftest import SMALL, lead_sentences
from tests.correlations.views.test_pages import address, body, form_data
from tests.metrics.world import World

pytestmark = pytest.mark.django_db


def test_the_report_says_where_its_metrics_depart_from_those_that_readers_presume(study, manager, as_user) -> None:
    result = study.read_result()
    bleu = next(row for row in result.rows if row.metric == "bleu")
    assert with_settings(bleu.label, bleu.signature) == "BLEU (order 2, whitespace tokens)"

    page = unescape(as_user(manager).get(address(study, "study-detail", {"pk": True})).content.decode())

    words = "BLEU has order 2, whitespace tokens, lowercase, unsmoothed; ΔBLEU has order 2"
    assert words in page
    assert "Usual, as in sacreBLEU, is order 4, 13a tokens, case kept, smooth exp for BLEU" in page
    assert f"like={study.pk}#design" in page
    chart = reports.figure(result, "forest", theme="light")
    assert chart["title"]["subtitle"][0].startswith(words)


def test_the_report_shows_every_row_and_its_basis(study: Study, viewer, as_user) -> None:
    answer = as_user(viewer).get(address(study, "study-detail", {"pk": True}))
    page, shown = answer.content.decode(), answer.context

    lead = [row.coefficients["spearman"].value or -2 for row, *_ in shown["rows"]]
    assert lead == sorted(lead, reverse=True), "the order of the chart"
    in_order = [(row.label, row.subset) for row, *_ in shown["rows"]]
    assert [(each.row.label, each.row.subset) for each in shown["ceilings"]] == in_order
    assert [(row.label, row.subset) for row, _ in shown["rankings"]] == in_order
    assert [study.read_result().rows[index] for _, index, _ in shown["rows"]] == [row for row, *_ in shown["rows"]]
    for row in study.result["rows"]:
        assert f"{row['rho']['value']:.2f}" in page
        assert f"{row['tau']['over_items'][0]:.2f}" in page
        assert f"{row['rho']['paper'][1]:.2f}" in page
    assert "Circularity." in page
    assert study.signature in page
    assert f"Seed of the random numbers {study.specification['seed']}" in page
    assert "no reference of positive weight" in page
    ranking = page.split('id="ranking"')[1].split("</section>")[0]
    assert MARK in ranking
    assert "Ties of other items" in ranking


def test_what_was_chosen_on_these_items_is_marked_in_leads_and_downloads(study: Study) -> None:
    result = study.read_result()  # two metrics, each with two choices of references
    units = [row.coefficients["spearman"].value for row in result.rows]
    systems = [each.system.coefficients["kendall"].value for each in result.levels]

    def highest(values: list[float | None]) -> list[str]:
        best = {row.label: -2.0 for row in result.rows}
        for row, value in zip(result.rows, values, strict=True):
            best[row.label] = max(best[row.label], -2.0 if value is None else value)
        pairs = zip(result.rows, values, strict=True)
        return [MARK if value is not None and value == best[row.label] else "" for row, value in pairs]

    def lines(of: Callable[..., Table | None], name: str) -> list[dict[str, Any]]:
        columns, rows = of(result, name) or ((), ())
        return [dict(zip(columns, row, strict=True)) for row in rows]

    marks = highest(units)
    assert marks.count(MARK) >= 2
    assert [line["tuned"] for line in lines(table, "correlations")] == marks
    of_row = {(row.label, row.subset_label): mark for row, mark in zip(result.rows, marks, strict=True)}
    for name, of in (("comparisons", table), ("significance", significance_tables.table)):
        for line in lines(of, name):
            if line.get("over", "units") == "units":
                assert line["first_tuned"] == of_row[line["first"], line["first_references"]]
                assert line["second_tuned"] == of_row[line["second"], line["second_references"]]
    clusters = [line for line in lines(significance_tables.table, "clusters") if line["over"] == "units"]
    assert {(line["metric"], line["references"]): line["tuned"] for line in clusters} == of_row
    by_tau = [line for line in lines(level_tables.table, "system-level") if line["coefficient"] == "Kendall’s tau-b"]
    assert [line["tuned"] for line in by_tau] == highest(systems)
    for line in lines(table, "rankings"):
        assert line["tie_calibrated_accuracy_tuned"] == (MARK if line["tie_calibrated_accuracy"] is not None else "")
    shown = contest(result, "outputs")
    assert shown is not None
    assert shown.best is not None
    assert references_chosen(result, [shown.best.row]).startswith(f"The references of {shown.best.row.label}")
    assert "were chosen on these items." in answer(result, shown)
    alone = replace(result, rows=tuple(row for row in result.rows if row.subset == "all"))
    assert references_chosen(alone, alone.rows) == ""


def test_ranges_over_raters_are_called_so_with_what_they_hold(study: Study, viewer, as_user) -> None:
    methods = (settings.BASE_DIR / "docs" / "methods.md").read_text()
    for name, said, called in (
        ("resampling.study_bootstrap` | 300 items, 3 of 30 raters", held.RESAMPLES, "range of resamples"),
        ("sources.source_bootstrap", held.DRAWS, "range of draws"),
    ):
        line = next(line for line in methods.splitlines() if line.startswith("|") and name in line)
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert f"{float(cells[3].split()[0]):.0f} %" == said
        assert cells[4] == called
    row = address(study, "study-row", {"pk": True, "row": 0})
    assert f"In simulations it holds the truth in {held.RESAMPLES}" in as_user(viewer).get(row).content.decode()
    assert (
        f"simulated it holds the truth in {held.RESAMPLES}" in correlation_grids(study.read_result(), None)[0].caption
    )


def test_pairs_of_one_system_and_of_any_two_say_why_they_are_undefined(study: Study, viewer, as_user) -> None:
    result = study.read_result()
    first, *others = result.worth
    none = PairsRight(None, None, None, None, 3, "no two outputs of one system have both a score and a rating")
    alone = replace(first.ranking.over_all, pairwise=0.25)
    changed = replace(first, ranking=replace(first.ranking, within_systems=none, over_all=alone))
    result = replace(result, worth=(changed, *others))
    study.result = result.to_json()
    study.save()

    page = as_user(viewer).get(address(study, "study-detail", {"pk": True})).content.decode()

    rows = page.split('id="ranking-pairs"')[1].split("</table>")[0].split("<tr>")
    cells = " ".join(strip_tags(next(row for row in rows if "of one system have both" in row)).split())
    assert "undefined: no two outputs of one system have both a score and a rating 25 %" in cells
    assert sum("undefined" in row for row in rows) == 1
    grid = ranking_grid(result)
    name = ", ".join(names(result.rows[0]))
    assert grid.notes == (f"Undefined for {name}: no two outputs of one system have both a score and a rating.",)
    shares = [percent(worth.ranking.within_systems.held_out) for worth in result.worth]
    assert sorted(row[7] for row in grid.rows) == sorted(shares)
    assert grid.columns[7].label == "ties of others"
    columns, lines = table(result, "rankings") or ((), ())
    column = columns.index("tie_accuracy_epsilon_of_other_systems")
    assert [line[column] for line in lines] == [worth.ranking.within_systems.held_out for worth in result.worth]
    large = replace(alone, outputs=1500)  # 1,124,250 pairs
    drawn = ranking_grid(
        replace(result, worth=(replace(changed, ranking=replace(changed.ranking, over_all=large)), *others))
    )
    assert "0.1 points more or less" in drawn.notes[-1]


def test_a_comparison_over_fewer_items_shows_their_number_and_coefficients(study: Study, viewer, as_user) -> None:
    narrowed = {"items": 1940, "of": 2114, "first_rho": 0.41, "second_rho": 0.382, "difference": 0.028}
    study.result["comparisons"][0] |= narrowed
    study.save(update_fields=["result"])

    page = as_user(viewer).get(address(study, "study-detail", {"pk": True})).content.decode()

    assert "1,940 <span>of 2,114</span>" in page
    assert "(on these items 0.41 and 0.38)" in page
    table = address(study, "study-download", {"pk": True, "table": "comparisons", "file_format": "csv"})
    first = next(csv.DictReader(io.StringIO(body(as_user(viewer).get(table)).decode())))
    assert (first["items"], first["items_of_study"], first["second_rho"]) == ("1940", "2114", "0.382")


def test_rows_ahead_of_the_best_one_on_shared_items_are_named(study: Study) -> None:
    result = study.read_result()
    row = result.rows[0]
    rows = tuple(
        replace(
            row,
            label=name,
            subset_label="all",
            few_units="",
            coefficients={"spearman": replace(row.coefficients["spearman"], value=rho)},
        )
        for name, rho in (("a", 0.5), ("b", 0.4), ("c", 0.3))
    )
    comparisons = tuple(
        replace(
            result.comparisons[0],
            first=first,
            first_references="all",
            second=second,
            second_references="all",
            difference=difference,
            p_holm=0.01,
        )
        for first, second, difference in (("a", "b", -0.1), ("c", "a", -0.1), ("b", "c", 0.1))
    )

    best = reports.best_row(replace(result, rows=rows, comparisons=comparisons))

    assert best is not None
    assert (best.row.label, best.ahead, best.rivals) == ("a", ["b"], [])
    assert not best.is_baseline
    assert replace(best, row=replace(best.row, metric="length")).is_baseline


@pytest.fixture
def length_study(world: World) -> Study:
    """Return a study of length and of imported scores, whose references are not known."""
    run = make_imported_run(world)
    changes = {"metrics": ["length", {"run": run.number}], "unit_size": 2, "assignments": 2, "bootstrap": 0}
    study, _ = study_create(project=world.project, name="Long", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


def test_a_baseline_that_does_not_differ_is_said_first_and_nothing_agrees_best_then(length_study: Study) -> None:
    found = length_study.read_result()
    human = replace(found.ceilings[1].coefficients["spearman"], ceiling=None)  # the scores are the ratings
    ceiling = replace(found.ceilings[1], coefficients=found.ceilings[1].coefficients | {"spearman": human})
    result = replace(found, ceilings=(found.ceilings[0], ceiling))
    (comparison,) = result.comparisons

    def headline(p: float | None) -> Headline:
        compared = replace(comparison, difference=-0.3, p_holm=p)  # Length's coefficient less that of the scores
        found = study_headline(length_study, replace(result, comparisons=(compared,)))
        assert found is not None
        return found

    near, apart, untested = headline(0.4), headline(0.01), headline(None)
    value = f"{result.rows[1].coefficients['spearman'].value:.2f}"
    over = "for the difference of two systems on 2 items, over 3 systems and "
    assert near.sentence.startswith(f"Oracle has the highest Spearman’s ρ with the raters: {value}, {over}")
    (doubt,) = near.doubts
    assert doubt == (
        "It does not differ significantly from Length, which does not judge quality: that Oracle tells more is not "
        "shown."
    )
    assert apart.sentence.startswith("Oracle agrees best with the raters: Spearman’s ρ = ")
    assert apart.doubts == []
    assert untested.doubts == ["Whether the metrics differ is not tested."]
    assert "has the highest" in untested.claim
    card = next(each for each in reports.summary_cards(length_study, result) if each["label"] == "References")
    assert (card["value"], card["hint"]) == ("0", "no metric reads any here")


def test_a_pair_that_the_raters_nearly_tie_is_no_disagreement() -> None:
    def verdict(score: float | None, rating: float | None, *, negated: bool = False) -> str:
        return _agree(RowPair(items=9, units=3, score=score, rating=rating), negated=negated, nearly=0.1)

    assert [verdict(0.2, 0.5), verdict(-0.2, 0.5), verdict(-0.03, 0.01), verdict(0.2, -0.5, negated=True)] == [
        "agree",
        "disagree",
        "raters nearly tied",
        "agree",
    ]
    assert [verdict(0.0, 0.5), verdict(None, 0.5)] == ["tied", "–"]
    pair = RowPair(items=9, units=3, score=-0.2, rating=0.5)
    assert _agree(pair, negated=False, nearly=0.1, certain=False) == "not certain"


def test_a_pair_whose_difference_the_results_do_not_show_is_neither_agreed_nor_disagreed_on(
    study: Study, viewer, as_user
) -> None:
    (verdict, *_) = compute_results(list(study.campaigns.all())).criteria
    shown = {frozenset((pair.first, pair.second)) for pair in verdict.pairs if pair.is_certain}
    assert certain_pairs(study) == shown
    page = as_user(viewer).get(address(study, "study-row", {"pk": True, "row": 0}))
    assert len(page.context["pairs"]) == 3
    for pair, _, agree in page.context["pairs"]:
        assert (agree == "not certain") == (frozenset((pair.a, pair.b)) not in shown)


def test_a_system_that_results_merge_with_another_of_the_same_outputs_keeps_its_certainty(
    study: Study, monkeypatch
) -> None:
    campaigns = list(study.campaigns.all())
    alias = System.objects.create(dataset=study.dataset, name="Parrot again")
    for source in ResponseSource.objects.filter(system__name="Parrot"):
        ResponseSource.objects.create(response=source.response, item=source.item, kind=source.kind, system=alias)
    results = compute_results(campaigns)
    (verdict, *_) = results.criteria
    assert "Parrot = Parrot again" in {system.name for system in verdict.systems}
    sure = replace(verdict, pairs=[replace(pair, adjusted=0.01) for pair in verdict.pairs])
    read = Read(replace(results, criteria=[sure]), version="")
    monkeypatch.setattr("correlations.selectors.rated_pairs.read_results", lambda *_: read)
    twins = {frozenset((name, other)) for name in ("Parrot", "Parrot again") for other in ("Echo", "Quill")}
    among_study = {pair for pair in certain_pairs(study) or () if "Human" not in pair}  # who said what Echo said
    assert among_study == {*twins, frozenset(("Echo", "Quill"))}


def test_a_study_that_reads_no_references_says_nothing_of_them(length_study: Study, viewer, as_user) -> None:
    page = as_user(viewer).get(address(length_study, "study-detail", {"pk": True})).content.decode()

    assert "Circularity." not in page
    assert '<td class="wide" data-label="References">imported</td>' in page
    assert "the scores were made elsewhere, and have one row" in page
    drawn = as_user(viewer).get(address(length_study, "study-figure", {"pk": True, "figure": "forest"})).json()
    lines = [row["line"] for rows in drawn["datasets"].values() for row in rows if "line" in row]
    assert list(dict.fromkeys(lines)) == ["Oracle", "Length"]  # the closest first; in the table Length is


def test_all_coefficients_are_in_the_table_the_chart_and_the_downloads(
    world: World, viewer, manager, as_user, monkeypatch
) -> None:
    monkeypatch.setattr("correlations.tasks.execute.delay_on_commit", lambda _: None)
    chosen = ["pearson", "spearman", "kendall", "somers_d"]
    created = as_user(manager).post(
        reverse("correlations:study-create", args=[world.project.slug]), form_data(world, coefficients=chosen)
    )
    study = Study.objects.get()
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    page = as_user(viewer).get(created.url).content.decode()
    client = as_user(viewer)
    drawn = {
        name: json.dumps(
            client.get(address(study, "study-figure", {"pk": True, "figure": name})).json(), ensure_ascii=False
        )
        for name in ("forest", "forest-all")
    }
    for key in chosen:
        assert COEFFICIENTS[key].label in page
        assert COEFFICIENTS[key].label in drawn["forest-all"]
        assert (COEFFICIENTS[key].label in drawn["forest"]) is (key == "pearson")  # the leading one alone
        assert COEFFICIENTS[key].name in page
    assert "Fisher’s z is not made for Somers’ d" in page
    assert "Difference in r" in page  # the first one leads
    url = address(study, "study-download", {"pk": True, "table": "correlations", "file_format": "json"})
    row = json.loads(body(as_user(viewer).get(url)))[0]
    assert {"r", "rho", "tau", "d", "d_items_low"} <= set(row)
    table = as_user(viewer).get(f"/api/v1/projects/{world.project.slug}/studies/{study.pk}/table/").json()
    assert table[0]["d"]["value"] == row["d"]


def test_a_row_links_to_the_score_run_of_each_system(world: World, study: Study, viewer, as_user) -> None:
    page = as_user(viewer).get(address(study, "study-row", {"pk": True, "row": 1})).content.decode()

    for system in world.hypotheses:
        run = study.result["rows"][1]["run"]
        assert reverse("metrics:run-system-detail", args=[study.project.slug, run, system.pk]) in page


def test_only_a_metric_without_smoothing_counts_scores_as_0(study: Study, viewer, as_user) -> None:
    rows = study.result["rows"]
    plain = next(
        index for index, row in enumerate(rows) if row["metric"] == "bleu" and "smooth:none" in row["signature"]
    )
    shares = {"clamped": {"cells": 9.8, "share": 0.98, "systems": [{"system": "Echo", "share": 1.0}]}}
    smoothed = rows[plain] | shares | {"signature": rows[plain]["signature"].replace("smooth:none", "smooth:exp")}
    client, at = as_user(viewer), address(study, "study-row", {"pk": True, "row": plain})
    words = "which smoothing lets count as a small match"

    rows[plain] = rows[plain] | shares
    study.save()
    assert words not in (page := client.get(at).content.decode())
    assert "Units clamped" in page
    rows[plain] = smoothed
    study.save()
    assert words in (page := client.get(at).content.decode())
    assert "Clamped" not in page
    page = " ".join(client.get(address(study, "study-detail", {"pk": True})).content.decode().split())
    assert "of unit scores, smoothed; most for" in page
    words = f"{percent(0.98)} of the scores lack a match of some n-gram length. Smoothing makes them small instead of 0"
    assert f': {words}, so that it decides more than the texts do. <a href="#without-a-match">Why</a>' in page
    assert 'id="without-a-match"' in page


def test_units_too_few_for_a_conclusion_are_not_drawn_and_the_caption_says_so(study: Study) -> None:
    result = study.read_result()
    assert result.sweeps["unit_size"].points == (1, 2, 5, 10, 20, 50, 100)

    def drawn(items: int) -> tuple[float, ...]:
        pairs = tuple(replace(pair, items=items) for pair in result.pairs)
        sweep = reports.drawn_sweep(replace(result, pairs=pairs), "unit_size")
        return () if sweep is None else sweep.points

    assert len(result.pairs) == 3
    assert (drawn(9), drawn(30), drawn(100), drawn(2_000)) == ((), (1, 2), (1, 2, 5, 10), (1, 2, 5, 10, 20, 50, 100))
    caption = {name: words for name, _, words in reports.sweeps_to_draw(result)}["unit_size"]
    missing = ", ".join(f"{point:g}" for point in (1, 2, 5, 10, 20, 50, 100) if point not in drawn(40))
    few = "which leave fewer than 30 units of all pairs, or fewer than 5 of one."
    assert f"Not drawn: M = {missing}, {few}" in caption


def test_an_undefined_row_has_a_reason_in_the_report_and_on_its_page(world: World, viewer, as_user) -> None:
    study, _ = study_create(
        project=world.project,
        name="Cats",
        specification=world.specification(subsets=["w>1"], metrics=["bleu"]),
        by=None,
    )
    study_execute(study_id=study.pk)
    client = as_user(viewer)

    report = client.get(address(study, "study-detail", {"pk": True})).content.decode()
    row = client.get(address(study, "study-row", {"pk": True, "row": 0})).content.decode()

    assert "No coefficient of this study is defined" in report
    assert "data-chart-url" in report
    assert not [name for name in AXES if f"/figures/{name}" in report]  # without a point there is nothing to draw
    reason = 'undefined<span class="reason">: 0 units: at least 3 observations are needed'
    assert report.count(reason) == 2  # of two coefficients
    assert row.count(reason) == 4  # and of the paper's interval of each
    assert client.get(address(study, "study-figure", {"pk": True, "figure": "forest"})).status_code == 200
    assert client.get(address(study, "study-figure", {"pk": True, "figure": "row-0"})).status_code == 404


def test_the_report_warns_of_few_units(world: World, viewer, as_user) -> None:
    for unit_size, warned in ((12, True), (1, False)):
        changes = {"unit_size": unit_size, "sweeps": False, "bootstrap": 60}
        specification = world.specification(**SMALL | changes)
        study, _ = study_create(project=world.project, name=str(unit_size), specification=specification, by=None)
        study_execute(study_id=study.pk)
        page = as_user(viewer).get(reverse("correlations:study-detail", args=[world.project.slug, study.pk]))
        text = page.content.decode()
        assert ("too few units" in text) is warned
        assert ("for the difference of two systems on" in text) is not warned
        lead = text.split("report-lead")[1].split("</p>")[0]
        assert lead.count(CHOSEN_HERE) == (not warned)  # the best of two choices of references
        tested = [entry.p is not None for entry in page.context["result"].comparisons]
        assert tested
        assert any(tested) is not warned
        if warned:
            assert list(study_findings(world.project, 2)) == []  # without a headline the front page is silent, too
            continue
        (finding,) = study_findings(world.project, 2)
        best = page.context["best"]
        metric = with_settings(best.row.label, best.row.signature)
        assert finding.text.startswith(f"{metric} with ")
        assert f" {best.estimate.value:.2f}, 95% interval [" in finding.text
        over = f"for the difference of two systems on single items, over 3 systems and {best.row.items} items."
        assert over in finding.text
        outputs = page.context["result"].levels[best.index].outputs[0].coefficients["pearson"].value
        assert finding.text.endswith(f" {CHOSEN_HERE} For single outputs its Pearson’s r is {outputs:.2f}.")
        assert text.count(over) == 1  # the report says it in the same words
        assert f"{over} {CHOSEN_HERE}" in lead_sentences(study, page.context["result"])  # and so does the printed one


def test_the_report_warns_of_a_tokeniser_that_does_not_split_the_texts(study: Study, viewer, as_user) -> None:
    warning = "The tokeniser “zh” separates them; “whitespace” does not."
    page, result = address(study, "study-detail", {"pk": True}), study.read_result()
    assert warning not in as_user(viewer).get(page).content.decode()
    assert warning not in lead_sentences(study, result)
    Response.objects.filter(item__dataset=study.dataset).update(text="我的猫在屋顶上睡觉")
    assert warning in as_user(viewer).get(page).content.decode()
    assert f"{warning} Scores of such tokens say little." in lead_sentences(study, result)
    (best, *_) = result.rows
    assert warning in tokens_of_row(study, best)
    assert tokens_of_row(study, replace(best, signature="external|name:Oracle|version:1")) == ""
