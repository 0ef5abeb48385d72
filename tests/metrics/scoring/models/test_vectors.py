import filecmp
import json
from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.models.store import ModelStore
from metrics.scoring.models.vectors import WordVectors
from metrics.scoring.models.word_vectors import conversion as vector_conversion
from metrics.scoring.models.word_vectors import folder as vector_folder
from metrics.scoring.models.word_vectors import verification
from metrics.scoring.models.word_vectors import words as vector_words
from metrics.scoring.models.word_vectors.conversion import BESIDE, convert
from metrics.scoring.models.word_vectors.files import read_blocks
from tests.metrics.scoring.models.word_vectors.vector_formats import (
    WORDS,
    glove,
    matrix,
    word2vec_binary,
    word2vec_text,
    zipped,
)


def test_each_format_becomes_the_same_folder(tmp_path):
    paths = [
        glove(tmp_path / "a.txt", WORDS, matrix()),
        word2vec_text(tmp_path / "b.txt", WORDS, matrix()),
        word2vec_binary(tmp_path / "c.bin", WORDS, matrix()),
        zipped(glove(tmp_path / "d.txt", WORDS, matrix())),
    ]
    folders = {convert(path, tmp_path / "models") for path in paths}
    assert len(folders) == 1
    loaded = WordVectors.load(folders.pop())
    assert loaded.digest == WordVectors.from_words(WORDS, matrix()).digest
    np.testing.assert_array_equal(loaded.matrix, matrix())
    np.testing.assert_allclose(loaded.mean, matrix().mean(axis=0, dtype=np.float64), rtol=1e-12)


def test_words_are_found_in_any_script_and_unknown_ones_are_not(tmp_path):
    loaded = WordVectors.load(glove(tmp_path / "v.txt", WORDS, matrix()))
    assert loaded.find([*WORDS, "The", "", "\ud83d", "the "]).tolist() == [*range(len(WORDS)), -1, -1, -1, -1]
    assert [loaded.words.word(row) for row in range(len(loaded))] == WORDS
    assert loaded.find([]).tolist() == []


def test_words_are_found_in_lower_case_where_that_is_asked(tmp_path):
    vectors = WordVectors.from_words(["the", "Naïve"], matrix(2))
    assert vectors.find(["The", "Naïve"]).tolist() == [-1, 1]
    assert vectors.find(["The", "Naïve"], lowercase=True).tolist() == [0, -1]


def test_words_with_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr(vector_words, "hash_words", lambda words: np.zeros(len(list(words)), dtype="<u8"))
    vectors = WordVectors.from_words(WORDS, matrix())
    assert vectors.find([WORDS[4], "x", WORDS[0]]).tolist() == [4, -1, 0]


def test_of_a_word_that_comes_again_the_first_vector_stays_and_the_others_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_folder, "SLICE", 6)
    monkeypatch.setattr(vector_conversion, "SLICE", 6)
    names = ["a", "b", "a", "c", "b", "d", "a", "e", "f"]
    first = [0, 1, 3, 5, 7, 8]
    folder = convert(glove(tmp_path / "v.txt", names, matrix(9)), tmp_path / "models")
    loaded = WordVectors.load(folder)
    assert loaded.about == {"duplicates": 3}
    np.testing.assert_array_equal(loaded.matrix, matrix(9)[first])
    assert loaded.find(["a", "b", "c", "d", "e", "f"]).tolist() == list(range(6))
    assert loaded.digest == WordVectors.from_words([names[row] for row in first], matrix(9)[first]).digest


def test_a_file_is_read_once_and_again_when_it_has_changed(tmp_path, monkeypatch):
    path = glove(tmp_path / "v.txt", WORDS, matrix())
    reads = []
    monkeypatch.setattr(vector_conversion, "read_blocks", lambda *args: reads.append(1) or read_blocks(*args))
    first = WordVectors.load(path)
    assert WordVectors.load(path).digest == first.digest
    assert len(reads) == 1
    glove(path, WORDS[:5], matrix()[:5])
    assert len(WordVectors.load(path)) == 5
    assert len(reads) == 2


