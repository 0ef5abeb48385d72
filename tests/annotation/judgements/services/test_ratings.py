"""Rating files become a closed campaign, or are refused with line and field."""

import json

import pytest

from annotation.core.errors import ImportRefused
from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.imports import campaign_import
from annotation.judgements.services.options import RatingOptions
from annotation.models import (
    Campaign,
    CampaignState,
    Dataset,
    Presentation,
    Project,
    RaterIdentity,
    Rating,
    ResponseSource,
    Unit,
)
from annotation.models.identities import digest_of
from tests.conftest import ROOT

EXAMPLES = ROOT / "demo" / "examples"


@pytest.fixture
def dataset(project: Project) -> Dataset:
    content, _ = read_dataset((EXAMPLES / "dataset.jsonl").read_bytes(), filename="dataset.jsonl", file_format="jsonl")
    return dataset_create(project=project, name="Small", content=content)


def imported(dataset: Dataset, content: str | bytes, kind: str = "csv", name: str = "Judged", **options):
    chosen = RatingOptions(**options)
    raw = content.encode() if isinstance(content, str) else content
    read = read_ratings(raw, filename=f"r.{kind}", file_format=kind, options=chosen)
    return campaign_import(dataset=dataset, name=name, by=None, content=read, filename=f"r.{kind}")


def refusal(dataset: Dataset, content: str, kind: str = "csv", **options) -> list[tuple[int | None, str]]:
    with pytest.raises(ImportRefused) as refused:
        imported(dataset, content, kind, **options)
    assert not Campaign.objects.exists()
    return [(row["line"], row["field"]) for row in refused.value.rows]


@pytest.mark.parametrize("example", ["ratings.jsonl", "ratings.csv", "ratings.tsv", "ratings-long.csv"])
def test_every_example_becomes_the_same_closed_campaign(dataset: Dataset, example: str) -> None:
    campaign, counts = imported(dataset, (EXAMPLES / example).read_bytes(), example.rpartition(".")[2])
    assert (campaign.state, campaign.imported) == (CampaignState.CLOSED, True)
    # Counted by hand in ratings.csv.
    assert (counts["judgements"], counts["ratings"], counts["raters"]) == (15, 30, 3)
    assert (counts["rated_items"], counts["rated_systems"], counts["rated_responses"]) == (3, 2, 5)
    assert list(campaign.criteria.values_list("name", "position")) == [("relevance", 0), ("informativeness", 1)]
    ratings = Rating.objects.filter(
        rater__identity__digest=digest_of("bob"), rated_as__name="SystemA", response__item__external_id="1"
    )
    assert list(ratings.order_by("criterion__position").values_list("value", flat=True)) == [4, 4]
    assert Presentation.objects.filter(slot=None, outcome="imported").count() == 15


def test_one_text_of_two_systems_is_rated_under_both_names(dataset: Dataset) -> None:
    """Both systems have the same output for item 2: one response, two units, one pool of ratings."""
    _, counts = imported(dataset, (EXAMPLES / "ratings.csv").read_bytes())
    units = Unit.objects.filter(item__external_id="2").order_by("position")
    assert list(units.values_list("label", flat=True)) == ["SystemA", "SystemB"]
    assert units[0].responses.get() == units[1].responses.get()
    assert counts["responses_under_several_names"] == 1


def test_a_repeated_row_is_a_second_judgement_and_counted(dataset: Dataset) -> None:
    rows = "rater,item,system,q\nann,1,SystemA,3\nann,1,SystemA,3\nann,1,SystemA,5\nbob,1,SystemA,1\n"
    _, counts = imported(dataset, rows)
    assert (counts["judgements"], counts["repeated_judgements"], counts["repeated_differing"]) == (4, 2, 1)
    assert list(Presentation.objects.order_by("source_row").values_list("source_row", flat=True)) == [2, 3, 4, 5]


def test_repeated_rows_of_the_long_form_are_grouped_by_their_order(dataset: Dataset) -> None:
    rows = "rater,item,system,criterion,value\n" + "".join(
        f"ann,1,SystemA,{criterion},{value}\n" for criterion, value in [("a", 1), ("b", 2), ("b", 4), ("a", 3)]
    )
    _, counts = imported(dataset, rows)
    assert (counts["judgements"], counts["repeated_differing"]) == (2, 1)
    values = Rating.objects.order_by("presentation__source_row", "criterion__position").values_list("value", flat=True)
    assert list(values) == [1, 2, 3, 4]


