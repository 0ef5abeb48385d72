import csv
import io
import json
import re
import subprocess
import sys
import tracemalloc
import zipfile

import pyarrow.parquet as pq
import pytest
import sacrebleu
import yaml
from django.core.cache import cache
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotation.core.copying import copy_rows
from annotation.core.one_line import escaped, unescaped
from annotation.models import Dataset, JobState, ReferenceSet, Release, ReleaseWeight, Response, ResponseSource
from annotation.references.releases.files.card import data_card
from annotation.references.releases.files.kinds import FILES, file_chunks, file_fingerprint, file_name
from annotation.references.releases.selectors.releases import release_named
from annotation.references.releases.services.releases import release_build, release_create, release_deprecate
from annotation.references.sets.services import reference_set_create
from tests.annotation.worlds.rated import make_campaign, make_dataset, make_item, make_response, rate
from tests.snapshots import recalled

ODD = [
    "=SUM(A1:A9)",
    "a\ttab",
    "two\nlines\r\n",
    'quotes "and" commas, too',
    "back\\slash \\t",
    "emoji 🎈 \u2028 end",
    "Plain.",
]
RATERS = ("ann", "bob", "cem")


@pytest.fixture
def release(project) -> Release:
    return recalled("odd texts", project, lambda: _release(project))


def _release(project) -> Release:
    """Seven odd texts for three items, which have 4, 2 and 1 references; two splits."""
    dataset = make_dataset(project)
    dataset.licence, dataset.attribution, dataset.language = "CC BY 4.0", "Made by\nthe lab.", "en-GB"
    dataset.save()
    campaign = make_campaign(dataset)
    item_names = ("i1", "i1", "i1", "i1", "=i2", "=i2", "i3")
    items = {
        name: make_item(dataset, name, split="dev" if name == "i1" else "", context=["Hi.", "=x"])
        for name in dict.fromkeys(item_names)
    }
    for number, (item_name, text) in enumerate(zip(item_names, ODD, strict=True)):
        response = make_response(items[item_name], text, "seed" if number == 0 else "mined")
        response.sources.filter(kind="mined").update(
            rank=number, score=7.5, source_message="Why?", source_context=["Oh."]
        )
        for shift, rater in enumerate(RATERS):
            rate(campaign, rater, response, 1 + (number + shift % 2) % 5)
    reference_set = reference_set_create(
        dataset=dataset,
        name="Odd",
        campaigns=[campaign],
        source_kinds=["seed", "mined"],
        original_kinds=["seed"],
    )
    release = release_create(reference_set=reference_set)
    release_build(release_id=release.pk)
    return release_named(project, "odd/v1")


def file_content(release: Release, name: str) -> bytes:
    return b"".join(file_chunks(release, name))


def members(release: Release, name: str) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file_content(release, name))) as archive:
        assert archive.testzip() is None
        return {member: archive.read(member) for member in archive.namelist()}


def truth(release: Release) -> set[tuple]:
    rows = release.weights.values_list(
        "item__external_id", "response__text", "weight", "rating_mean", "n_ratings", "low", "high"
    )
    return set(rows)


@pytest.mark.parametrize("name", FILES)
def test_the_same_release_gives_the_same_bytes_and_its_hash_is_in_the_file_or_the_name(release, name):
    first = file_content(release, name)
    assert first == file_content(release, name)
    assert release.content_hash[:12] in file_name(release, name)
    inside = b"".join(members(release, name).values()) if name.endswith(".zip") else first
    if name != "weighted.tsv":  # its lines hold only items
        assert release.content_hash[:12].encode() in inside


def test_json_lines_hold_each_item_with_its_conversation_references_and_sources(release):
    lines = [json.loads(line) for line in file_content(release, "items.jsonl").decode().split("\n")[:-1]]
    assert [(line["id"], line.get("split"), len(line["references"])) for line in lines] == [
        ("i1", "dev", 4),
        ("=i2", None, 2),
        ("i3", None, 1),
    ]
    assert (lines[0]["release"], lines[0]["content_hash"]) == ("odd/v1", release.content_hash)
    assert (lines[0]["context"], lines[0]["message"]) == (["Hi.", "=x"], "Message of i1?")
    exported = {
        (
            line["id"],
            reference["text"],
            reference["weight"],
            reference["mean"],
            reference["n"],
            reference["low"],
            reference["high"],
        )
        for line in lines
        for reference in line["references"]
    }
    assert exported == truth(release)
    assert all(
        reference["weight"] >= next_reference["weight"]
        for line in lines
        for reference, next_reference in zip(line["references"], line["references"][1:], strict=False)
    )
    mined = lines[2]["references"][0]
    assert mined["sources"] == [{"kind": "mined", "rank": 6, "score": 7.5, "message": "Why?", "context": ["Oh."]}]
    assert sum(mined["histogram"]) == 3


