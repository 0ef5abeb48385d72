"""The shape of a rating file is recognised from its first rows; a preview comes before the import."""

import json
import sys

import pytest
from django.utils.timezone import now
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns.selectors import RATING_COLUMNS
from annotation.core.problems import grouped, unlisted
from annotation.judgements.services.imports import rating_import_create, rating_import_execute
from annotation.judgements.services.options import RatingOptions
from annotation.judgements.services.preview import (
    judges_line,
    rating_import_confirm,
    rating_preview,
    scale_lines,
)
from annotation.judgements.services.recognition import known_columns, recognised
from annotation.judgements.services.wide import judge_raters
from annotation.models import (
    Campaign,
    Dataset,
    DatasetImport,
    JobState,
    Project,
    RaterIdentity,
    RatingImport,
    ResponseSource,
)
from tests.annotation.judgements.services.shapes import APPRAISE_DOCUMENTS, label_studio, read, stored
from tests.annotation.worlds.datasets import EXAMPLES, example_dataset


@pytest.fixture
def dataset(project: Project) -> Dataset:
    return example_dataset(project)


def shape(content: str, kind: str = "csv", **options) -> RatingOptions:
    return recognised(content.encode(), file_format=kind, options=RatingOptions(**options))


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        ("rater,item,system,q\nann,1,A,3\n", "csv", "rows"),
        ("rater,item,system,criterion,value\nann,1,A,q,3\n", "csv", "rows"),
        ('{"rater": "ann", "item": "1", "system": "A", "ratings": {"q": 3}}\n', "jsonl", "rows"),
        ("item\tsystem\tann\tbob\n1\tA\t3\t4\n", "tsv", "raters"),
        ("item;system;ann;bob\n1;A;3;4\n", "csv", "raters"),
        ("item,text,ann:q,bob:q\n1,Hi,3,4\n", "csv", "raters"),
        ("item,system,median\n1,A,3\n", "csv", "aggregate"),
        ("item_id,model,avg_quality,n\n1,A,3,5\n", "csv", "aggregate"),
        (APPRAISE_DOCUMENTS, "csv", "appraise"),
        ("systemID,username,email,segmentID,score,durationInSeconds,itemType\nA,ann,,1,50,3,TGT\n", "csv", "appraise"),
        (label_studio(), "json", "label-studio"),
        (",".join(RATING_COLUMNS) + "\n", "csv", "assay"),
        ("", "csv", "rows"),
        ("\n\n", "tsv", "rows"),
        ("no json", "jsonl", "rows"),
        ("[1, 2]", "jsonl", "rows"),
        ('"never ended', "csv", "rows"),
    ],
)
def test_each_shape_is_recognised_by_its_first_rows(content: str, kind: str, expected: str) -> None:
    assert shape(content, kind).shape == expected


def test_the_item_is_found_as_the_import_of_texts_would_find_it(dataset: Dataset) -> None:
    assert shape("worker,model,example,score\na,A,1,3\n").columns == {
        "rater": "worker",
        "system": "model",
        "item": "example",
    }
    table = "worker,model,conversation,score\na,A,1,3\n"
    assert "item" not in shape(table).columns
    assert known_columns(dataset) == {}
    DatasetImport.objects.create(
        project=dataset.project,
        dataset=dataset,
        state=JobState.DONE,
        finished_at=now(),
        content=b"",
        options={"mapping": {"conversation": "id", "prompt": "message", "reply": "references"}},
    )
    known = known_columns(dataset)
    assert known == {"item": "conversation"}
    found = recognised(table.encode(), file_format="csv", options=RatingOptions(), known=known)
    assert found.columns == {"rater": "worker", "system": "model", "item": "conversation"}
    chosen = RatingOptions(columns={"item": "model"})
    assert recognised(table.encode(), file_format="csv", options=chosen, known=known).columns["item"] == "model"


