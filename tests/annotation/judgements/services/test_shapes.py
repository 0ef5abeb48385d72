"""Every shape of rating file gives the same judgements."""

import json
from datetime import UTC, datetime

import pytest

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.judgements.forms import RatingOptionsForm
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.recognition import recognised
from annotation.models import Dataset, Presentation, Project, RaterIdentity, Rating
from annotation.rating.selectors.ratings import rating_columns
from tests.annotation.judgements.services.shapes import (
    APPRAISE_DOCUMENTS,
    MEDIANS,
    WIDE,
    WIDE_BY_CRITERION,
    annotation,
    label_studio,
    read,
    refused,
    stored,
    tasks,
)
from tests.annotation.worlds.datasets import example_dataset


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


def stored_ratings(campaign) -> list[tuple]:
    names = ("response__item__external_id", "rated_as__name", "criterion__name", "value")
    raters = {each.rater_id: each.external_id for each in RaterIdentity.objects.all()}
    return sorted((raters[rater], *rest) for rater, *rest in campaign.ratings.values_list("rater_id", *names))


# --- Times, in any table ----------------------------------------------------------------------------------------------


def test_times_and_seconds_give_when_an_item_was_shown_and_sent() -> None:
    rows = (
        "rater,item,system,q,time,shown,seconds\n"
        "ann,1,SystemA,3,2015-07-26T10:30:00Z,,12.5\n"
        "ann,2,SystemA,3,,2015-07-26T10:30:00Z,30\n"
        "ann,3,SystemA,3,2015-07-26T10:30:09Z,2015-07-26T10:30:00Z,9\n"
        "bob,1,SystemA,3,,,7\n"
    )
    first, second, third, fourth = read(rows).judgements
    assert first.shown == datetime(2015, 7, 26, 10, 29, 47, 500000, UTC)
    assert second.time == datetime(2015, 7, 26, 10, 30, 30, tzinfo=UTC)
    assert (third.time - third.shown).total_seconds() == 9
    assert (fourth.shown, fourth.time, fourth.seconds) == (None, None, 7.0)


def test_seconds_are_kept_even_without_times(dataset: Dataset) -> None:
    campaign, _ = stored(
        dataset, "rater,item,system,q,seconds,sent\nann,1,SystemA,3,7.5,\nbob,1,SystemA,3,,2015-07-26\n"
    )
    columns = rating_columns([campaign])
    assert columns.seconds[0] == 7.5
    assert campaign.ratings.earliest("pk").sent_at is None


@pytest.mark.parametrize(
    ("time", "shown", "seconds", "field"),
    [
        ("2015-07-26T10:30:00Z", "2015-07-26T10:31:00Z", "", "shown"),
        ("2015-07-26T10:30:00Z", "2015-07-26T10:29:00Z", "12", "seconds"),
        ("", "", "-1", "seconds"),
        ("", "", "fast", "seconds"),
        ("", "yesterday", "", "shown"),
        ("2015-13-26T10:30:00Z", "", "", "time"),
    ],
)
def test_impossible_times_are_refused(time: str, shown: str, seconds: str, field: str) -> None:
    rows = f"rater,item,system,q,time,shown,seconds\nann,1,SystemA,3,{time},{shown},{seconds}\n"
    assert [(line, name) for line, name, _ in refused(rows)] == [(2, field)]


def test_a_scale_may_have_any_ends_and_values_between_its_points(dataset: Dataset) -> None:
    rows = "rater,item,system,q\nann,1,SystemA,0\nann,3,SystemA,99.5\n"
    campaign, _ = stored(dataset, rows, scale_min=0, scale_max=100)
    criterion = campaign.criteria.get()
    assert (criterion.scale_min, criterion.scale_max, criterion.kind, criterion.step) == (0, 100, "slider", 0)
    assert [value for *_, value in stored_ratings(campaign)] == [0, 99.5]
    assert refused(rows.replace("99.5", "100.5"), scale_min=0, scale_max=100)[0][2] == "a number from 0 to 100"


# --- A column for each rater ------------------------------------------------------------------------------------------


