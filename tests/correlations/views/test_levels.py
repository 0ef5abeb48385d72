"""A study's page on agreement by system and by output, against pandas and scipy on the world's own numbers."""

import csv
import io
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from django.urls import reverse
from scipy import stats
from sklearn.metrics import mean_absolute_error

from correlations.models import Study
from correlations.overview import study_findings
from correlations.published.table import FOLDER
from correlations.results.common import Ends
from correlations.results.levels import RowLevels, SystemPoint, WithoutSystem
from correlations.results.significance import OUTPUTS
from correlations.results.study import StudyResult, StudyRow
from correlations.selectors import levels, reports
from correlations.selectors.ceilings import too_good
from correlations.selectors.documents import study_document
from correlations.selectors.headlines import study_headline
from correlations.selectors.level_answers import NOT_SHOWN, LevelAnswers, level_answers, levels_figure
from correlations.selectors.levels import FEW_SYSTEMS, FEWEST_SYSTEMS, levels_report, levels_sentence
from correlations.selectors.printed import printed_report
from correlations.selectors.system_ranges import ranges_grids, ranges_sentence, raters_note
from correlations.services.execution import study_execute
from correlations.services.studies import study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.system_level import system_level_correlation
from tests.correlations.services.test_any_metric import make_imported_run
from tests.metrics.world import HYPOTHESES, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(world: World) -> Study:
    run = make_imported_run(world, lowest=1.0, highest=5.0)
    changes = {
        "metrics": ["ter", {"run": run.number}],
        "subsets": ["all"],
        "bootstrap": 50,
        "assignments": 2,
        "unit_size": 4,
    }
    study, _ = study_create(project=world.project, name="Cats", specification=world.specification(**changes), by=None)
    study_execute(study_id=study.pk)
    study.refresh_from_db()
    return study


@pytest.fixture(autouse=True)
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take Oracle's scores, which are the mean ratings, for those of a judge that has not seen them."""
    for module in (levels, reports):
        monkeypatch.setattr(module, "too_good", lambda result: [])


def with_p_over_outputs(result: StudyResult, p: float | None) -> StudyResult:
    """Give every pair of rows this corrected p over single outputs."""
    significance = result.significance
    tests = tuple(
        replace(each, p_holm=(p,) * len(each.p_holm)) if each.level == OUTPUTS else each for each in significance.tests
    )
    return replace(result, significance=replace(significance, tests=tests))


def outputs_of(world: World) -> pd.DataFrame:
    """Return the outputs with imported scores; these are the mean ratings themselves, and item-0 has none."""
    rated = {
        (name, index): sum(world.judgements[name, index]) / len(world.judgements[name, index])
        for name in HYPOTHESES
        for index in range(1, len(world.items))
    }
    frame = pd.DataFrame([(*key, rating) for key, rating in rated.items()], columns=["system", "item", "rating"])
    return frame.sort_values(["system", "item"])


def address(study: Study, name: str = "study-levels", *rest: object) -> str:
    return reverse(f"correlations:{name}", args=[study.project.slug, study.pk, *rest])


def test_means_coefficients_and_errors_equal_those_of_pandas_and_scikit_learn(study: Study, world: World) -> None:
    result, frame = study.read_result(), outputs_of(world)
    oracle = result.levels[1]
    means = frame.groupby("system")["rating"].agg(["mean", "std", "size"])
    for point in oracle.system.systems:
        expected = means.loc[point.system]
        assert (point.outputs, point.rating, point.spread) == pytest.approx(
            (expected["size"], expected["mean"], expected["std"])
        )
        assert point.score == pytest.approx(expected["mean"])
    for level in oracle.outputs:
        assert level.outputs == len(frame)
        assert level.coefficients["kendall"].value == pytest.approx(1.0)
    assert oracle.outputs[1].groups["pearson"] <= len(world.items) - 1
    ranged, rounded, line = oracle.errors
    assert (ranged.step, rounded.step, line.step) == (None, 0.5, None)  # means of two criteria
    lowest, highest = frame["rating"].min(), frame["rating"].max()
    halves = (frame["rating"] - lowest) / (highest - lowest) * 8  # of points, on a scale from 1 to 5
    assert rounded.mae == pytest.approx(mean_absolute_error(frame["rating"], 1 + np.floor(halves + 1e-9) / 2))
    assert line.mae == pytest.approx(0.0, abs=1e-9)
    overall = [frame["rating"].mean()] * len(frame)
    assert line.constant_mae == pytest.approx(mean_absolute_error(frame["rating"], overall))