def test_one_unknown_system_in_many_rows_is_one_error(dataset: Dataset) -> None:
    system = dataset.systems.order_by("name")[0].name
    wrong = f"{system}x"
    rows = "".join(f"r{number},{dataset.items.all()[0].external_id},{wrong},3\n" for number in range(300))
    preview = rating_preview(
        dataset=dataset,
        filename="r.csv",
        content=f"rater,item,system,q\n{rows}r0,nowhere,{system},3\n".encode(),
        file_format=None,
        options=RatingOptions(),
    )
    assert preview.total == 301
    assert unlisted(preview.errors, preview.total) == 0
    first, other = grouped(preview.errors)
    assert (first["found"], first["n"], first["line"]) == (wrong, 300, 2)
    assert first["accepted"].endswith(f"(did you mean {system}?)")
    assert (other["found"], other["n"]) == ("nowhere", 1)


def test_columns_with_common_names_are_recognised() -> None:
    options = shape("JudgeID,InstanceID,System_Name,Relevance,Started At,Duration\na,1,A,3,2015-07-26T10:30:00Z,4\n")
    assert options.columns == {
        "rater": "JudgeID",
        "item": "InstanceID",
        "system": "System_Name",
        "shown": "Started At",
        "seconds": "Duration",
    }
    assert shape("judge,worker,item,system,q\n").columns == {}  # two candidate columns: neither is chosen
    assert shape("judge,worker,item,system,q\n", columns={"rater": "worker"}).columns == {"rater": "worker"}


def test_a_column_of_words_is_not_a_criterion_but_one_with_a_bad_number_is() -> None:
    assert shape("rater,item,system,q,why\nann,1,A,3,good\nbob,1,A,x,bad\n").criteria == ["q"]
    assert shape("rater,item,system,q\nann,1,A,good\n").criteria == []
    assert shape("item,system,ann,bob,why\n1,A,3,,good\n").raters == ["ann", "bob"]


@given(st.binary(max_size=400), st.sampled_from(["csv", "tsv", "jsonl", "json"]))
def test_any_bytes_can_be_previewed(content: bytes, kind: str) -> None:
    options_found = recognised(content, file_format=kind, options=RatingOptions())
    assert options_found.shape


THREE_VALUES = st.lists(st.none() | st.integers(1, 5), min_size=3, max_size=3)
TABLES = st.lists(
    st.tuples(st.sampled_from("123"), st.sampled_from(["A", "B"]), THREE_VALUES),
    min_size=1,
    max_size=8,
    unique_by=lambda row: row[:2],
).filter(lambda rows: any(value is not None for *_, values in rows for value in values))


@given(TABLES)
def test_any_table_reads_the_same_by_rater_and_by_row(table: list) -> None:
    raters = ("ann", "bob", "cleo")
    wide = "item,system,ann,bob,cleo\n" + "".join(
        f"{item},{system},{','.join('' if value is None else str(value) for value in values)}\n"
        for item, system, values in table
    )
    rows = "rater,item,system,rating\n" + "".join(
        f"{rater},{item},{system},{value}\n"
        for item, system, values in table
        for rater, value in zip(raters, values, strict=True)
        if value is not None
    )
    by_rater, by_row = (
        [
            (judgement.rater, judgement.item, judgement.system, judgement.values)
            for judgement in read(text, shape=kind).judgements
        ]
        for text, kind in ((wide, "raters"), (rows, "rows"))
    )
    assert by_rater == by_row


# --- Preview ----------------------------------------------------------------------------------------------------------


def preview_of(dataset: Dataset, content: str | bytes, kind: str = "csv", **options):
    raw = content.encode() if isinstance(content, str) else content
    return rating_preview(
        dataset=dataset, filename=f"r.{kind}", content=raw, file_format=kind, options=RatingOptions(**options)
    )