def test_a_conversion_that_fails_leaves_nothing_behind(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb x y\n")
    with pytest.raises(ValueError, match="line 2"):
        WordVectors.load(path)
    assert list((tmp_path / BESIDE).iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_with_advice(tmp_path, monkeypatch):
    path = glove(tmp_path / "v.txt", WORDS, matrix())

    def denied(*args: object) -> Path:
        raise PermissionError("read-only")

    monkeypatch.setattr(vector_conversion, "convert", denied)
    with pytest.raises(ValueError, match=r"found no right to write beside it; accepted: a file in a folder that can"):
        WordVectors.load(path)


def test_conversion_reports_progress(tmp_path):
    path = glove(tmp_path / "v.txt", WORDS, matrix())
    reports: list[tuple[int, int]] = []
    convert(path, tmp_path / "models", lambda done, total: reports.append((done, total)))
    assert reports[-1] == (path.stat().st_size,) * 2


def test_saved_vectors_are_the_same_when_opened_and_equal_ones_have_equal_bytes(tmp_path):
    vectors = WordVectors.from_words(WORDS, matrix(), {"window": 5})
    vectors.save(tmp_path / "one")
    loaded = WordVectors.load(tmp_path / "one")
    np.testing.assert_array_equal(loaded.matrix, matrix())
    np.testing.assert_array_equal(loaded.mean, vectors.mean)
    assert (loaded.digest, loaded.about, len(loaded)) == (vectors.digest, {"window": 5}, len(WORDS))
    loaded.save(tmp_path / "two")
    files = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert filecmp.cmpfiles(tmp_path / "one", tmp_path / "two", files, shallow=False)[0] == files


def test_the_digest_depends_on_words_and_on_numbers():
    digest = WordVectors.from_words(["ab", "c"], matrix(2)).digest
    assert digest == WordVectors.from_words(["ab", "c"], matrix(2), {"made": "elsewhere"}).digest
    assert digest != WordVectors.from_words(["a", "bc"], matrix(2)).digest
    assert digest != WordVectors.from_words(["ab", "c"], matrix(2, seed=2)).digest


def test_the_matrix_of_a_loaded_model_stays_on_disk(tmp_path):
    WordVectors.from_words(WORDS, matrix()).save(tmp_path / "one")
    loaded = WordVectors.load(tmp_path / "one")
    assert isinstance(loaded.matrix.base, np.memmap)
    assert isinstance(loaded.words.letters.base, np.memmap)
    assert not loaded.matrix.flags.writeable


def test_a_store_keeps_vectors_and_finds_them_by_their_hash(tmp_path):
    store = ModelStore([tmp_path / "models"])
    reference = store.add(WordVectors.from_words(WORDS, matrix()))
    assert len(store.load("vectors", reference)) == len(WORDS)
    # What was converted into the same store is there already, under the same name.
    convert(glove(tmp_path / "v.txt", WORDS, matrix()), tmp_path / "models")
    assert len([path for path in (tmp_path / "models").iterdir() if path.name.startswith("vectors-")]) == 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "vectors.json").unlink(), "found no word vectors"),
        (lambda folder: (folder / "vectors.json").write_text("[]"), "found another format"),
        (lambda folder: (folder / "matrix.npy").write_bytes(b"no"), r"matrix.npy: found no array"),
        (lambda folder: (folder / "mean.npy").unlink(), r"mean.npy: found no array"),
        (lambda folder: np.save(folder / "matrix.npy", matrix(2)), r"found \(2, 3\) numbers for 7 words"),
    ],
)
def test_a_damaged_folder_is_refused(tmp_path, damage, message):
    WordVectors.from_words(WORDS, matrix()).save(tmp_path / "one")
    damage(tmp_path / "one")
    with pytest.raises(ValueError, match=message):
        WordVectors.load(tmp_path / "one")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("matrix.npy", "found vectors of sha256:.*; its header says sha256:"),
        ("letters.npy", "found vectors of sha256:.*; its header says sha256:"),
        ("mean.npy", "found another vector than the mean"),
        ("hashes.npy", "found hashes.npy or rows.npy of other words"),
        ("rows.npy", "found hashes.npy or rows.npy of other words"),
    ],
)
def test_the_header_alone_is_not_believed(tmp_path, file, message):
    """Also where the file is exchanged after the folder was opened, and has the same size."""
    folder = tmp_path / "one"
    WordVectors.from_words(WORDS, matrix()).save(folder)
    WordVectors.load(folder)
    array = np.load(folder / file)
    np.save(folder / file, array[::-1] if file == "rows.npy" else array + array.dtype.type(1))

    with pytest.raises(ValueError, match=message):
        WordVectors.load(folder)


def test_a_folder_is_read_in_whole_once_and_again_where_a_file_was_exchanged(tmp_path, monkeypatch):
    folder = tmp_path / "one"
    WordVectors.from_words(WORDS, matrix()).save(folder)
    calls = []
    verified: set[str] = set()
    monkeypatch.setattr(verification, "stored_slices", lambda *of: calls.append(of) or vector_folder.stored_slices(*of))

    for _ in range(2):
        monkeypatch.setattr(verification, "_verified", verified)
        WordVectors.load(folder)
        verified = set()  # as another process
    assert len(calls) == 1

    (folder / "matrix.npy").write_bytes((folder / "matrix.npy").read_bytes())
    WordVectors.load(folder)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (["a", "a"], matrix(2), "words: found 'a' twice"),
        (["a"], matrix(2), r"matrix: found shape \(2, 3\)"),
        (["a"], [[np.nan]], "finite"),
        ([], np.zeros((0, 2)), "matrix"),
    ],
)
def test_words_and_a_matrix_that_do_not_fit_are_refused(words, vectors, message):
    with pytest.raises(ValueError, match=message):
        WordVectors.from_words(words, vectors)


def test_neighbours_are_the_words_of_the_largest_cosine():
    vectors = WordVectors.from_words(["east", "north", "east too", "west"], [[1, 0], [0, 1], [3, 1], [-1, 0]])
    neighbours = vectors.neighbours("east", 2)
    assert [word for word, _ in neighbours] == ["east too", "north"]
    assert neighbours[0][1] == pytest.approx(3 / np.sqrt(10))
    with pytest.raises(ValueError, match="word: found 'south', which has no vector"):
        vectors.neighbours("south")


def test_the_header_of_a_matrix_is_as_long_for_any_size():
    assert {len(vector_folder.matrix_header(*shape)) for shape in [(0, 0), (1, 1), (10**10, 2500)]} == {128}


def test_the_header_says_how_vectors_were_made(tmp_path):
    WordVectors.from_words(WORDS, matrix(), {"window": 5}).save(tmp_path / "one")
    header = json.loads((tmp_path / "one" / "vectors.json").read_text())
    assert (header["words"], header["dimension"], header["about"]) == (7, 3, {"window": 5})