def test_each_filled_cell_in_a_rater_column_is_a_judgement(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, WIDE)
    # Counted by hand: nine cells, two of them empty.
    assert (counts["judgements"], counts["ratings"], counts["raters"], counts["not_rated"]) == (7, 7, 3, 2)
    assert stored_ratings(campaign) == [
        ("ann", "1", "SystemA", "rating", 5),
        ("ann", "1", "SystemB", "rating", 2),
        ("bob", "1", "SystemA", "rating", 4),
        ("bob", "1", "SystemB", "rating", 1),
        ("bob", "3", "SystemA", "rating", 4),
        ("cleo", "1", "SystemA", "rating", 5),
        ("cleo", "3", "SystemA", "rating", 4.5),
    ]


def test_columns_named_like_criteria_are_not_taken_for_raters() -> None:
    def shape(header: str) -> tuple[str, list[str], list[str]]:
        options = recognised(f"{header}\n1,SystemA,3,4,5\n".encode(), file_format="csv", options=RatingOptions())
        return options.shape, options.raters, options.criteria

    assert shape("item,system,informativeness,Naturalness,quality") == (
        "rows",
        [],
        ["informativeness", "Naturalness", "quality"],
    )
    assert shape("item,system,ann,bob,quality")[0] == "raters"


def test_an_option_names_the_criterion_of_rater_columns(dataset: Dataset) -> None:
    campaign, _ = stored(dataset, WIDE, criterion="quality")
    assert campaign.criteria.get().name == "quality"


def test_columns_of_raters_may_name_their_criterion(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, WIDE_BY_CRITERION)
    assert (counts["judgements"], counts["ratings"], counts["not_rated"]) == (4, 7, 1)
    assert ("bob", "1", "SystemB", "fluency", 3) in stored_ratings(campaign)
    assert ("bob", "1", "SystemB", "relevance", 3) not in stored_ratings(campaign)


def test_one_rating_a_row_reads_the_same_as_a_column_for_each_rater(dataset: Dataset) -> None:
    wide, _ = stored(dataset, WIDE_BY_CRITERION.replace(",,3", ",2,3"))
    rows = "rater,item,system,relevance,fluency\n" + "".join(
        f"{row}\n" for row in ("ann,1,SystemA,5,4", "bob,1,SystemA,4,4", "ann,1,SystemB,2,1", "bob,1,SystemB,2,3")
    )
    assert stored_ratings(stored(dataset, rows, name="Rows")[0]) == stored_ratings(wide)


def test_columns_that_hold_no_ratings_are_left_out_by_naming_the_raters() -> None:
    rows = "item,system,ann,bob,comment\n1,SystemA,3,4,odd\n"
    assert len(read(rows, raters=["ann", "bob"]).judgements) == 2
    assert len(read(rows).judgements) == 2  # recognised: a column of words holds no ratings
    assert refused(rows, shape="raters") == [(2, "comment", "a number from 1 to 5")]
    assert refused(rows, raters=["ann", "dora"])[0][1] == "dora"


def test_a_bad_cell_is_named_by_the_column_of_its_rater() -> None:
    assert [(line, name) for line, name, _ in refused(WIDE_BY_CRITERION.replace("2,1,,3", "2,9,,x"))] == [
        (3, "ann:fluency"),
        (3, "bob:fluency"),
    ]


def test_two_columns_of_one_rater_and_criterion_are_refused() -> None:
    rows = "item,system,ann:q,ann: q\n1,SystemA,3,4\n"
    assert [name for _, name, _ in refused(rows, shape="raters")] == ["ann: q"]


# --- Medians and means ------------------------------------------------------------------------------------------------


def test_medians_become_a_campaign_with_one_stand_in_rater(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, MEDIANS)
    assert campaign.design["aggregate"] == "median"
    assert campaign.design["behind"] == {"rows": 3, "least": 2, "most": 4, "all": 9}
    assert (counts["judgements"], counts.get("raters"), counts["behind_aggregates"]) == (3, None, 9)
    assert {(each.provider, each.external_id) for each in RaterIdentity.objects.all()} == {("aggregate", "median")}
    assert [value for *_, value in stored_ratings(campaign)] == [5, 2, 4.5]


def test_a_rater_named_median_is_not_the_stand_in_rater(dataset: Dataset) -> None:
    stored(dataset, MEDIANS)
    stored(dataset, MEDIANS.replace("5", "4"), name="Again")
    stored(dataset, "rater,item,system,q\nmedian,1,SystemA,3\n", name="Person")
    assert sorted((each.provider, each.external_id) for each in RaterIdentity.objects.all()) == [
        ("aggregate", "median"),
        ("import", "median"),
    ]
    assert Rating.objects.values("rater").distinct().count() == 2


