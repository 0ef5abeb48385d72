"""A downloaded log that is imported again gives the same numbers."""

import json
from itertools import product

import numpy as np
import pytest

from annotation.campaigns.selectors import RATING_COLUMNS, rating_rows
from annotation.core.errors import ImportRefused
from annotation.core.exports import table_response
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.options import RatingOptions
from annotation.models import Campaign, Dataset, Project
from annotation.rating.selectors.ratings import judgement_table, rating_columns
from annotation.weighting.agreement import icc, krippendorff_alpha
from annotation.weighting.linear import linear_weights
from annotation.weighting.table import RatingTable
from tests.annotation.judgements.services.shapes import WIDE_BY_CRITERION, read, stored
from tests.annotation.worlds.datasets import example_dataset
from tests.annotation.worlds.rated import (
    make_campaign,
    make_dataset,
    make_item,
    make_response,
    present,
    rate,
    rate_in,
)


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


def log(campaign: Campaign, kind: str, columns=RATING_COLUMNS, rows=None) -> str:
    rows = rating_rows(campaign) if rows is None else rows
    return b"".join(table_response(format=kind, filename="x", columns=columns, rows=rows)).decode()


def numbers(campaign: Campaign) -> dict[str, object]:
    judged = judgement_table([campaign])
    _, response = np.unique(judged.response_id, return_inverse=True)
    names = dict(campaign.ratings.values_list("rater_id", "rater__pseudonym"))
    _, rater = np.unique([names[pk] for pk in judged.rater_id], return_inverse=True)
    table = RatingTable(response, rater, judged.value)
    weights = linear_weights(table, judged.low, judged.high)
    columns = rating_columns([campaign])
    return {
        "ratings": sorted(zip(columns.response_id.tolist(), columns.value.tolist(), strict=True)),
        "seconds": sorted(columns.seconds.tolist()),
        "weights": weights.weights.tolist(),
        "intervals": [weights.low.tolist(), weights.high.tolist()],
        "alpha": krippendorff_alpha(table).alpha,
        "icc": icc(table).icc_1,
    }


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_imported_campaign_comes_back_with_the_same_numbers(dataset: Dataset, kind: str) -> None:
    rows = "rater,item,system,a,b,time,seconds\n" + "".join(
        f"{rater},{item},{system},{1 + number % 5},{5 - number % 4},2015-07-26T10:{number:02}:00Z,{number + 0.25}\n"
        for number, (rater, item, system) in enumerate(product(("ann", "bob", "cleo"), "13", ("SystemA", "SystemB")))
    )
    first, _ = stored(dataset, rows)
    second, counts = stored(dataset, log(first, kind), kind, name="Again")
    assert counts["judgements"] == 12
    assert numbers(second) == numbers(first)


def test_unrated_criteria_stay_unrated(dataset: Dataset) -> None:
    first, _ = stored(dataset, WIDE_BY_CRITERION)
    second, counts = stored(dataset, log(first, "csv"), name="Again")
    assert (counts["ratings"], second.ratings.count()) == (7, 7)


def test_corrections_in_a_log_count_and_late_ratings_do_not(project: Project) -> None:
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    text = "=1+1 is what it says"  # a spreadsheet would run it, so its CSV cell begins with a quote
    response = make_response(make_item(dataset, "i1"), text, "A")
    rate(campaign, "ann", response, 2)
    shown = present(campaign, "bob", response)
    rate_in(shown, response, 1)
    rate_in(shown, response, 4, revision=1)
    rate(campaign, "cem", response, 5, extra=True)
    imported, counts = stored(dataset, log(campaign, "csv"), name="Again")
    assert (counts["corrected_ratings"], counts["late_ratings"], counts["judgements"]) == (1, 1, 2)
    assert sorted(imported.ratings.values_list("value", flat=True)) == [2, 4]
    assert imported.ratings.first().response == response
    assert rating_columns([imported]).seconds.tolist() == [6, 6]


def test_a_log_that_names_presentations_keeps_their_judgements_apart() -> None:
    columns = (
        "rating",
        "presentation",
        "item",
        "text",
        "rated_as",
        "rater",
        "criterion",
        "value",
        "cannot_judge",
        "revision",
        "extra",
        "sent_at",
    )
    rows = [
        (number, presentation, "i", "t", "", "ann", criterion, value, reason, revision, False, None)
        for number, (presentation, criterion, value, reason, revision) in enumerate(
            [
                (7, "a", 1.0, "", 0),
                (8, "a", 3.0, "", 0),
                (8, "b", 3.5, "", 0),
                (7, "b", None, "no idea", 0),
                (7, "a", 2.0, "", 1),
            ]
        )
    ]
    content = read(log(None, "jsonl", columns, rows), "jsonl")  # type: ignore[arg-type]
    assert [judgement.values for judgement in content.judgements] == [(2.0, None), (3.0, 3.5)]
    assert (content.left_out["corrected_ratings"], content.left_out["not_rated"]) == (1, 1)


def test_a_line_of_a_log_without_its_fields_is_refused(dataset: Dataset) -> None:
    rate_lines = log(stored(dataset, "rater,item,system,q\nann,1,SystemA,3\n")[0], "jsonl")
    broken = json.loads(rate_lines)
    del broken["rater"]
    with pytest.raises(Exception, match=r"line 2, field rater"):
        read(rate_lines + json.dumps(broken), "jsonl")


def test_ratings_of_single_turns_are_refused_rather_than_mixed(project: Project) -> None:
    dataset = make_dataset(project)
    campaign = make_campaign(dataset)
    rate(campaign, "ann", make_response(make_item(dataset, "1"), "yes", "Ada"), 4)
    (row,) = (json.loads(line) for line in log(campaign, "jsonl").splitlines())
    content = json.dumps(row | {"turn": 3}).encode()
    with pytest.raises(ImportRefused, match=r"field turn: found 3; accepted: nothing: ratings of single turns"):
        read_ratings(content, filename="log.jsonl", file_format="jsonl", options=RatingOptions())
