import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import AnnotationError, ImportRefused
from annotation.core.normalisation import text_key
from annotation.core.one_line import escaped
from annotation.core.problems import Problems
from annotation.models import AuditEntry, JobState, Project, ReferenceSet, Release, Response
from annotation.references.releases.files.card import data_card
from annotation.references.releases.files.kinds import file_chunks
from annotation.references.releases.selectors.facts import release_agreement
from annotation.references.releases.selectors.releases import release_campaigns, release_judgements, release_named
from annotation.references.releases.services.imports import ImportOptions, release_import
from annotation.references.releases.services.releases import release_build, release_create, stored_content_hash
from annotation.references.releases.services.weights_files import read_weights
from annotation.references.sets.services import reference_set_add_campaign, reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, rate

TEXTS = {
    "i1": ["=SUM(A1:A9)", "a\ttab and\nlines", 'quotes "and", commas'],
    "=i2": ["back\\slash \\t", "emoji 🎈 ＝", "'=apostrophe"],
}
RATERS = ("ann", "bob", "cem")


def fill(dataset):
    """The same items and texts in any data set."""
    made = {}
    for name, texts in TEXTS.items():
        item = make_item(dataset, name)
        for text in texts:
            key = text_key(text, dataset.normalisation)
            response = Response.objects.create(item=item, text=text, text_key=key)
            response.sources.create(item=item, kind="human")
            made[name, text] = response
    return made


@pytest.fixture
def dataset(project):
    return make_dataset(project)


@pytest.fixture
def release(project, dataset) -> Release:
    campaign = make_campaign(dataset)
    for number, response in enumerate(fill(dataset).values()):
        for shift, rater in enumerate(RATERS):
            rate(campaign, rater, response, 1 + (number + shift % 2) % 5)
    reference_set = reference_set_create(
        dataset=dataset,
        name="Ours",
        campaigns=[campaign],
        source_kinds=["human"],
        original_kinds=["human"],
    )
    made = release_create(reference_set=reference_set, parameters={"n_bootstrap": 50})
    release_build(release_id=made.pk)
    return release_named(project, "ours/v1")


@pytest.fixture
def elsewhere(release):
    """A data set of another project, with the same items and texts."""
    dataset = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    fill(dataset)
    return dataset


def table(release: Release) -> set[tuple]:
    return set(
        release.weights.values_list(
            "item__external_id",
            "response__text",
            "weight",
            "rating_mean",
            "n_ratings",
            "standard_error",
            "low",
            "high",
            "is_original",
        )
    )


def take(dataset, content: str | bytes, filename: str, **asked) -> Release:
    content = content.encode() if isinstance(content, str) else content
    return release_import(
        dataset=dataset,
        filename=filename,
        content=content,
        options=ImportOptions(**{"name": "Theirs", **asked}),
        by=None,
    )


@pytest.mark.parametrize("name", ["items.jsonl", "references.jsonl", "references.csv"])
def test_what_was_exported_comes_back_as_the_same_table_in_another_project(release, elsewhere, name):
    content = b"".join(file_chunks(release, name))
    taken = take(elsewhere, content, name)
    assert table(taken) == table(release)
    assert (taken.state, taken.method, taken.is_imported) == (JobState.DONE, "imported", True)
    assert stored_content_hash(taken) == taken.content_hash
    if name == "items.jsonl":
        told = taken.report["imported"]
        assert (told["release"], told["content_hash"]) == ("ours/v1", release.content_hash)
        assert b"".join(file_chunks(taken, "weighted.tsv")) == b"".join(file_chunks(release, "weighted.tsv"))


def test_weighted_lines_bring_the_same_weights_and_nothing_else(release, elsewhere):
    taken = take(elsewhere, b"".join(file_chunks(release, "weighted.tsv")), "weighted.tsv")
    assert {row[:3] for row in table(taken)} == {row[:3] for row in table(release)}
    assert {row[3:] for row in table(taken)} == {(None, 0, None, None, None, False)}
    assert taken.report["references"]["without_interval"] == 6


def test_the_same_weights_have_the_same_hash_whichever_file_they_came_in(release, elsewhere):
    first, second = (
        take(elsewhere, b"".join(file_chunks(release, name)), name, name=name)
        for name in ("items.jsonl", "references.csv")
    )
    assert first.content_hash == second.content_hash != release.content_hash