def test_several_criteria_have_a_column_each_and_an_empty_one_was_not_rated(dataset: Dataset) -> None:
    rows = "item,system,relevance_mean,fluency_mean\n1,SystemA,4.2,3.8\n1,SystemB,,1.5\n"
    campaign, counts = stored(dataset, rows)
    assert campaign.design["aggregate"] == "mean"
    assert list(campaign.criteria.values_list("name", flat=True)) == ["relevance", "fluency"]
    assert (counts["ratings"], counts["not_rated"]) == (3, 1)


@pytest.mark.parametrize(
    ("rows", "options", "field"),
    [
        ("item,system,relevance\n1,SystemA,4\n", {"shape": "aggregate"}, "aggregate"),
        ("item,system,a_mean,b_median\n1,SystemA,4,4\n", {"shape": "aggregate"}, "aggregate"),
        ("item,system,median,n\n1,SystemA,4,2.5\n", {}, "n"),
        ("item,system,median,n\n1,SystemA,4,inf\n", {}, "n"),
        ("item,system,median\n1,SystemA,6\n", {}, "median"),
        ("item,system,median\n1,SystemA,4\n1,SystemA,4\n", {}, "item"),
        ("item,median\n1,4\n", {"shape": "aggregate"}, "system"),
    ],
)
def test_invalid_medians_are_refused(rows: str, options: dict, field: str) -> None:
    assert [name for _, name, _ in refused(rows, **options)] == [field]


def test_the_refusal_names_the_field_that_says_what_columns_hold() -> None:
    form = RatingOptionsForm()
    assert form["aggregate"] in form.basics
    with pytest.raises(ImportRefused) as raised:
        read("item,system,relevance\n1,SystemA,4\n", shape="aggregate")
    assert f"“{form['aggregate'].label}”" in raised.value.rows[0]["accepted"]


def test_an_option_makes_any_column_a_median(dataset: Dataset) -> None:
    campaign, _ = stored(dataset, "item,system,relevance\n1,SystemA,4.5\n", aggregate="median")
    assert (campaign.design["aggregate"], campaign.criteria.get().name) == ("median", "relevance")


# --- Appraise ---------------------------------------------------------------------------------------------------------


def test_appraise_scores_are_direct_assessments_without_checks(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, APPRAISE_DOCUMENTS)
    assert stored_ratings(campaign) == [
        ("engdeu1001", "1", "SystemA", "score", 87),
        ("engdeu1001", "1", "SystemB", "score", 12),
        ("engdeu1002", "2", "SystemA", "score", 40),
    ]
    names = ("checks_bad", "checks_chk", "checks_ref", "scores_of_documents", "shared_rows", "rows")
    # Item 2 has one text of both systems, so its two rows are one judgement.
    assert [counts[name] for name in names] == [1, 1, 1, 1, 1, 8]
    assert (campaign.criteria.get().scale_min, campaign.criteria.get().scale_max) == (0, 100)
    shown = Presentation.objects.order_by("source_row").first()
    assert (shown.shown_at, shown.ended_at) == (
        datetime.fromtimestamp(1624000000.5, UTC),
        datetime.fromtimestamp(1624000012.75, UTC),
    )


def test_the_example_row_from_appraises_code_is_read() -> None:
    """From a comment in Appraise's ComputeWMT21Results.py."""
    row = "zhoeng0802,GOOG_WMT2009_Test.chs-enu.txt,678,CHK,zho,eng,76,1511470503.271,1511470509.224\n"
    (judgement,) = read(row, item_types={"CHK": "*"}).judgements
    assert (judgement.rater, judgement.item, judgement.system, judgement.values) == (
        "zhoeng0802",
        "678",
        "GOOG_WMT2009_Test.chs-enu.txt",
        (76,),
    )
    assert (judgement.time - judgement.shown).total_seconds() == pytest.approx(5.953)
    assert refused(row) == [(None, "judgements", "at least one judgement")]


def test_appraise_checks_can_be_assigned_to_a_system(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, APPRAISE_DOCUMENTS, item_types={"CHK": "*", "REF": "SystemB"})
    assert ("engdeu1002", "1", "SystemA", "score", 90) in stored_ratings(campaign)
    assert ("engdeu1002", "1", "SystemB", "score", 99) in stored_ratings(campaign)
    assert "checks_ref" not in counts