def test_flat_machine_formats_are_exact_and_the_spreadsheet_runs_no_formula(release):
    rows = [json.loads(line) for line in file_content(release, "references.jsonl").decode().split("\n")[:-1]]
    assert {(row["item"], row["text"]) for row in rows} == {row[:2] for row in truth(release)}
    assert {row["release"] for row in rows} == {f"odd/v1@{release.content_hash[:12]}"}
    table = pq.read_table(io.BytesIO(file_content(release, "references.parquet")))
    assert [(row["item"], row["text"], row["weight"]) for row in table.to_pylist()] == [
        (row["item"], row["text"], row["weight"]) for row in rows
    ]
    assert table.schema.metadata[b"assay.content_hash"].decode() == release.content_hash
    cells = list(csv.reader(io.StringIO(file_content(release, "references.csv").decode(), newline="")))
    assert len(cells) == 8
    for row in cells[1:]:
        numbers = {3 + 1, 5, 6, 7, 8, 9}
        assert not any(cell.lstrip().startswith(("=", "+", "@")) for cell in row)
        assert not any(cell.startswith(("-", "\t", "\r")) for column, cell in enumerate(row) if column not in numbers)
    assert "'=SUM(A1:A9)" in [row[3] for row in cells]


@given(st.text())
def test_any_text_is_escaped_to_one_line_without_tabs_and_unescaped_exactly(text):
    written = escaped(text)
    assert written.splitlines() in ([written], [])
    assert "\t" not in written
    assert unescaped(written) == text


@pytest.mark.parametrize(
    ("written", "message"),
    [("a\\", "a backslash at the end"), ("\\q", "a backslash before 'q'"), ("\\u12", "before 'u'")],
)
def test_an_unknown_escape_is_refused(written, message):
    with pytest.raises(ValueError, match=message):
        unescaped(written)


def test_weighted_tsv_has_a_line_per_item_with_pairs_of_weight_and_text(release):
    lines = [line.split("\t") for line in file_content(release, "weighted.tsv").decode().split("\n")[:-1]]
    assert [len(cells) for cells in lines] == [9, 5, 3]
    exported = {
        (unescaped(cells[0]), unescaped(text), float(weight))
        for cells in lines
        for weight, text in zip(cells[1::2], cells[2::2], strict=True)
    }
    assert exported == {(row[0], row[1], row[2]) for row in truth(release)}


def test_multi_reference_files_are_aligned_and_sacrebleu_scores_them_as_it_scores_the_lists(release):
    files = members(release, "multi-reference.zip")
    names = [f"{stem}{number}" for number in range(4) for stem in ("references.ref", "weights.")]
    assert list(files) == ["README.md", "items.txt", "messages.txt", *names]
    lines = {name: body.decode().split("\n")[:-1] for name, body in files.items() if name != "README.md"}
    assert {len(file_lines) for file_lines in lines.values()} == {3}
    assert lines["items.txt"] == ["i1", "=i2", "i3"]
    assert [[bool(lines[f"references.ref{n}"][item]) for n in range(4)] for item in range(3)] == [
        [True] * 4,
        [True, True, False, False],
        [True, False, False, False],
    ]
    assert [bool(cell) for cell in lines["weights.1"]] == [True, True, False]
    # sacrebleu reads an empty line as no reference (version 2.6.0): the lists say the same without any.
    hypotheses = ["two lines are here now", "a back slash and quotes", "Plain."]
    streams = [lines[f"references.ref{number}"] for number in range(4)]
    by_item = [
        [escaped(text) for item, text, *_ in truth(release) if item == item_id] for item_id in ("i1", "=i2", "i3")
    ]
    padded = [[refs[number] if number < len(refs) else None for refs in by_item] for number in range(4)]
    assert sacrebleu.corpus_bleu(hypotheses, streams).score == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, padded).score
    )