def test_an_alias_of_a_system_is_credited_with_its_outputs(dataset: Dataset) -> None:
    rows = "rater,item,system,q\nann,1,SystemA,3\nbob,1,Alias,5\n"
    _, counts = imported(dataset, rows, aliases={"Alias": "SystemA"})
    assert (counts["alias_judgements"], counts["alias_outputs"], counts["responses_under_several_names"]) == (1, 3, 1)
    assert ResponseSource.objects.filter(system__name="Alias").count() == 3
    assert set(Rating.objects.values_list("rated_as__name", "response__sources__system__name")) == {
        ("SystemA", "SystemA"),
        ("SystemA", "Alias"),
        ("Alias", "SystemA"),
        ("Alias", "Alias"),
    }
    _, repeated_counts = imported(dataset, rows, name="Again", aliases={"Alias": "SystemA"})
    assert repeated_counts["alias_outputs"] == 0


def test_a_value_too_large_for_a_float_is_refused(dataset: Dataset) -> None:
    rows = json.dumps({"rater": "ann", "item": "1", "system": "SystemA", "ratings": {"q": 10**400}})
    assert refusal(dataset, rows, "jsonl") == [(1, "q")]


def test_a_system_with_outputs_cannot_be_an_alias(dataset: Dataset) -> None:
    rows = "rater,item,system,q\nann,1,SystemA,3\n"
    assert refusal(dataset, rows, aliases={"SystemB": "SystemA"}) == [(None, "aliases")]
    assert refusal(dataset, rows, aliases={"Alias": "SystemZ"}) == [(None, "aliases")]


def test_a_rater_is_one_person_across_imports_of_a_project(dataset: Dataset) -> None:
    imported(dataset, "rater,item,system,q\nann,1,SystemA,3\n")
    imported(dataset, "rater,item,system,q\nann,2,SystemA,3\nbob,2,SystemA,3\n", name="Second")
    identities = RaterIdentity.objects.select_related("rater")
    assert sorted((each.external_id, each.rater.pseudonym) for each in identities) == [
        ("ann", "J-0001"),
        ("bob", "J-0002"),
    ]


def test_a_response_may_be_named_by_its_text(dataset: Dataset) -> None:
    campaign, _ = imported(dataset, 'rater,item,text,q\nann,3,"How old  is your starter?",4\n')
    rating = campaign.ratings.get()
    assert (rating.response.text, rating.rated_as) == ("How old is your starter?", None)


def test_columns_may_have_other_names_and_rows_may_be_chosen(dataset: Dataset) -> None:
    rows = "JudgeID\tSys\tInst\tQ\tnote\nann\tSystemA\t1\t2\tx\nann\tSystemB\t1\t3\ty\n"
    columns = {"rater": "JudgeID", "item": "Inst", "system": "Sys"}
    _, counts = imported(dataset, rows, "tsv", columns=columns, criteria=["Q"], only_systems=["SystemB"])
    assert (counts["rows"], counts["rows_of_other_systems"], counts["judgements"]) == (2, 1, 1)


def test_times_are_kept_and_default_to_utc(dataset: Dataset) -> None:
    campaign, _ = imported(dataset, "rater,item,system,q,time\nann,1,SystemA,3,2015-07-26T10:30:00\n")
    assert campaign.ratings.get().sent_at.isoformat() == "2015-07-26T10:30:00+00:00"


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("ann,1,SystemA,6", "q"),
        ("ann,1,SystemA,", "q"),
        ("ann,1,SystemA,nan", "q"),
        ("ann,9,SystemA,3", "item"),
        ("ann,1,SystemZ,3", "system"),
        ("ann,1,,3", "system"),
        (",1,SystemA,3", "rater"),
        ("ann,1,SystemA,3,x", "number of cells"),
    ],
)
def test_a_bad_row_is_named_with_its_field(dataset: Dataset, row: str, field: str) -> None:
    assert refusal(dataset, f"rater,item,system,q\nann,1,SystemA,3\n{row}\n") == [(3, field)]


def test_a_judgement_that_lacks_a_criterion_is_refused(dataset: Dataset) -> None:
    long = "rater,item,system,criterion,value\nann,1,SystemA,a,1\nann,1,SystemA,b,1\nbob,1,SystemA,a,1\n"
    assert refusal(dataset, long) == [(4, "b")]
    lines = [{"rater": "ann", "item": "1", "system": "SystemA", "ratings": ratings} for ratings in ({"a": 1}, {"b": 1})]
    assert refusal(dataset, "\n".join(map(json.dumps, lines)), "jsonl") == [(2, "ratings")]


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("rater,system,q", "item"),
        ("rater,item,q", "system"),
        ("rater,item,system", "criteria"),
        ("rater,item,system,q,q", "column 5"),
    ],
)
def test_a_table_without_a_required_column_is_refused(dataset: Dataset, header: str, field: str) -> None:
    assert refusal(dataset, f"{header}\nann,1,SystemA,3\n") == [(1, field)]
