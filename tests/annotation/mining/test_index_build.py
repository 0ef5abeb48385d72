"""Index files: complete or absent, the same for the same triples, and refused if damaged."""

import json
import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from annotation.mining.index import building
from annotation.mining.index.building import build_index
from annotation.mining.index.files import UnreadableIndex
from annotation.mining.index.parameters import IndexParameters
from annotation.mining.index.reading import TripleIndex
from annotation.mining.triples import BATCH_ROWS, Triple

ROOT = Path(__file__).resolve().parents[3]
TRIPLES = [
    Triple(("hi", "hello"), "how are you", "fine thanks"),
    Triple((), "how old are you", "older than you"),
    Triple(("x",), "are you there", "yes I am there"),
]


def many_triples(count):
    return (Triple((f"before {i}",), f"message {i % 7} of {i % 11}", f"answer {i % 5} to {i}") for i in range(count))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rewrite_header(folder, change):
    """Change the header and its checksum."""
    path = folder / "index.json"
    header = json.loads(path.read_text())
    del header["checksum"]
    change(header)
    text = json.dumps(header, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    path.write_text(json.dumps({**header, "checksum": sha256(text.encode()).hexdigest()}))


@pytest.fixture
def folder(tmp_path):
    build_index(TRIPLES, tmp_path / "index")
    return tmp_path / "index"


def test_the_report_counts_hashes_and_signs(tmp_path):
    report = build_index(TRIPLES, tmp_path / "index", parameters=IndexParameters(k1=1.5))
    lines = (
        '{"context":["hi","hello"],"message":"how are you","response":"fine thanks"}\n'
        '{"context":[],"message":"how old are you","response":"older than you"}\n'
        '{"context":["x"],"message":"are you there","response":"yes I am there"}\n'
    )
    assert report.n_triples == 3
    assert report.content_hash == sha256(lines.encode()).hexdigest()
    assert report.signature == "bm25|variant:lucene|k1:1.5|b:0.75|tok:words|version:1"
    assert report.n_words == 12  # how are you fine thanks old older than there yes i am
    on_disk = sum(map(len, contents(tmp_path / "index").values()))
    assert report.bytes == on_disk - (tmp_path / "index" / "index.json").stat().st_size


def test_an_index_has_the_figures_of_its_report(folder, tmp_path):
    report = build_index(TRIPLES, tmp_path / "again")
    with TripleIndex.open(folder, verify_contents=True) as index:
        assert (index.n, index.content_hash, index.signature) == (3, report.content_hash, report.signature)
        assert (index.bytes, index.n_words, index.parameters) == (report.bytes, report.n_words, IndexParameters())


def test_triples_are_read_by_number_across_batches(tmp_path):
    n = 2 * BATCH_ROWS + 5
    build_index(many_triples(n), tmp_path / "index")
    expected = list(many_triples(n))
    with TripleIndex.open(tmp_path / "index") as index:
        for number in (0, 1, BATCH_ROWS - 1, BATCH_ROWS, 2 * BATCH_ROWS, n - 1):
            assert index.triple(number) == expected[number]
        assert list(index.triples()) == expected
        for number in (-1, n):
            with pytest.raises(IndexError, match=f"triple {number}: accepted are 0 to {n - 1}"):
                index.triple(number)


def test_the_triples_file_is_arrow(folder):
    table = pa.ipc.open_file(pa.memory_map(str(folder / "triples.arrow"))).read_all()
    assert [Triple(tuple(row["context"]), row["message"], row["response"]) for row in table.to_pylist()] == TRIPLES


def test_the_same_triples_make_the_same_bytes_however_they_are_chunked(tmp_path, monkeypatch):
    build_index(many_triples(1000), tmp_path / "one")
    monkeypatch.setattr(building, "CHUNK_TRIPLES", 77)
    build_index(many_triples(1000), tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_another_order_of_triples_has_another_hash(tmp_path):
    forwards = build_index(TRIPLES, tmp_path / "one")
    backwards = build_index(TRIPLES[::-1], tmp_path / "two")
    assert forwards.content_hash != backwards.content_hash


def test_an_index_of_no_triples_finds_nothing(tmp_path):
    assert build_index([], tmp_path / "index").n_triples == 0
    with TripleIndex.open(tmp_path / "index", verify_contents=True) as index:
        assert index.search("a", "b", n=3) == []
        assert index.random_numbers(3, np.random.default_rng(1)) == []


def test_texts_without_a_word_can_be_drawn_but_not_found(tmp_path):
    build_index([Triple((), "?!", "..."), Triple((), "", "")], tmp_path / "index")
    with TripleIndex.open(tmp_path / "index") as index:
        assert index.search("?!", "...", n=3) == []
        assert sorted(index.random_numbers(9, np.random.default_rng(1))) == [0, 1]
        assert index.triple(0) == Triple((), "?!", "...")


def test_a_text_that_is_not_unicode_is_refused_with_its_triple(tmp_path):
    with pytest.raises(ValueError, match="triple 1: found a text that is not Unicode"):
        build_index([TRIPLES[0], Triple((), "a", "\ud800")], tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


def test_a_build_reports_its_progress_and_leaves_no_files_when_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "BEAT_TRIPLES", 10)
    counts = []

    def beat(done):
        counts.append(done)
        if done == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(many_triples(100), tmp_path / "index", beat=beat)
    assert counts == [10, 20, 30]
    assert list(tmp_path.iterdir()) == []


def test_a_failed_build_leaves_the_old_index_unchanged(folder):
    def failing():
        yield TRIPLES[0]
        raise OSError("the stream broke")

    before = contents(folder)
    with pytest.raises(OSError, match="the stream broke"):
        build_index(failing(), folder)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


def test_a_new_build_replaces_the_old_one(folder):
    build_index(TRIPLES[:1], folder)
    with TripleIndex.open(folder) as index:
        assert index.n == 1
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


ENDLESS_BUILD = """
import itertools, sys
from pathlib import Path
from annotation.mining.index.building import build_index
from annotation.mining.triples import Triple
triples = (Triple((), f"m {i}", f"r {i}") for i in itertools.count())
build_index(triples, Path(sys.argv[1]), beat=lambda n: print(n, flush=True))
"""


def test_a_killed_build_leaves_no_index_and_the_next_one_cleans_up(tmp_path):
    folder = tmp_path / "index"
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS_BUILD, str(folder)], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline()
        unfinished = [path.name for path in tmp_path.iterdir()]
        assert len(unfinished) == 1
        assert unfinished[0].startswith(".index.building-")
        build_index(TRIPLES, tmp_path / "index")  # another process's build continues
        assert len(list(tmp_path.iterdir())) == 2
        process.send_signal(signal.SIGKILL)
    with pytest.raises(UnreadableIndex, match=r"index\.json: not found"):
        TripleIndex.open(tmp_path / unfinished[0])
    build_index(TRIPLES, folder)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


NAMES = [
    "triples.arrow",
    "words.npy",
    "word_ends.npy",
    *(
        f"{side}/{name}"
        for side in ("message", "response")
        for name in ("data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "params.index.json")
    ),
]


def test_an_index_has_exactly_these_files(folder):
    assert sorted(contents(folder)) == sorted([*NAMES, "index.json"])


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(UnreadableIndex, match=f"{name}: missing"):
        TripleIndex.open(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_cut_short_is_named(folder, name):
    os.truncate(folder / name, (folder / name).stat().st_size - 1)
    with pytest.raises(UnreadableIndex, match=f"{name}: damaged, found [\\d,]+ bytes, expected"):
        TripleIndex.open(folder)


@pytest.mark.parametrize("name", NAMES)
def test_one_changed_byte_is_found_when_contents_are_verified(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(UnreadableIndex, match=f"{name}: damaged, its contents have changed"):
        TripleIndex.open(folder, verify_contents=True)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".npy")])
def test_an_array_with_an_overwritten_start_is_named_on_opening(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(b"\0" * 16 + content[16:])
    with pytest.raises(UnreadableIndex, match=f"{name}: damaged"):
        TripleIndex.open(folder)


def test_triples_with_an_overwritten_end_are_named_on_opening(folder):
    content = (folder / "triples.arrow").read_bytes()
    (folder / "triples.arrow").write_bytes(content[:-16] + b"\0" * 16)
    with pytest.raises(UnreadableIndex, match=r"triples\.arrow: damaged"):
        TripleIndex.open(folder)


def test_an_impossible_text_number_is_reported_by_the_search_that_reads_it(folder):
    numbers = np.load(folder / "message" / "indices.csc.index.npy", mmap_mode="r+")
    numbers[:] = 99
    numbers.flush()
    with TripleIndex.open(folder) as index, pytest.raises(UnreadableIndex, match=r"indices\.csc\.index\.npy: damaged"):
        index.search("how are you", "fine", n=1)


def test_a_folder_without_a_header_is_no_index(tmp_path):
    with pytest.raises(UnreadableIndex, match=r"index\.json: not found"):
        TripleIndex.open(tmp_path)


def test_a_header_that_is_not_json_is_refused(folder):
    (folder / "index.json").write_text('{"format": ')
    with pytest.raises(UnreadableIndex, match=r"index\.json: damaged, not JSON"):
        TripleIndex.open(folder)


def test_a_header_of_another_kind_is_refused(folder):
    (folder / "index.json").write_text("[1, 2]")
    with pytest.raises(UnreadableIndex, match=r"index\.json: not the header of an index of triples"):
        TripleIndex.open(folder)


def test_a_header_that_was_edited_is_refused(folder):
    path = folder / "index.json"
    path.write_text(path.read_text().replace('"n_triples": 3', '"n_triples": 2'))
    with pytest.raises(UnreadableIndex, match=r"index\.json: damaged, it does not match its own checksum"):
        TripleIndex.open(folder)


def test_an_unknown_version_is_refused(folder):
    rewrite_header(folder, lambda header: header.update(version=99))
    with pytest.raises(UnreadableIndex, match=r"index\.json: found version 99; accepted: 1; build the index again"):
        TripleIndex.open(folder)


def test_files_of_two_indexes_cannot_be_mixed(folder, tmp_path):
    build_index(TRIPLES[:2], tmp_path / "other")
    other_files = contents(tmp_path / "other")
    name = "triples.arrow"
    (folder / name).write_bytes(other_files[name])
    rewrite_header(folder, lambda header: header["files"][name].update(bytes=len(other_files[name])))
    with pytest.raises(UnreadableIndex, match=r"triples\.arrow: damaged, found 2 triples, expected 3"):
        TripleIndex.open(folder)


def test_an_open_index_answers_while_it_is_replaced(folder):
    with TripleIndex.open(folder) as index:
        build_index(TRIPLES[:1], folder)
        assert [hit.number for hit in index.search("how old", "older", n=3)] == [1]
        assert index.triple(2) == TRIPLES[2]


def test_a_build_reports_progress_before_the_stream_ends(tmp_path):
    """The first report comes before the stream ends, however slow the stream is."""
    moments = []

    def slow():
        yield from many_triples(building.BEAT_TRIPLES + 1)
        moments.append(("read", time.monotonic()))

    build_index(slow(), tmp_path / "index", beat=lambda n: moments.append((n, time.monotonic())))
    assert moments[0][0] == building.BEAT_TRIPLES
    assert moments[1][0] == "read"