ANYTHING = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
TRICKY = st.sampled_from(["=1+1", "+a", "-b", "@c", "\td", "'=e", "'f", '"g"', " =h", "\\t", "\\", "🎈", "a\r\nb"])


@given(st.lists(st.tuples(ANYTHING | TRICKY, st.floats(-1, 1)), min_size=1, max_size=5))
def test_any_texts_and_weights_are_read_as_they_were_written(pairs):
    wanted = [(text, weight + 0.0) for text, weight in pairs]
    lines = (
        json.dumps(
            {"id": "i", "references": [{"text": text, "weight": weight} for text, weight in pairs]}, ensure_ascii=False
        )
        + "\n"
    )
    weighted = "\t".join(["i", *(cell for text, weight in pairs for cell in (repr(weight), escaped(text)))]) + "\n"
    sheet = io.StringIO(newline="")
    csv.writer(sheet).writerows([("item", "text", "weight"), *(("i", text, repr(weight)) for text, weight in pairs)])
    for content, file_format in ((lines, "jsonl"), (weighted, "tsv"), (sheet.getvalue(), "csv")):
        found = read_weights(content.encode(), file_format, Problems("file"))
        assert [(draft.text, draft.weight) for draft in found.drafts] == wanted, file_format


def test_every_bad_row_is_told_with_its_line_what_was_found_and_what_is_accepted(release, elsewhere):
    rows = [
        ("item", "text", "weight", "mean", "n", "low", "high", "original"),
        ("i1", "=SUM(A1:A9)", "1.5", "", "", "", "", ""),
        ("i1", "=SUM(A1:A9)", "x", "nan", "2.5", "0.2", "0.1", "perhaps"),
        ("", "b", "0", "", "-1", "0.1", "", ""),
    ]
    content = "\n".join("\t".join(row) for row in rows)
    with pytest.raises(ImportRefused) as refusal:
        take(elsewhere, content, "bad.tsv")
    found = [(row["line"], row["field"], row["found"]) for row in refusal.value.rows]
    assert found == [
        (2, "weight", "1.5"),
        (3, "weight", "x"),
        (3, "mean", "nan"),
        (3, "low", "low 0.2, high 0.1"),
        (3, "n", "2.5"),
        (3, "original", "perhaps"),
        (4, "item", "nothing"),
        (4, "low", "low 0.1, high nothing"),
        (4, "n", "-1"),
    ]
    assert refusal.value.rows[0]["accepted"] == "a number from -1 to 1"
    assert not ReferenceSet.objects.filter(dataset=elsewhere).exists()


@pytest.mark.parametrize(
    ("filename", "content", "message"),
    [
        ("w.csv", "item,text\ni1,a\n", "field weight: found no such column; accepted: a column named weight"),
        ("w.csv", "item,text,weight,colour\ni1,a,0,red\n", "found colour; accepted: one of item, text, weight"),
        ("w.tsv", "i1\t0.5\n", "field number of cells: found 2; accepted: an item, then pairs of a weight and a text"),
        ("w.tsv", "i1\t0.5\ta\\q\n", "found a backslash before 'q'"),
        ("w.jsonl", '{"id": "i1", "references": [{"text": "a", "weight": 0, "colour": 1}]}\n', "field colour"),
        ("w.jsonl", '{"id": "i1", "references": [{"text": "a\\u0000b", "weight": 0}]}\n', "without NUL characters"),
        ("w.jsonl", '{"id": "i1", "references": {}}\n', "a list of objects with text and weight"),
        ("w.jsonl", '{"id": "i1", "references": [{"text": "a", "weight": true}]}\n', "reference 1: weight"),
        ("w.jsonl", "", "found no weight in the whole file"),
        ("w.csv", "item,text,weight\nnowhere,a,0\n", "line 2, field item: found nowhere; accepted: the id of an item"),
        (
            "w.csv",
            "item,text,weight\ni1,unheard of,0\n",
            "accepted: a text of item 'i1' under the rule nfc-space; or add",
        ),
        ("w.csv", "item,text,weight\ni1,=SUM(A1:A9),0\ni1, =SUM(A1:A9),1\n", "it is already on line 2"),
    ],
)
def test_a_file_that_cannot_be_taken_changes_nothing(release, elsewhere, filename, content, message):
    with pytest.raises(ImportRefused, match="(?s)" + message.replace("(", r"\(").replace("[", r"\[")) as refusal:
        take(elsewhere, content, filename)
    assert refusal.value.total >= 1
    assert not ReferenceSet.objects.filter(dataset=elsewhere).exists()