def test_the_preview_summarises_the_file_in_a_sentence(dataset: Dataset) -> None:
    preview = preview_of(dataset, (EXAMPLES / "ratings.csv").read_bytes())
    assert preview.sentence == (
        "This looks like one rating a row: 3 raters, 2 criteria, 15 judgements of 5 responses of this data set."
    )
    assert preview.sample[0] == {
        "place": "line 2",
        "rater": "ann",
        "item": "1",
        "system": "SystemA",
        "text": "",
        "values": [5.0, 4.0],
        "sent": "2015-07-26T10:00:00+00:00",
    }
    assert (preview.errors, preview.partial) == ([], False)


def usr_like(n_raters: int = 12) -> str:
    """Return a file as of USR (Mehri and Eskenazi 2020): points from 1 to 5 and 1 to 3, and 0 or 1."""
    lines = ["rater,item,system,overall,interesting,knowledge"]
    for number in range(n_raters * 3):
        rater, item = number // 3, number % 3 + 1
        lines.append(f"r{rater},{item},SystemA,{number % 5 + 1},{number % 3 + 1},{number % 2}")
    return "\n".join(lines)


def test_each_criterion_has_a_scale_that_is_shown_and_can_be_given(dataset: Dataset) -> None:
    preview = preview_of(dataset, usr_like())
    assert preview.errors == []
    assert scale_lines(preview) == [
        "overall: 1 to 5; values 1 to 5",
        "interesting: 1 to 3, taken from its values; values 1 to 3",
        "knowledge: 0 to 1, taken from its values; values 0 to 1",
    ]
    again = preview_of(dataset, usr_like(), **(preview.options.as_json() | {"scales": {"knowledge": "0-1"}}))
    assert [(scale["low"], scale["high"], scale["inferred"]) for scale in again.scales] == [
        (1, 5, False),
        (1, 5, False),
        (0, 1, False),
    ]
    campaign, counts = stored(dataset, usr_like())
    ends = campaign.criteria.order_by("position").values_list("scale_min", "scale_max", "kind")
    assert list(ends) == [(1, 5, "likert"), (1, 3, "likert"), (0, 1, "likert")]
    assert counts["scales_inferred"] == 2


def test_no_scale_is_taken_from_few_values_or_beside_a_given_one(dataset: Dataset) -> None:
    assert [row["accepted"] for row in preview_of(dataset, usr_like(8)).errors][:1] == ["a number from 1 to 5"]
    alone = ["rater,item,system,interesting"]
    alone += [",".join(line.split(",")[:3] + line.split(",")[4:5]) for line in usr_like().splitlines()[1:]]
    assert [scale["high"] for scale in preview_of(dataset, "\n".join(alone)).scales] == [5]
    given = preview_of(dataset, usr_like(), scale_min=0, scale_max=5)
    assert {(scale["low"], scale["high"]) for scale in given.scales} == {(0, 5)}
    unknown = preview_of(dataset, usr_like(), scales={"charm": "1 to 3", "knowledge": "0 to 1"})
    assert unknown.errors[0]["accepted"] == "a criterion of the file: overall, interesting, knowledge"


def test_a_preview_writes_nothing_not_even_an_alias(dataset: Dataset) -> None:
    sources = ResponseSource.objects.count()
    preview = preview_of(dataset, "rater,item,system,q\nann,1,Alias,3\n", aliases={"Alias": "SystemA"})
    assert (preview.errors, preview.counts["alias_judgements"]) == ([], 1)
    assert (ResponseSource.objects.count(), dataset.systems.filter(name="Alias").exists()) == (sources, False)
    assert not Campaign.objects.exists()
    assert not RaterIdentity.objects.exists()


def test_the_preview_reports_every_error_of_the_import(dataset: Dataset) -> None:
    rows = "rater,item,system,q\nann,1,SystemA,9\nann,1,SystemZ,3\nann,1,SystemB,3\n"
    preview = preview_of(dataset, rows)
    job = rating_import_create(dataset=dataset, by=None, name="J", filename="r.csv", content=rows.encode())
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert preview.errors == job.report["errors"]
    assert [(row["line"], row["field"]) for row in preview.errors] == [(2, "q"), (3, "system")]
    assert (
        preview_of(dataset, "rater,item\n").sentence
        == "This was read as one rating a row, but could not be understood."
    )