@pytest.mark.parametrize(
    ("cells", "document", "seconds"),
    [
        ("7,TGT,eng,deu,50,1624000000.0,1624000004.0", "", 4),
        ("7,TGT,eng,deu,50,1624000000.0,1624000004.0,3,99", "", 4),
        ("7,TGT,eng,deu,50,1624000000.0,1624000004.0,3,99,1", "", 4),
        ("7,TGT,eng,deu,50,doc#1,False,1624000000.0,1624000004.0", "doc#1", 4),
        ("7,TGT,eng,deu,50,doc#1,False,[],1624000000.0,1624000004.0", "doc#1", 4),
        ("7,TGT,eng,deu,50,doc#1,False,1624000000.0,1624000004.0,3,99", "doc#1", 4),
        ("7,TGT,eng,deu,50,doc#1,False,[],1624000000.0,1624000004.0,3,99", "doc#1", 4),
    ],
)
def test_every_row_length_of_appraise_is_read(cells: str, document: str, seconds: float) -> None:
    """Segments, pairs with batch info, documents, documents with error spans (get_system_data of Appraise's models)."""
    (judgement,) = read(f"ann,SystemA,{cells}\n", item="{document}/{item}").judgements
    assert (judgement.item, judgement.values, (judgement.time - judgement.shown).total_seconds()) == (
        f"{document}/7",
        (50,),
        seconds,
    )


def test_appraises_dump_of_all_results_is_read() -> None:
    """The header is that of Appraise's dump_all_results_to_csv_file for documents; error spans are not quoted there."""
    rows = (
        "taskID,systemID,username,email,groups,segmentID,score,startTime,endTime,durationInSeconds,itemType,"
        "campaignName,documentID,isCompleteDocument,mqm\n"
        "1,SystemA,ann,a@b.c,g,4,50,1624000000.0,1624000004.0,4.0,TGT,wmt,doc,False,[1,2]\n"
        "1,SystemA,ann,a@b.c,g,4,50,1624000004.0,1624000009.0,5.0,BAD,wmt,doc,False,[]\n"
    )
    content = read(rows)
    assert [
        (judgement.rater, judgement.system, judgement.item, judgement.values) for judgement in content.judgements
    ] == [("ann", "SystemA", "4", (50,))]
    assert content.left_out["checks_bad"] == 1


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("ann,SystemA,7,TGT,eng,deu,101,1624000000.0,1624000004.0", "score"),
        ("ann,SystemA,7,TGT,eng,deu,None,1624000000.0,1624000004.0", "score"),
        ("ann,SystemA,7,XYZ,eng,deu,50,1624000000.0,1624000004.0", "item type"),
        ("ann,SystemA,7,TGT,eng,deu,50,1624000000.0", "number of cells"),
        ("ann,SystemA,7,TGT,eng,deu,50,doc,False,1", "number of cells"),
        ("ann,SystemA,7,TGT,eng,deu,50,noon,1624000004.0", "start"),
        (",SystemA,7,TGT,eng,deu,50,1624000000.0,1624000004.0", "rater"),
    ],
)
def test_a_bad_row_of_appraise_is_named(row: str, field: str) -> None:
    valid_row = "ann,SystemA,7,TGT,eng,deu,50,1624000000.0,1624000004.0\n"
    assert [(line, name) for line, name, _ in refused(f"{valid_row}{row}\n", shape="appraise")] == [(2, field)]


# --- Label Studio -----------------------------------------------------------------------------------------------------


def test_annotations_of_label_studio_are_judgements(dataset: Dataset) -> None:
    campaign, counts = stored(dataset, label_studio(), "json")
    assert stored_ratings(campaign) == [
        ("10", "1", "SystemA", "fluent", 5),
        ("10", "1", "SystemA", "quality", 4),
        ("10", "3", "SystemB", "quality", 1.5),
        ("bo@example.org", "1", "SystemA", "quality", 5),
    ]
    names = ("cancelled_annotations", "annotations_without_rating", "results_left_out", "not_rated", "rows")
    assert [counts[name] for name in names] == [1, 1, 2, 2, 2]
    assert rating_columns([campaign]).seconds.tolist() == pytest.approx([4.288] * 4)
    assert campaign.ratings.first().sent_at == datetime(2021, 3, 9, 22, 16, 8, 728353, UTC)


