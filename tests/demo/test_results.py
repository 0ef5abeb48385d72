"""The demo's results, computed again from the published files with pandas and statsmodels."""

import pandas as pd
import pytest
from django.db import connection, transaction
from statsmodels.stats.multitest import multipletests

from annotation.demo import load as demo_data
from annotation.models import Campaign
from annotation.results.selectors.tables import paragraph
from annotation.results.selectors.verdicts import Results, compute_results
from tests.demo import raw
from tests.demo.world import imported_demo

pytestmark = pytest.mark.django_db
SYSTEMS = ("Baseline", "Constant", "TeamA", "TeamCE", "TeamD", "TeamEC", "TeamG")
ONE = "TeamCE = TeamEC"  # one system's outputs under two names


@pytest.fixture(scope="module")
def results(django_db_setup: None, django_db_blocker):  # type: ignore[no-untyped-def]
    with django_db_blocker.unblock(), transaction.atomic():
        imported_demo()
        connection.check_constraints()
        yield compute_results([Campaign.objects.get(name=demo_data.OUTPUT_CAMPAIGN)])
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    """Each judgement of a text, once for every system that gave the text."""
    given = pd.DataFrame(
        [
            (judge, item, raw.outputs()[raw.SAME_OUTPUTS.get(name, name), item], int(relevance), int(informativeness))
            for judge, item, name, relevance, informativeness in raw.lines("human-eval-per-judge")
            if name in SYSTEMS
        ],
        columns=["judge", "item", "text", "relevance", "informativeness"],
    )
    outputs = pd.DataFrame(
        [
            (system, item, raw.outputs()[raw.SAME_OUTPUTS.get(system, system), item])
            for system in SYSTEMS
            for item in given["item"].unique()
        ],
        columns=["system", "item", "text"],
    )
    return outputs.merge(given, on=["item", "text"])


@pytest.mark.parametrize("criterion", ["relevance", "informativeness"])
def test_means_of_the_seven_systems_are_those_of_pandas(
    results: Results, ratings: pd.DataFrame, criterion: str
) -> None:
    expected = ratings.groupby(["system", "item"])[criterion].mean().groupby("system").mean()
    n = ratings.groupby("system").size()
    verdict = next(each for each in results.criteria if each.criterion == criterion)

    assert [each.name for each in verdict.systems] != sorted(SYSTEMS)  # best first
    assert {each.name for each in verdict.systems} == {*SYSTEMS, ONE} - {"TeamCE", "TeamEC"}
    for each in verdict.systems:
        for name in each.names:
            assert each.estimate == pytest.approx(expected[name], abs=1e-12)
            assert each.ratings == n[name]
            assert each.raters == ratings.loc[ratings["system"] == name, "judge"].nunique()
        assert each.low < each.estimate < each.high


def test_differences_and_their_correction_are_those_of_pandas_and_statsmodels(results: Results, ratings) -> None:
    verdict = next(each for each in results.criteria if each.criterion == "relevance")
    of_items = ratings.groupby(["system", "item"])["relevance"].mean().unstack("system")

    of_items = of_items.rename(columns={"TeamCE": ONE})
    assert len(verdict.pairs) == 15
    for pair in verdict.pairs:
        assert pair.difference == pytest.approx((of_items[pair.first] - of_items[pair.second]).mean(), abs=1e-12)
    corrected = multipletests([pair.p for pair in verdict.pairs], method="holm")[1]
    assert [pair.adjusted for pair in verdict.pairs] == pytest.approx(corrected)
    assert sum(pair.is_certain for pair in verdict.pairs) == 10


def test_the_paragraph_gives_the_largest_certain_differences(results: Results) -> None:
    verdict = next(each for each in results.criteria if each.criterion == "relevance")
    text = paragraph(results, []).partition("Relevance: ")[2].partition("Informativeness")[0].replace("\u00a0", " ")

    assert text.count("Of 15 differences 10 are certain") == 1
    assert "The 6 largest with corrected 95% intervals and p: " in text
    named = text.partition("and p: ")[2].split("; ")[:6]
    for pair, shown in zip(verdict.pairs, named, strict=False):
        numbers = f"{pair.difference:.2f} [{pair.low:.2f}, {pair.high:.2f}]"
        assert shown.startswith(f"{pair.first} less {pair.second} {numbers}, p ")