def test_sacrebleus_own_command_line_reads_the_multi_reference_files(release, tmp_path):
    """As the data formats' page writes it: ``sacrebleu references.ref* -i hypotheses.txt``."""
    files = members(release, "multi-reference.zip")
    references = sorted(name for name in files if name.startswith("references.ref"))
    for name in references:
        (tmp_path / name).write_bytes(files[name])
    hypotheses = ["two lines are here now", "a back slash and quotes", "Plain."]
    (tmp_path / "hypotheses.txt").write_text("".join(f"{line}\n" for line in hypotheses), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", *references, "-i", "hypotheses.txt"]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    output = json.loads(completed.stdout)
    # The lists of each item's references, without the lines that pad shorter ones; None is no reference to sacrebleu.
    by_item = [
        [escaped(text) for item, text, *_ in truth(release) if item == item_id] for item_id in ("i1", "=i2", "i3")
    ]
    lists = [[refs[number] if number < len(refs) else None for refs in by_item] for number in range(len(references))]
    assert output["score"] == round(sacrebleu.corpus_bleu(hypotheses, lists).score, 1)
    assert output["score"] > 0


def test_the_hugging_face_folder_names_its_splits_and_their_files_hold_the_items(release):
    files = members(release, "huggingface.zip")
    assert list(files) == ["README.md", "data/unsplit-00000-of-00001.parquet", "data/dev-00000-of-00001.parquet"]
    _, head, card = files["README.md"].decode().split("---\n", 2)
    matter = yaml.safe_load(head)
    assert matter["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "unsplit", "path": "data/unsplit-*.parquet"},
                {"split": "dev", "path": "data/dev-*.parquet"},
            ],
        }
    ]
    assert (matter["license"], matter["language"], matter["size_categories"]) == ("cc-by-4.0", ["en"], ["n<1K"])
    assert card.strip().startswith("# Odd v1")
    tables = [pq.read_table(io.BytesIO(files[name])) for name in list(files)[1:]]
    assert [table.column("id").to_pylist() for table in tables] == [["=i2", "i3"], ["i1"]]
    assert tables[0].schema.equals(tables[1].schema)
    rows = [row for table in tables for row in table.to_pylist()]
    assert {(row["id"], reference["text"], reference["weight"]) for row in rows for reference in row["references"]} == {
        row[:3] for row in truth(release)
    }
    assert rows[1]["references"][0]["sources"][0]["message"] == "Why?"


def test_the_card_describes_content_origin_and_limits(release):
    card = data_card(release)
    for passage in (
        "7 references of 3 items of the data set “Replies” (language: en-GB)",
        "Method: **linear** over quality, judged on a scale from 1 to 5 in the campaign “Quality”",
        "21 judgements (21 ratings) by 3 raters count.",
        "`exclude_extra`: 0 ratings",
        "Krippendorff's alpha (ordinal): ",
        "One-way intraclass correlation: ",
        "Quality: by a direct link from the project; unpaid.",
        "Texts: CC BY 4.0.",
        "Made by the lab.",
        f"`{release.content_hash}`",
        "Built by Assay 0.1.0",
        "| Mined | 6 |",
    ):
        assert passage in card
    assert "Deprecated" not in card


def test_what_people_typed_is_text_in_the_card(release, manager):
    attack = "<script>alert(1)</script> [a](javascript:b)"
    Dataset.objects.update(name=attack, licence=attack, attribution=attack)
    ReferenceSet.objects.update(name=attack, description=f"{attack}\n{attack}")
    release_deprecate(release=release, reason=attack, by=manager)
    page = (
        MarkdownIt("commonmark", {"html": True}).enable("table").render(data_card(Release.objects.get(pk=release.pk)))
    )
    assert page.count("&lt;script&gt;") == 7
    assert not re.search(r"<script|<a ", page)


def test_a_deprecation_stands_first_in_the_card_and_changes_every_fingerprint(release, manager):
    before = {name: file_fingerprint(release, name) for name in FILES}
    release_deprecate(release=release, reason="Wrong\nraters.", by=manager)
    assert "> **Deprecated on 20" in data_card(release)
    assert "** Wrong raters." in data_card(release)
    assert all(file_fingerprint(release, name) != tag for name, tag in before.items())