def test_where_low_scores_are_better_agreement_is_positive_and_scores_keep_their_sign(study: Study) -> None:
    ter = study.read_result().levels[0].system
    scores, ratings = zip(*[(point.score, point.rating) for point in ter.systems], strict=True)
    assert min(scores) > 0
    expected = stats.pearsonr([-score for score in scores], ratings)
    found = ter.coefficients["pearson"]
    assert (found.value, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.over_items is not None
    assert found.over_items[0] <= found.over_items[1]


def test_the_page_answers_warns_and_shows_the_systems(study: Study, viewer, as_user) -> None:
    client = as_user(viewer)
    page = client.get(address(study)).content.decode()

    assert (
        f"3 systems are too few to show which metric agrees with the raters over systems: it takes "
        f"{FEWEST_SYSTEMS}, better {FEW_SYSTEMS}." in page
    )
    assert "<strong>Not known.</strong> 3 systems are too few" in page
    assert "Over 3 systems" not in page
    assert "rows is picked here" not in page
    assert "<strong>Oracle.</strong> Over" in page
    assert "which of two systems is better on units of 4 items?" in page
    chart = client.get(address(study, "study-figure", "levels")).json()
    assert "By output" in chart["description"]
    assert "systems" not in chart["description"], "three are too few"
    assert page.count('data-label="p">–<') == 2, "no p over so few"
    table = client.get(address(study, "study-download", "system-level", "csv"))
    rows = list(csv.DictReader(io.StringIO(b"".join(table).decode())))
    assert {row["p"] for row in rows} == {""}
    assert "single outputs, Oracle has the highest r" in page
    assert page.count('class="negated"') == 3  # TER, in the tables of rows
    by_output = page.split('id="outputs"')[1]
    assert by_output.index("Oracle") < by_output.index("TER")
    assert "Echo" in client.get(address(study, "study-figure", "systems-1")).content.decode()
    assert client.get(address(study, "study-figure", "systems-2")).status_code == 404
    report = client.get(address(study, "study-detail")).content.decode()
    assert levels_sentence(study.read_result()) in report.replace("&#x27;", "'")
    assert address(study) in report
    assert client.get(address(study) + "?row=0").status_code == 200
    assert client.get(address(study) + "?row=2").status_code == 404


def test_the_page_says_what_is_drawn_anew_by_the_coefficient_that_the_reader_chooses(
    study: Study, viewer, as_user
) -> None:
    result, client = study.read_result(), as_user(viewer)
    level = result.levels[1].system
    names = ("over_items", "over_items_and_systems", "over_raters", "over_items_systems_and_raters")

    def section(query: str) -> str:
        page = client.get(f"{address(study)}?row=1{query}").content.decode()
        return page.split('id="ranges"')[1].split('id="outputs"')[0]

    def cells(text: str, metric: str) -> list[str]:
        row = next(part for part in text.split("<tr>") if metric in part.split("</th>")[0])
        return [part.split(">", 1)[1].split("<")[0].replace("−", "-") for part in row.split('<td class="num"')[1:]]

    first = section("")
    assert "3 systems are too few to say what others would give." in first
    assert '&amp;coefficient=spearman#ranges"\n             aria-current="true"' in first  # the study's leading one
    for query, key in (("", "spearman"), ("&coefficient=kendall", "kendall"), ("&coefficient=pearson", "pearson")):
        for metric, each in zip(("TER", "Oracle"), result.levels, strict=True):
            estimate = each.system.coefficients[key]
            drawn = [getattr(estimate, name) for name in names]
            assert all(-1 <= ends[0] <= ends[1] <= 1 for ends in drawn if ends)
            assert drawn[0] is None or metric == "TER"  # of draws that are all 1 there is no interval
            shown = [f"[{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "–" for ends in drawn]
            assert cells(section(query), metric) == [f"{estimate.value:.2f}", *shown]
        symbol = COEFFICIENTS[key].symbol
        grid = next(each for each in ranges_grids(result) if each.columns[2].label == symbol)
        assert next(row for row in grid.rows if row[0] == "Oracle")[2].replace("−", "-") == f"{estimate.value:.2f}"
    assert [grid.name.rsplit("-", 1)[1] for grid in ranges_grids(result)] == ["spearman", "pearson", "kendall"]
    assert client.get(address(study) + "?coefficient=somers_d").status_code == 404

    lead = level.coefficients["pearson"]
    lead = replace(lead, over_items=(0.5, 0.7), over_items_and_systems=(-0.2, 0.9), over_raters=(0.4, 0.9))
    coefficients = {**level.coefficients, "pearson": lead}
    more = replace(result.levels[1], system=replace(level, systems=2 * level.systems, coefficients=coefficients))
    report = levels_report(replace(result, levels=(result.levels[0], more)), 1)
    assert report is not None
    wide = "other items and systems would move r over systems most: that interval is 1.10 wide (raters: 0.50, "
    wide += "items: 0.20)."
    assert wide in ranges_sentence(report, COEFFICIENTS["pearson"])
    note = raters_note(replace(level, raters=4, raters_reason=""))
    assert note == "There are 4 raters: they say little of others, so the interval over raters is wide."
    unknown = replace(level, raters_reason="their raters are not known")
    assert raters_note(unknown) == "Raters are not drawn anew: their raters are not known."


def test_a_page_of_few_systems_says_what_chance_gives_and_where_the_headlines_row_stands(study: Study) -> None:
    """The least r that chance gives once in 20 times: printed tables of Pearson's r, 4 degrees of freedom, .811."""
    result = study.read_result()

    def levels(index: int, r: float, over_outputs: Ends, p: float = 0.01, ends: Ends = (0.2, 1.0)) -> RowLevels:
        system, (outputs, *rest) = result.levels[index].system, result.levels[index].outputs
        lead = replace(system.coefficients["pearson"], value=r, p=p, over_items_and_systems=ends)
        system = replace(system, systems=2 * system.systems, coefficients={**system.coefficients, "pearson": lead})
        of_outputs = replace(outputs.coefficients["pearson"], value=sum(over_outputs) / 2, over_items=over_outputs)
        outputs = replace(outputs, coefficients={**outputs.coefficients, "pearson": of_outputs})
        return replace(result.levels[index], system=system, outputs=(outputs, *rest))

    def answers(*rows: RowLevels, p: float = 0.01) -> LevelAnswers:
        changed = with_p_over_outputs(replace(result, levels=rows), p)
        report = levels_report(changed, None)
        assert report is not None
        assert levels_figure(changed, "light") is not None
        return level_answers(study, changed, report)

    shown = answers(levels(0, 0.9, (0.1, 0.2)), levels(1, 0.8, (0.3, 0.4)))
    assert (shown.systems_verdict, shown.outputs_verdict) == ("TER with all references.", "Oracle.")
    assert shown.systems_sure[-1].startswith(
        "6 systems are few: a metric that tells nothing reaches r = 0.81 or more, up or down, once in 20 times,"
    )
    places = {each.of.row.label: each for each in shown.rows}
    assert [places["TER"].systems.rank, places["TER"].outputs.rank] == [1, 2]
    assert [places["Oracle"].systems.rank, places["Oracle"].outputs.rank] == [2, 1]
    assert "few systems leave much of their order to chance" in shown.headline
    few = replace(result, rows=(replace(result.rows[0], few_units="too few"), result.rows[1]))
    note = level_answers(study, few, levels_report(few, None)).without_place
    assert (shown.without_place, note) == ("", "Units: 1 of the 2 rows has too few units for a place there.")

    wide = (-1.0, 1.0)
    none = answers(levels(0, 0.9, (-0.1, 0.2), ends=wide), levels(1, 0.8, (-0.3, 0.4), p=0.2), p=0.2)
    assert (none.systems_verdict, none.outputs_verdict) == (NOT_SHOWN, NOT_SHOWN)
    assert none.systems_sure[-1].startswith("A correlation over 6 systems says little")
    second = answers(levels(0, 0.9, (0.1, 0.3), ends=wide), levels(1, 0.8, (0.1, 0.2)), p=0.2)
    assert second.systems_verdict == "", "the highest row is not shown to agree, and another one is"
    assert second.outputs_verdict == "No single one is shown to be best."


def test_a_system_that_carries_the_result_is_named(study: Study) -> None:
    result = study.read_result()
    oracle = result.levels[1]
    lead = oracle.system.coefficients["pearson"]

    def report_where(value: float, without: float):
        estimates = oracle.system.coefficients | {"pearson": replace(lead, value=value)}
        left = WithoutSystem("Echo", {"pearson": without})
        systems = 2 * oracle.system.systems  # three are too few anyway
        system = replace(oracle.system, coefficients=estimates, without=left, systems=systems)
        changed = replace(oracle, system=system)
        ter = replace(result.levels[0].system.coefficients["pearson"], value=0.1)
        worse = replace(
            result.levels[0],
            system=replace(
                result.levels[0].system, coefficients=result.levels[0].system.coefficients | {"pearson": ter}
            ),
        )
        return levels_report(replace(result, levels=(worse, changed)), 1)

    def sentence(verb: str, value: float, without: float) -> str:
        return (
            f"Over systems one system {verb} the highest r, that of Oracle: it is {value}, and {without} without Echo."
        )

    assert report_where(0.89, 0.42).carried == sentence("carries", 0.89, 0.42)
    assert report_where(0.76, 0.95).carried == sentence("lowers", 0.76, 0.95)
    assert report_where(0.89, 0.80).carried == ""  # nothing that reassures: other systems may differ
    scores, ratings, names = [1.0, 4.0, 9.0, 6.0, 4.0, 9.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], list("ABCDEF")
    values = [stats.pearsonr(np.delete(scores, i), np.delete(ratings, i)).statistic for i in range(6)]
    assert (names[np.argmin(values)], names[np.argmax(values)]) == ("A", "C")
    points = tuple(SystemPoint(n, 1, x, y, None) for n, x, y in zip(names, scores, ratings, strict=True))
    all_six = replace(lead, value=stats.pearsonr(scores, ratings).statistic)
    changes = {"systems": points, "without": WithoutSystem("A", {"pearson": values[0]})}
    system = replace(oracle.system, coefficients=oracle.system.coefficients | {"pearson": all_six}, **changes)
    worse = report_where(0.89, 0.42).rows[1].levels
    both = levels_report(replace(result, levels=(worse, replace(oracle, system=system))), 1)
    assert both.chosen.other_way == ("C", pytest.approx(values[2]))
    assert both.carried.endswith(f"it is 0.63, and {values[0]:.2f} without A, though {values[2]:.2f} without C.")
    none = {"pearson": replace(lead, value=None)}
    undefined = [
        replace(levels, system=replace(levels.system, without=None, coefficients=none)) for levels in result.levels
    ]
    assert "no coefficient is defined" in levels_sentence(replace(result, levels=tuple(undefined)))


def test_the_lead_says_that_s_20_carries_table_1_of_d_haro_et_al_2019(study: Study, viewer, as_user) -> None:
    """The paper prints .8907 for AM-FM over 20 systems; scipy has .42 over the other 19."""
    with (FOLDER / "dstc6-table1.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))
    names = [row["system"] for row in printed]
    human = [float(row["human_mean"]) for row in printed]
    result, place = study.read_result(), names.index("S_20")

    def levels(index: int, column: str, systems: list[str]) -> RowLevels:
        kept = [names.index(name) for name in systems]
        scores, ratings = [float(printed[i][column]) for i in kept], [human[i] for i in kept]
        found = system_level_correlation(scores, ratings, systems)
        level, left = result.levels[index].system, found.most_influential
        estimate = replace(level.coefficients["pearson"], value=found.values["pearson"], p=found.pvalues["pearson"])
        system = replace(
            level,
            systems=tuple(
                SystemPoint(name, 1, score, rating, None)
                for name, score, rating in zip(systems, scores, ratings, strict=True)
            ),
            coefficients=level.coefficients | {"pearson": estimate},
            without=left and WithoutSystem(left.system, left.values),
        )
        return replace(result.levels[index], system=system)

    def lead(systems: list[str]) -> str:
        both = (levels(0, "METEOR", systems), levels(1, "AM_FM", systems))
        study.result = replace(result, levels=both).to_json()
        study.save()
        page = as_user(viewer).get(address(study, "study-detail")).content.decode()
        return " ".join(page.split('class="report-lead"')[1].split("</dl>")[0].split())

    others = names[:place] + names[place + 1 :]
    am_fm = [float(row["AM_FM"]) for row in printed]
    assert stats.pearsonr(am_fm, human).statistic == pytest.approx(0.8907, abs=5e-4)
    without = stats.pearsonr(np.delete(am_fm, place), np.delete(human, place))
    assert round(without.statistic, 2) == 0.42
    sentence = "Over systems one system carries the highest r, that of Oracle: it is 0.89, and 0.42 without S_20."
    assert f"<dt>One system</dt> <dd>{sentence}" in lead(names)
    (finding,) = study_findings(study.project, 1)
    assert finding.sure.startswith(f"It may have seen these ratings. {sentence} Circular: 4 outputs")
    assert sentence in printed_report(study, study.read_result(), study_document(study, study.read_result())).notes
    assert without.pvalue > 0.05
    assert "one system carries" not in lead(others), "over 19 systems there is no result that one could carry"


def test_what_chance_gives_as_well_is_not_put_down_to_a_metric(study: Study) -> None:
    result = study.read_result()

    def with_pearson(levels: RowLevels, level: str, **changes: object) -> RowLevels:
        part = levels.system if level == "system" else levels.outputs[0]
        estimates = part.coefficients | {"pearson": replace(part.coefficients["pearson"], **changes)}
        changed = replace(part, coefficients=estimates)
        if level == "system":
            return replace(levels, system=replace(changed, systems=2 * changed.systems))  # three are too few anyway
        return replace(levels, outputs=(changed, *levels.outputs[1:]))

    def words(level: str, ter: dict[str, object], oracle: dict[str, object], p: float | None = None) -> str:
        rows = zip(result.levels, (ter, oracle), strict=True)
        changed = tuple(with_pearson(levels, level, **each) for levels, each in rows)
        return levels_sentence(with_p_over_outputs(replace(result, levels=changed), p))

    by_chance = words("system", {"value": 0.5}, {"value": 0.92, "p": 0.254})
    assert "Over 6 systems no metric is shown to agree with the raters" in by_chance
    assert "the raters; the highest is Oracle, r = 0.92 (p = 0.254 for that row alone, " in by_chance
    assert "p = 0.508 as the highest of 2 rows)" in by_chance
    assert "no metric is shown" in words("system", {"value": 0.5}, {"value": 0.89, "p": 0.03}), "corrected for 2 rows"
    ends = words("system", {"value": 0.5}, {"value": 0.6, "p": 0.2, "over_items_and_systems": (-0.39, 0.97)})
    assert "r = 0.60 [−0.39, 0.97] (p = 0.200 for that row alone" in ends
    only = replace(
        result,
        rows=result.rows[:1],
        levels=(with_pearson(result.levels[0], "system", value=0.5, p=0.3, over_items_and_systems=None),),
        ceilings=result.ceilings[:1],
    )
    assert "is not shown to agree with the raters: r = 0.50, p = 0.300." in levels_sentence(only)
    wide = words("system", {"value": 0.5}, {"value": 0.89, "p": 0.02, "over_items_and_systems": (-0.39, 0.99)})
    assert "0.89, but agreement is not shown beyond them" in wide
    assert "from −0.39 to 0.99" in wide
    unsure = "Oracle has the highest r = 0.15 [0.11, 0.19], but which metric is best is not shown: "
    for value, p in ((0.14, 0.051), (0.05, 0.051), (0.14, None)):  # by the test, if there is one, not by the interval
        near = words("outputs", {"value": value}, {"value": 0.15, "over_items": (0.11, 0.19)}, p)
        assert f"{unsure}TER does not differ from it significantly." in near
    alike = replace(result, rows=tuple(replace(row, label="ΔBLEU", subset="all") for row in result.rows))
    both = tuple(with_pearson(levels, "outputs", value=0.15, over_items=(0.11, 0.19)) for levels in result.levels)
    named = levels_sentence(with_p_over_outputs(replace(alike, levels=both), 1.0))
    assert "with all references does not differ" in named  # a row by its references, not by its label alone
    for value, p in ((0.1, None), (0.14, 0.05)):
        apart = words("outputs", {"value": value}, {"value": 0.15, "over_items": (0.11, 0.19)}, p)
        assert "is best is not shown" not in apart


def test_a_row_that_may_have_seen_the_ratings_does_not_lead(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "too_good", too_good)
    monkeypatch.setattr(reports, "too_good", too_good)
    result = study.read_result()
    result = replace(result, rows=tuple(replace(row, few_units="") for row in result.rows))
    assert [row.label for row, _ in too_good(result)] == ["Oracle"]
    headline, report = study_headline(study, result), levels_report(result, None)
    assert headline is not None
    assert report is not None
    start = "TER with all references has the highest Spearman’s ρ with the raters, of those"
    assert headline.sentence.startswith(start)
    assert "Oracle may have seen these ratings." in headline.doubts
    assert report.over_outputs.startswith("Over ")
    assert "TER with all references has, but for Oracle, which may have seen these ratings, the highest r" in (
        report.over_outputs
    )
    assert [each.of.row.label for each in level_answers(study, result, report).rows] == ["Oracle", "TER"]


def test_the_study_names_another_winner_only_where_the_page_of_levels_shows_one(study: Study) -> None:
    """The page calls two rows that do not differ significantly equally good, so that the study's page names neither."""
    result = study.read_result()
    lead, enough = result.lead.key, 2  # times three systems

    def row(index: int, value: float) -> StudyRow:
        estimates = result.rows[index].coefficients
        return replace(result.rows[index], coefficients=estimates | {lead: replace(estimates[lead], value=value)})

    def levels(index: int, of_systems: dict[str, object], of_outputs: dict[str, object]) -> RowLevels:
        system, (outputs, *rest) = result.levels[index].system, result.levels[index].outputs
        system = replace(
            system,
            systems=enough * system.systems,
            coefficients=system.coefficients | {"pearson": replace(system.coefficients["pearson"], **of_systems)},
        )
        changed = outputs.coefficients | {"pearson": replace(outputs.coefficients["pearson"], **of_outputs)}
        return replace(result.levels[index], system=system, outputs=(replace(outputs, coefficients=changed), *rest))

    def others(of_systems: tuple[float, float], of_outputs: tuple[float, float], p: float = 0.01) -> str:
        ter = levels(0, {"value": 0.5}, {"value": 0.1})
        oracle = levels(
            1, {"value": 0.9, "p": p, "over_items_and_systems": of_systems}, {"value": 0.2, "over_items": of_outputs}
        )
        rows = (row(0, 0.9), row(1, 0.8))  # over units it is TER
        tests = with_p_over_outputs(result, 0.01 if of_outputs[0] > 0.1 else 0.2)  # TER has 0.1
        headline = study_headline(study, replace(tests, rows=rows, levels=(ter, oracle)))
        assert headline is not None
        return headline.levels.split(":")[-1].split(".")[0]

    assert others((0.1, 1.0), (0.15, 0.3)) == " Oracle’s over systems and Oracle’s over single outputs"
    assert others((-0.02, 1.0), (0.15, 0.3)) == " Oracle’s over single outputs"
    assert others((0.1, 1.0), (0.05, 0.3)) == " Oracle’s over systems"
    assert others((0.1, 1.0), (0.05, 0.3), p=0.2) == ""
    enough = 1
    assert others((0.1, 1.0), (0.05, 0.3)) == ""


def test_downloads_and_endpoint_have_the_same_numbers(study: Study, viewer, as_user) -> None:
    client, levels = as_user(viewer), study.read_result().levels[1]

    def rows(table: str) -> list[dict[str, str]]:
        response = client.get(address(study, "study-download", table, "csv"))
        return [
            row
            for row in csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))
            if row["metric"] == "Oracle"
        ]

    assert [float(row["value"]) for row in rows("system-level")] == [
        estimate.value for estimate in levels.system.coefficients.values()
    ]
    ranges = ("over_items", "over_systems", "over_items_and_systems", "over_raters", "over_items_systems_and_raters")
    for key, downloaded in zip(levels.system.coefficients, rows("system-level"), strict=True):
        for name in ranges:
            ends = getattr(levels.system.coefficients[key], name) or ("", "")
            assert [downloaded[f"{end}_{name}"] for end in ("low", "high")] == [str(end) for end in ends]
    assert [float(row["score"]) for row in rows("system-points")] == [each.score for each in levels.system.systems]
    assert [row["grouping"] for row in rows("output-level")][::3] == ["all", "item", "system"]
    assert [float(row["mae"]) for row in rows("rating-errors")] == [each.mae for each in levels.errors]
    answer = client.get(f"/api/v1/projects/{study.project.slug}/studies/{study.pk}/levels/").json()[1]
    assert answer["system"]["coefficients"]["pearson"]["value"] == levels.system.coefficients["pearson"].value
    for key, each in levels.system.coefficients.items():
        held = answer["system"]["coefficients"][key]
        assert [held[name] for name in ranges] == [ends and list(ends) for ends in map(partial(getattr, each), ranges)]
    assert answer["errors"][2]["scaled"] == "line"
