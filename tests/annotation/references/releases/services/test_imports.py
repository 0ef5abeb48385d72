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
    """Create the same items and texts in any data set."""
    responses = {}
    for name, texts in TEXTS.items():
        item = make_item(dataset, name)
        for text in texts:
            key = text_key(text, dataset.normalisation)
            response = Response.objects.create(item=item, text=text, text_key=key)
            response.sources.create(item=item, kind="human")
            responses[name, text] = response
    return responses


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
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    return release_named(project, "ours/v1")


@pytest.fixture
def foreign_dataset(release):
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


def take(dataset, content: str | bytes, filename: str, **options) -> Release:
    content = content.encode() if isinstance(content, str) else content
    return release_import(
        dataset=dataset,
        filename=filename,
        content=content,
        options=ImportOptions(**{"name": "Theirs", **options}),
        by=None,
    )


@pytest.mark.parametrize("name", ["items.jsonl", "references.jsonl", "references.csv"])
def test_an_exported_release_is_imported_as_the_same_table_in_another_project(release, foreign_dataset, name):
    content = b"".join(file_chunks(release, name))
    imported = take(foreign_dataset, content, name)
    assert table(imported) == table(release)
    assert (imported.state, imported.method, imported.is_imported) == (JobState.DONE, "imported", True)
    assert stored_content_hash(imported) == imported.content_hash
    if name == "items.jsonl":
        origin = imported.report["imported"]
        assert (origin["release"], origin["content_hash"]) == ("ours/v1", release.content_hash)
        assert b"".join(file_chunks(imported, "weighted.tsv")) == b"".join(file_chunks(release, "weighted.tsv"))


def test_weighted_lines_hold_the_same_weights_and_nothing_else(release, foreign_dataset):
    imported = take(foreign_dataset, b"".join(file_chunks(release, "weighted.tsv")), "weighted.tsv")
    assert {row[:3] for row in table(imported)} == {row[:3] for row in table(release)}
    assert {row[3:] for row in table(imported)} == {(None, 0, None, None, None, False)}
    assert imported.report["references"]["without_interval"] == 6


def test_the_same_weights_have_the_same_hash_in_every_file_format(release, foreign_dataset):
    first, second = (
        take(foreign_dataset, b"".join(file_chunks(release, name)), name, name=name)
        for name in ("items.jsonl", "references.csv")
    )
    assert first.content_hash == second.content_hash != release.content_hash


ANYTHING = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
TRICKY = st.sampled_from(["=1+1", "+a", "-b", "@c", "\td", "'=e", "'f", '"g"', " =h", "\\t", "\\", "🎈", "a\r\nb"])


@given(st.lists(st.tuples(ANYTHING | TRICKY, st.floats(-1, 1)), min_size=1, max_size=5))
def test_any_texts_and_weights_are_read_as_they_were_written(pairs):
    expected = [(text, weight + 0.0) for text, weight in pairs]
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
        weights = read_weights(content.encode(), file_format, Problems("file"))
        assert [(draft.text, draft.weight) for draft in weights.drafts] == expected, file_format