def test_a_format_that_nobody_said_and_a_set_of_another_data_set_are_refused_at_their_fields(release, elsewhere):
    for asked, field in (
        ({"filename": "weights"}, "file_format"),
        ({"filename": "w.csv", "reference_set": release.reference_set}, "reference_set"),
        ({"filename": "w.csv", "name": " "}, "name"),
        ({"filename": "w.csv", "kind": "system"}, "kind"),
        ({"filename": "w.csv", "licence": "x" * 301}, "licence"),
    ):
        with pytest.raises(AnnotationError) as refusal:
            take(elsewhere, "item,text,weight\n", **asked)
        assert list(refusal.value.fields) == [field]


def test_texts_that_are_not_there_can_be_added_as_responses_of_a_kind(release, elsewhere):
    taken = take(elsewhere, "item,text,weight\ni1,Brand new.,0.5\n", "w.csv", add_texts=True, kind="parrot")
    (weight,) = taken.weights.all()
    assert (weight.response.text, weight.item.external_id) == ("Brand new.", "i1")
    assert [source.kind for source in weight.response.sources.all()] == ["parrot"]
    assert taken.report["imported"]["texts_added"] == 1
    assert taken.reference_set.source_kinds == ["parrot"]


@pytest.mark.parametrize("name", ["items.jsonl", "references.jsonl", "references.csv"])
def test_added_texts_have_the_kinds_that_the_file_names(project, dataset, name):
    item = make_item(dataset, "i1")
    named = {"original": ["seed"], "found": ["mined", "random"], "said by one": ["system"]}
    system = dataset.systems.create(name="One")
    campaign = make_campaign(dataset)
    for text, kinds in named.items():
        response = Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
        for kind in kinds:
            response.sources.create(item=item, kind=kind, system=system if kind == "system" else None)
        rate(campaign, "ann", response, 3)
    kinds = ["seed", "mined", "random"]
    ours = reference_set_create(
        dataset=dataset, name="Ours", campaigns=[campaign], source_kinds=kinds, source_systems=["One"]
    )
    made = release_create(reference_set=ours)
    release_build(release_id=made.pk)
    content = b"".join(file_chunks(release_named(project, "ours/v1"), name))
    bare = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    make_item(bare, "i1")
    taken = take(bare, content, name, add_texts=True, kind="human")
    found = {
        response.text: sorted(source.kind for source in response.sources.all())
        for response in Response.objects.filter(item__dataset=bare)
    }
    assert found == {"original": ["seed"], "found": ["mined", "random"], "said by one": ["human"]}
    assert taken.reference_set.source_kinds == ["human", "mined", "random", "seed"]
    assert taken.report["imported"]["texts_added_kinds"] == {"human": 1, "mined and random": 1, "seed": 1}


@pytest.mark.parametrize(
    ("filename", "content", "field"),
    [
        ("w.jsonl", '{"id": "", "references": [{"text": "a", "weight": 0}]}\n', "id"),
        ("w.jsonl", '{"id": "nowhere", "references": [{"text": "a", "weight": 0}]}\n', "id"),
        ("w.jsonl", '{"id": "i1", "references": [{"text": "unheard of", "weight": 0}]}\n', "reference 1: text"),
        ("w.jsonl", '{"item_id": "nowhere", "text": "a", "weight": 0}\n', "item_id"),
        ("w.jsonl", '{"item": "nowhere", "text": "a", "weight": 0}\n', "item"),
        ("w.csv", "item_id,text,weight\nnowhere,a,0\n", "item_id"),
        ("w.csv", "item_id,text,weight,rating_mean\ni1,a,0,x\n", "rating_mean"),
    ],
)
def test_what_is_wrong_is_told_under_the_files_own_names(dataset, filename, content, field):
    fill(dataset)
    with pytest.raises(ImportRefused) as refusal:
        take(dataset, content, filename)
    assert [row["field"] for row in refusal.value.rows] == [field]


def test_a_text_is_found_under_the_data_sets_rule(release, elsewhere):
    taken = take(elsewhere, 'item,text,weight\ni1,"  a  tab   and lines ",1\n', "w.csv")
    assert taken.weights.get().response.text == "a\ttab and\nlines"