def test_a_new_source_of_a_text_changes_the_file(release):
    before, body = file_fingerprint(release, "items.jsonl"), file_content(release, "items.jsonl")
    response = Response.objects.get(text="Plain.")
    ResponseSource.objects.create(response=response, item=response.item, kind="parrot")
    assert file_fingerprint(release, "items.jsonl") != before
    assert file_content(release, "items.jsonl") != body


def test_memory_does_not_grow_with_the_release(project, release, monkeypatch):
    """Three times the references, beyond a row group of Parquet, take less than half as much again."""
    monkeypatch.setattr("annotation.references.releases.files.reading.CHUNK", 100)
    monkeypatch.setattr("annotation.references.releases.files.tables.BATCH_REFERENCES", 250)
    small, large = (_large(project, slug, items) for slug, items in (("small", 80), ("large", 240)))
    for built in (small, large):
        data_card(built)  # it is cached; that it reads all weights at once does not count here
    for name in sorted(set(FILES) - {"card.md"}):
        _peak(release, name)  # what is loaded only once does not count
        peaks = _peak(small, name), _peak(large, name)
        assert peaks[1] < 1.5 * peaks[0] + 2**18, (name, peaks)


def _large(project, slug: str, n_items: int) -> Release:
    """Ten references of 200 characters for each item."""
    dataset = make_dataset(project, slug)
    reference_set = project.reference_sets.create(dataset=dataset, name=slug, slug=slug, source_kinds=["human"])
    release = reference_set.releases.create(number=1)
    items = dataset.items.bulk_create(
        [dataset.items.model(dataset=dataset, external_id=f"i{n}", position=n, message="Why?") for n in range(n_items)]
    )
    texts = ((item.pk, f"{number} " + "word " * 40, f"{item.pk}-{number}") for item in items for number in range(10))
    copy_rows(Response, ["item_id", "text", "text_key"], texts)
    rows = Response.objects.filter(item__dataset=dataset).values_list("pk", "item_id")
    copy_rows(
        ResponseSource,
        ["response_id", "item_id", "kind", "source_context", "source_message", "raw_text"],
        ((pk, item, "human", [], "", "") for pk, item in rows),
    )
    copy_rows(
        ReleaseWeight,
        ["release_id", "item_id", "item_position", "response_id", "weight", "rating_mean", "n_ratings", "is_original"],
        ((release.pk, item, 0, pk, (pk % 21 - 10) / 10, 3.0, 5, False) for pk, item in rows),
    )
    report = {"items": {"with_weight": n_items}, "references": {}}
    release.method, release.report = "imported", report | _report(n_items)
    release.state, release.content_hash = JobState.DONE, "0" * 64
    release.save(update_fields=["method", "report"])
    Release.objects.filter(pk=release.pk).update(
        state=JobState.DONE, content_hash="0" * 64, finished_at=release.created_at
    )
    return release_named(project, f"{slug}/v1")


def _report(n_items: int) -> dict:
    return {
        "campaigns": [],
        "items": {"with_weight": n_items, "without_positive": 0, "without_positive_listed": [], "tied_best": 0},
        "references": {
            "weighted": 10 * n_items,
            "positive": 1,
            "zero": 1,
            "negative": 1,
            "without_interval": 10 * n_items,
        },
        "imported": {"filename": "w.tsv", "sha256": "0" * 64},
    }


def _peak(release: Release, name: str) -> int:
    tracemalloc.start()
    try:
        for _ in file_chunks(release, name):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_card_warns_of_texts_on_both_sides_of_a_comparison_of_systems(release):
    """A system's output is identical to a reference."""
    before = file_fingerprint(release, "card.md")
    response = Response.objects.get(text="Plain.")
    dataset = release.reference_set.dataset
    system = dataset.systems.create(name="Echo")
    ResponseSource.objects.create(response=response, item=response.item, kind="system", system=system)
    cache.clear()
    assert "1 references are identical to an output of a system of the data set (Echo: 1)." in data_card(release)
    assert file_fingerprint(release, "card.md") != before