def test_a_preview_can_be_stored_even_if_its_values_are_not_numbers(dataset: Dataset) -> None:
    job = rating_import_create(
        dataset=dataset,
        by=None,
        name="J",
        filename="r.csv",
        draft=True,
        content=b"item,system,ann,bob\n1,SystemA,9,x\n1,SystemB,nan,inf\n",
    )
    assert [row["values"] for row in job.report["preview"]["sample"]] == [[9], ["no number"], [None]]


@pytest.mark.parametrize("content", [b"item,system,a\x00b\n1,SystemA,3\n", b"rater,item,system,q\nann\x00,1,A\x00,3\n"])
def test_characters_that_the_database_cannot_hold_are_reported(dataset: Dataset, content: bytes) -> None:
    draft = rating_import_create(dataset=dataset, by=None, name="J", filename="r.csv", content=content, draft=True)
    assert draft.report["preview"]["total"] > 0
    job = rating_import_create(dataset=dataset, by=None, name="J", filename="r.csv", content=content)
    rating_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, "Unexpected" in job.error) == ("failed", False)


def test_the_preview_of_a_long_file_covers_its_beginning(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["annotation.judgements.services.preview"], "PAGE_BYTES", 100)
    preview = preview_of(dataset, "rater,item,system,q\n" + "ann,1,SystemA,3\n" * 100)
    assert (preview.partial, preview.counts["judgements"]) == (True, 5)


def test_a_confirmed_file_is_imported_once_with_the_previewed_options(dataset: Dataset) -> None:
    options = RatingOptions(criterion="quality")
    content = b"item,system,ann\n1,SystemA,3\n"
    job = rating_import_create(
        dataset=dataset, by=None, name="J", filename="r.csv", content=content, options=options, draft=True
    )
    rating_import_execute(import_id=job.pk)  # no worker takes it
    assert not Campaign.objects.exists()
    assert rating_import_confirm(job=job)
    assert not rating_import_confirm(job=job)
    rating_import_execute(import_id=job.pk)
    job = RatingImport.objects.get()
    assert job.state == "done", job.error
    assert job.options["shape"] == "raters"
    assert job.campaign.criteria.get().name == "quality"
    assert json.dumps(job.campaign.design["options"], sort_keys=True) == json.dumps(job.options, sort_keys=True)


def test_a_judges_column_beside_people_is_left_out_until_it_is_named(dataset: Dataset) -> None:
    content = "item,system,Maria,Tom,gpt_judge\n1,SystemA,3,4,77\n2,SystemA,2,5,81\n"
    preview = preview_of(dataset, content)
    assert (preview.judges, preview.options.raters, preview.errors) == (["gpt_judge"], ["Maria", "Tom"], [])
    assert (preview.counts["raters"], preview.counts["judge_columns"]) == (2, 1)
    assert judges_line(preview.judges) == "Left out: gpt_judge, which looks like a judge’s scores"
    assert preview_of(dataset, content, shape="raters").judges == ["gpt_judge"]  # also if the shape was chosen
    taken = preview_of(dataset, content, raters=["Maria", "Tom", "gpt_judge"], scale_max=100)
    assert (taken.judges, taken.counts["raters"]) == ([], 3)


@pytest.mark.parametrize(
    ("columns", "judges"),
    [
        ("Maria,Tom,auto_metric,Claude-3,BLEU", ["auto_metric", "Claude-3", "BLEU"]),
        ("Maria,Hillman,Scorer,Autry", []),
        ("judge_1,judge_2", []),
        ("judge_1,judge_2,llm_judge", ["llm_judge"]),
        ("maria_score,tom_score,gpt4_score", ["gpt4_score"]),
        ("ann:score,bob:score,GPT4:score", ["GPT4:score"]),
        ("gpt4,claude", []),
    ],
)
def test_names_of_judges_differ_from_those_of_people(columns: str, judges: list[str]) -> None:
    assert judge_raters(columns.split(",")) == judges