def test_later_files_become_the_next_releases_of_the_set_and_the_audit_log_says_so(release, elsewhere):
    told = {"origin": " A paper ", "licence": "CC0"}
    first = take(elsewhere, "item,text,weight\ni1,=SUM(A1:A9),1\n", "w.csv", **told)
    second = take(elsewhere, "item,text,weight\ni1,=SUM(A1:A9),-1\n", "w.csv", reference_set=first.reference_set)
    assert (first.number, second.number) == (1, 2)
    entry = AuditEntry.objects.filter(verb="release.import").earliest("pk")
    assert (entry.data["release"], entry.data["origin"], entry.data["licence"]) == ("theirs/v1", "A paper", "CC0")


def test_everything_that_asks_for_judgements_says_that_there_are_none(release, elsewhere):
    taken = take(elsewhere, b"".join(file_chunks(release, "items.jsonl")), "items.jsonl")
    assert len(release_judgements(taken).value) == 0
    assert release_campaigns(taken) == []
    assert "made elsewhere" in release_agreement(taken).alpha_reason
    card = data_card(taken)
    assert "**These weights were imported.**" in card
    assert "Krippendorff" not in card
    with pytest.raises(AnnotationError, match="its weights were imported"):
        release_create(reference_set=taken.reference_set)


def test_a_set_of_imported_weights_can_be_weighed_here_once_it_has_a_campaign(release, elsewhere):
    taken = take(elsewhere, "item,text,weight\ni1,=SUM(A1:A9),1\n", "w.csv")
    campaign = make_campaign(elsewhere)
    rate(campaign, "ann", taken.weights.get().response, 1)
    reference_set_add_campaign(reference_set=taken.reference_set, campaign=campaign, by=None)
    made = release_create(reference_set=taken.reference_set)
    release_build(release_id=made.pk)
    made.refresh_from_db()
    assert (made.number, made.state, made.weights.get().weight) == (2, JobState.DONE, -1.0)
    assert release_campaigns(taken) == []


# --- What a file may hold ---------------------------------------------------------------------------------------------


def written(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_weighted_line_with_the_word_weight_is_no_header(dataset):
    item = make_item(dataset, "i1")
    for text in ("weight", "mass"):
        Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
    content = b"i1\t0.5\tweight\t0.25\tmass\n"
    made = release_import(
        dataset=dataset, filename="w.tsv", content=content, options=ImportOptions(name="Told"), by=None
    )
    assert set(made.weights.values_list("response__text", "weight")) == {("weight", 0.5), ("mass", 0.25)}


def test_an_interval_that_the_database_cannot_measure_is_refused(dataset):
    fill(dataset)
    row = {"item": "i1", "text": "=SUM(A1:A9)", "weight": 0, "low": -1e308, "high": 1e308}
    with pytest.raises(ImportRefused, match="accepted: a number from -1e"):
        release_import(
            dataset=dataset, filename="w.jsonl", content=written(row), options=ImportOptions(name="Wide"), by=None
        )


def test_names_that_the_database_cannot_hold_are_kept_as_escapes(dataset):
    fill(dataset)
    references = [{"text": "=SUM(A1:A9)", "weight": 0.5}]
    row = {"release": "a\0b\ud800", "content_hash": "\0", "id": "i1", "references": references}
    made = release_import(
        dataset=dataset,
        filename="w\0.jsonl",
        content=written(row),
        options=ImportOptions(name="Odd", file_format="jsonl"),
        by=None,
    )
    assert made.report["imported"]["release"] == r"a\x00b\ud800"
    entry = AuditEntry.objects.get(verb="release.import")
    assert entry.data["release_named_in_file"] == r"a\x00b\ud800"


def test_an_apostrophe_before_a_formula_is_taken_off_in_tables_alone(dataset):
    """No download but a spreadsheet's puts one there: elsewhere it is the text's own."""
    fill(dataset)
    row = {"item": "i1", "text": "'=SUM(A1:A9)", "weight": 0.5}
    with pytest.raises(ImportRefused, match="a text of item 'i1'"):
        release_import(
            dataset=dataset, filename="w.jsonl", content=written(row), options=ImportOptions(name="Exact"), by=None
        )
    table = b"item,text,weight\ni1,'=SUM(A1:A9),0.5\n"
    made = release_import(
        dataset=dataset, filename="w.csv", content=table, options=ImportOptions(name="Sheet"), by=None
    )
    assert made.weights.get().response.text == "=SUM(A1:A9)"