def test_choices_are_worth_their_leading_number_or_the_given_one() -> None:
    exported = tasks()[:1]
    exported[0]["annotations"] = [
        annotation(1, 10, answers={"good": ("choices", ["Good"]), "tone": ("choices", ["warm"])})
    ]
    content = read(label_studio(exported), "json", choices={"Good": "4"})
    assert (content.criteria, content.judgements[0].values) == (["good"], (4.0,))
    assert refused(label_studio(exported), "json")[0][:2] == (None, "criteria")


def test_columns_may_name_fields_of_the_task_or_the_task_id() -> None:
    exported = tasks()
    for task in exported:
        task["data"] = {"key": task["data"]["item_id"], "shown": task["data"]["prompt"]}
    assert [field for _, field, _ in refused(label_studio(exported), "json")] == ["columns: item", "columns: system"]
    named = read(label_studio(exported), "json", columns={"item": "key", "text": "shown"}).judgements
    assert (named[0].item, named[0].text) == ("1", "Then you saw the goal!")
    by_task = read(label_studio(exported), "json", columns={"item": "task id", "text": "shown"}).judgements
    assert by_task[0].item == "11"


def test_errors_name_task_and_annotation(dataset: Dataset) -> None:
    exported = tasks()
    exported[0]["annotations"][0]["result"][0]["value"] = {"rating": 9}
    exported[0]["annotations"][1]["completed_by"] = None
    exported[1]["annotations"][0]["result"].append(exported[1]["annotations"][0]["result"][0])
    assert [field for _, field, _ in refused(label_studio(exported), "json")] == [
        "task 12, annotation 1004, quality",
        "task 11, annotation 1001, quality",
        "task 11, annotation 1002, rater",
    ]


def test_an_unknown_system_is_reported_with_task_and_annotation(dataset: Dataset) -> None:
    exported = tasks()
    exported[1]["data"]["model"] = "SystemZ"
    with pytest.raises(AnnotationError, match="task 12, annotation 1004, system: found SystemZ"):
        stored(dataset, label_studio(exported), "json")


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ('[{"id": 1,}]', "column 11"),
        ('"tasks"', "file"),
        ('[{"id": 7, "text": "Hi", "rating": 4, "annotator": 1}]', "task 7"),
        ('[{"id": 7, "data": {}, "annotations": 4}]', "task 7"),
        ("[]", "columns: item"),
    ],
)
def test_files_that_are_not_label_studio_exports_are_refused(content: str, field: str) -> None:
    """The third is JSON-MIN, which does not name raters."""
    assert refused(content, "json")[0][1] == field


def test_exports_from_before_version_1_are_read() -> None:
    exported = tasks()
    for task in exported:
        task["completions"] = task.pop("annotations")
    assert len(read(label_studio(exported), "json").judgements) == 3


# --- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"shape": "tall"}, "shape"),
        ({"aggregate": "mode"}, "aggregate"),
        ({"item": "x"}, "item"),
        ({"item_types": {"TGT": "*"}}, "item_types"),
        ({"choices": {"Good": "very"}}, "choices"),
        ({"criterion": " "}, "criterion"),
        ({"scale_min": 5, "scale_max": 5}, "scale_max"),
        ({"scales": {"charm": "3 to 1"}}, "scales"),
        ({"scales": {"charm": "some"}}, "scales"),
    ],
)
def test_invalid_options_are_refused_at_their_field(options: dict, field: str) -> None:
    with pytest.raises(AnnotationError) as refusal:
        RatingOptions(**options)
    assert list(refusal.value.fields) == [field]


def test_a_shape_that_a_format_cannot_have_is_refused() -> None:
    assert refused(json.dumps({"rater": "ann"}), "jsonl", shape="appraise")[0][:2] == (None, "format")


def test_options_of_earlier_imports_can_still_be_read() -> None:
    early = {"columns": {}, "criteria": [], "only_systems": [], "aliases": {}, "scale_min": 1, "scale_max": 7}
    assert RatingOptions(**early).scale == (1, 7)
    assert RatingOptions(**RatingOptions(shape="appraise").as_json()).scale == (0, 100)