def test_every_bad_row_is_listed_with_its_line_its_value_and_the_accepted_values(release, foreign_dataset):
    rows = [
        ("item", "text", "weight", "mean", "n", "low", "high", "original"),
        ("i1", "=SUM(A1:A9)", "1.5", "", "", "", "", ""),
        ("i1", "=SUM(A1:A9)", "x", "nan", "2.5", "0.2", "0.1", "perhaps"),
        ("", "b", "0", "", "-1", "0.1", "", ""),
    ]
    content = "\n".join("\t".join(row) for row in rows)
    with pytest.raises(ImportRefused) as refusal:
        take(foreign_dataset, content, "bad.tsv")
    problems = [(row["line"], row["field"], row["found"]) for row in refusal.value.rows]
    assert problems == [
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
    assert not ReferenceSet.objects.filter(dataset=foreign_dataset).exists()


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
def test_a_refused_file_changes_nothing(release, foreign_dataset, filename, content, message):
    with pytest.raises(ImportRefused, match="(?s)" + message.replace("(", r"\(").replace("[", r"\[")) as refusal:
        take(foreign_dataset, content, filename)
    assert refusal.value.total >= 1
    assert not ReferenceSet.objects.filter(dataset=foreign_dataset).exists()


def test_an_unknown_format_and_invalid_options_are_refused_at_their_fields(release, foreign_dataset):
    for options, field in (
        ({"filename": "weights"}, "file_format"),
        ({"filename": "w.csv", "reference_set": release.reference_set}, "reference_set"),
        ({"filename": "w.csv", "name": " "}, "name"),
        ({"filename": "w.csv", "kind": "system"}, "kind"),
        ({"filename": "w.csv", "licence": "x" * 301}, "licence"),
    ):
        with pytest.raises(AnnotationError) as refusal:
            take(foreign_dataset, "item,text,weight\n", **options)
        assert list(refusal.value.fields) == [field]


def test_missing_texts_can_be_added_as_responses_of_a_kind(release, foreign_dataset):
    imported = take(foreign_dataset, "item,text,weight\ni1,Brand new.,0.5\n", "w.csv", add_texts=True, kind="parrot")
    (weight,) = imported.weights.all()
    assert (weight.response.text, weight.item.external_id) == ("Brand new.", "i1")
    assert [source.kind for source in weight.response.sources.all()] == ["parrot"]
    assert imported.report["imported"]["texts_added"] == 1
    assert imported.reference_set.source_kinds == ["parrot"]


@pytest.mark.parametrize("name", ["items.jsonl", "references.jsonl", "references.csv"])
def test_added_texts_have_the_kinds_named_in_the_file(project, dataset, name):
    item = make_item(dataset, "i1")
    kinds_of = {"original": ["seed"], "found": ["mined", "random"], "said by one": ["system"]}
    system = dataset.systems.create(name="One")
    campaign = make_campaign(dataset)
    for text, kinds in kinds_of.items():
        response = Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
        for kind in kinds:
            response.sources.create(item=item, kind=kind, system=system if kind == "system" else None)
        rate(campaign, "ann", response, 3)
    kinds = ["seed", "mined", "random"]
    reference_set = reference_set_create(
        dataset=dataset, name="Ours", campaigns=[campaign], source_kinds=kinds, source_systems=["One"]
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    content = b"".join(file_chunks(release_named(project, "ours/v1"), name))
    empty_dataset = make_dataset(Project.objects.create(name="Elsewhere", slug="elsewhere"))
    make_item(empty_dataset, "i1")
    imported = take(empty_dataset, content, name, add_texts=True, kind="human")
    imported_kinds = {
        response.text: sorted(source.kind for source in response.sources.all())
        for response in Response.objects.filter(item__dataset=empty_dataset)
    }
    assert imported_kinds == {"original": ["seed"], "found": ["mined", "random"], "said by one": ["human"]}
    assert imported.reference_set.source_kinds == ["human", "mined", "random", "seed"]
    assert imported.report["imported"]["texts_added_kinds"] == {"human": 1, "mined and random": 1, "seed": 1}


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
def test_problems_are_listed_under_the_files_own_field_names(dataset, filename, content, field):
    fill(dataset)
    with pytest.raises(ImportRefused) as refusal:
        take(dataset, content, filename)
    assert [row["field"] for row in refusal.value.rows] == [field]


def test_a_text_is_matched_by_the_data_sets_normalisation(release, foreign_dataset):
    imported = take(foreign_dataset, 'item,text,weight\ni1,"  a  tab   and lines ",1\n', "w.csv")
    assert imported.weights.get().response.text == "a\ttab and\nlines"


def test_a_system_that_says_the_same_as_a_reference_is_no_source(dataset):
    """As in DailyDialog++, where each system gave a handful of the texts that people wrote."""
    systems = {name: dataset.systems.create(name=name) for name in ("Echo", "Parrot", "Best")}
    rows = []
    for number in range(4):
        item = make_item(dataset, f"i{number}")
        texts = {f"human {number}": ["Echo"] * (number == 0), f"best {number}": ["Best"], f"echo {number}": ["Echo"]}
        for text, names in (texts | {f"parrot {number}": ["Parrot"]}).items():
            response = Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
            if text.startswith("human"):
                response.sources.create(item=item, kind="human")
            for name in names if number or text.startswith(("human", "best", "parrot")) else []:
                response.sources.create(item=item, kind="system", system=systems[name])
        rows += [f"i{number},human {number},1", f"i{number},best {number},-1"]
    rows.append("i0,parrot 0,0")
    imported = take(dataset, "item,text,weight\n" + "\n".join(rows), "w.csv")
    reference_set = imported.reference_set
    assert (reference_set.source_kinds, reference_set.source_systems) == (["human"], ["Best"])
    assert imported.report["imported"]["same_outputs"] == {"Echo": 1, "Parrot": 1}


def test_texts_of_systems_alone_have_these_systems_as_sources(dataset):
    best_of = {"i1": "One", "i2": "Two", "i3": "Two"}
    for name in ("One", "Two", "Three"):
        system = dataset.systems.create(name=name)
        for external_id in best_of:
            item = dataset.items.filter(external_id=external_id).first() or make_item(dataset, external_id)
            text = f"{name} {external_id}"
            response = Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
            response.sources.create(item=item, kind="system", system=system)
    first = take(dataset, "item,text,weight\ni1,One i1,1\n", "w.csv")
    assert first.reference_set.source_systems == ["One"]
    both = take(dataset, "item,text,weight\ni1,One i1,1\ni2,Two i2,1\ni3,Three i3,1\n", "w.csv", name="Best of")
    assert both.reference_set.source_systems == ["One", "Three", "Two"]


def test_later_files_become_the_next_releases_of_the_set_and_are_in_the_audit_log(release, foreign_dataset):
    options = {"origin": " A paper ", "licence": "CC0"}
    first = take(foreign_dataset, "item,text,weight\ni1,=SUM(A1:A9),1\n", "w.csv", **options)
    second = take(foreign_dataset, "item,text,weight\ni1,=SUM(A1:A9),-1\n", "w.csv", reference_set=first.reference_set)
    assert (first.number, second.number) == (1, 2)
    entry = AuditEntry.objects.filter(verb="release.import").earliest("pk")
    assert (entry.data["release"], entry.data["origin"], entry.data["licence"]) == ("theirs/v1", "A paper", "CC0")


def test_imported_weights_have_no_judgements(release, foreign_dataset):
    imported = take(foreign_dataset, b"".join(file_chunks(release, "items.jsonl")), "items.jsonl")
    assert len(release_judgements(imported).value) == 0
    assert release_campaigns(imported) == []
    assert "made elsewhere" in release_agreement(imported).alpha_reason
    card = data_card(imported)
    assert "**These weights were imported.**" in card
    assert "Krippendorff" not in card
    with pytest.raises(AnnotationError, match="its weights were imported"):
        release_create(reference_set=imported.reference_set)


def test_a_set_of_imported_weights_can_be_weighed_once_it_has_a_campaign(release, foreign_dataset):
    imported = take(foreign_dataset, "item,text,weight\ni1,=SUM(A1:A9),1\n", "w.csv")
    campaign = make_campaign(foreign_dataset)
    rate(campaign, "ann", imported.weights.get().response, 1)
    reference_set_add_campaign(reference_set=imported.reference_set, campaign=campaign, by=None)
    built = release_create(reference_set=imported.reference_set)
    release_build(release_id=built.pk)
    built.refresh_from_db()
    assert (built.number, built.state, built.weights.get().weight) == (2, JobState.DONE, -1.0)
    assert release_campaigns(imported) == []


# --- Content of files ---------------------------------------------------------------------------------------------


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_weighted_line_with_the_word_weight_is_no_header(dataset):
    item = make_item(dataset, "i1")
    for text in ("weight", "mass"):
        Response.objects.create(item=item, text=text, text_key=text_key(text, dataset.normalisation))
    content = b"i1\t0.5\tweight\t0.25\tmass\n"
    release = release_import(
        dataset=dataset, filename="w.tsv", content=content, options=ImportOptions(name="Told"), by=None
    )
    assert set(release.weights.values_list("response__text", "weight")) == {("weight", 0.5), ("mass", 0.25)}


def test_an_interval_that_the_database_cannot_measure_is_refused(dataset):
    fill(dataset)
    row = {"item": "i1", "text": "=SUM(A1:A9)", "weight": 0, "low": -1e308, "high": 1e308}
    with pytest.raises(ImportRefused, match="accepted: a number from -1e"):
        release_import(
            dataset=dataset, filename="w.jsonl", content=jsonl(row), options=ImportOptions(name="Wide"), by=None
        )


def test_names_that_the_database_cannot_hold_are_stored_as_escapes(dataset):
    fill(dataset)
    references = [{"text": "=SUM(A1:A9)", "weight": 0.5}]
    row = {"release": "a\0b\ud800", "content_hash": "\0", "id": "i1", "references": references}
    release = release_import(
        dataset=dataset,
        filename="w\0.jsonl",
        content=jsonl(row),
        options=ImportOptions(name="Odd", file_format="jsonl"),
        by=None,
    )
    assert release.report["imported"]["release"] == r"a\x00b\ud800"
    entry = AuditEntry.objects.get(verb="release.import")
    assert entry.data["release_named_in_file"] == r"a\x00b\ud800"


def test_an_apostrophe_before_a_formula_is_removed_only_in_tables(dataset):
    """Only spreadsheet downloads add one: in other formats it belongs to the text."""
    fill(dataset)
    row = {"item": "i1", "text": "'=SUM(A1:A9)", "weight": 0.5}
    with pytest.raises(ImportRefused, match="a text of item 'i1'"):
        release_import(
            dataset=dataset, filename="w.jsonl", content=jsonl(row), options=ImportOptions(name="Exact"), by=None
        )
    table = b"item,text,weight\ni1,'=SUM(A1:A9),0.5\n"
    release = release_import(
        dataset=dataset, filename="w.csv", content=table, options=ImportOptions(name="Sheet"), by=None
    )
    assert release.weights.get().response.text == "=SUM(A1:A9)"
