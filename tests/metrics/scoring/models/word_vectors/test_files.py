import re
from pathlib import Path

import numpy as np
import pytest

from metrics.scoring.models.word_vectors import files as vector_files
from metrics.scoring.models.word_vectors.files import read_blocks
from tests.metrics.scoring.models.word_vectors.vector_formats import (
    WORDS,
    glove,
    matrix,
    word2vec_binary,
    word2vec_text,
    zipped,
)


def read(path: Path) -> tuple[list[str], np.ndarray]:
    blocks = list(read_blocks(path))
    return [word.decode() for block in blocks for word in block.words], np.concatenate([b.matrix for b in blocks])


@pytest.mark.parametrize("write", [glove, word2vec_text, word2vec_binary])
@pytest.mark.parametrize("pack", [False, True])
@pytest.mark.parametrize("dimension", [2, 3, 50])
def test_each_format_is_recognised_by_its_content_and_read_to_the_bit(tmp_path, write, pack, dimension):
    vectors = matrix(dimension=dimension)
    path = write(tmp_path / "vectors", WORDS, vectors)
    words, loaded = read(zipped(path) if pack else path)
    assert words == WORDS
    np.testing.assert_array_equal(loaded, vectors)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_binary_vectors_may_or_may_not_end_with_a_line_break(tmp_path, end):
    words, loaded = read(word2vec_binary(tmp_path / "v.bin", WORDS, matrix(), end))
    assert words == WORDS
    np.testing.assert_array_equal(loaded, matrix())


def test_a_word_of_a_glove_file_may_hold_spaces(tmp_path):
    words, loaded = read(glove(tmp_path / "v.txt", ["first", ". . .", "at name@domain.com"], matrix(3)))
    assert words == ["first", ". . .", "at name@domain.com"]
    np.testing.assert_array_equal(loaded, matrix(3))


def test_tabs_spaces_at_line_ends_and_a_last_line_without_end_are_read(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2 \r\nb\t3\t4\n\nc 5 6")
    words, loaded = read(path)
    assert words == ["a", "b", "c"]
    assert loaded.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_words_that_are_no_valid_utf8_are_kept_as_they_are(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"2 2\nfine 1 2\n\xe9t\xe9 3 4\n")
    (block,) = read_blocks(path)
    assert block.words == [b"fine", b"\xe9t\xe9"]


def test_blocks_smaller_than_the_file_give_the_same(tmp_path, monkeypatch):
    path = glove(tmp_path / "v.txt", [f"w{i}" for i in range(1000)], matrix(1000, 5))
    monkeypatch.setattr(vector_files, "BLOCK", 4096)
    assert len(list(read_blocks(path))) > 5
    np.testing.assert_array_equal(read(path)[1], matrix(1000, 5))
    binary = word2vec_binary(tmp_path / "v.bin", [f"w{i}" for i in range(1000)], matrix(1000, 5))
    assert len(list(read_blocks(binary))) > 1
    np.testing.assert_array_equal(read(binary)[1], matrix(1000, 5))


def test_progress_counts_bytes_up_to_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_files, "BLOCK", 4096)
    path = glove(tmp_path / "v.txt", [f"w{i}" for i in range(1000)], matrix(1000, 5))
    reports: list[tuple[int, int]] = []
    list(read_blocks(path, lambda done, total: reports.append((done, total))))
    assert reports == sorted(reports)
    assert reports[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "v.txt: found an empty file; accepted: word vectors"),
        (b"a 1 2\nb 1\n", "v.txt, line 2: found 2 fields: 'b 1'; accepted: a word and 2 finite numbers"),
        (b"a 1 2\nb 1 2 x\n", "v.txt, line 2: found 4 fields: 'b 1 2 x'; accepted: a word and 2 finite numbers"),
        (b"a 1 2\nb 1 nan\n", "v.txt, line 2: found 3 fields: 'b 1 nan'; accepted: a word and 2 finite numbers"),
        (b"a 1 2\nb 1 two\nc 1 2\n", "v.txt, line 2: found 3 fields: 'b 1 two'; accepted: a word and 2 finite"),
        (b"a 1 2\n\n 1 2\n", "v.txt, line 3: found 2 fields: '1 2'; accepted: a word and 2 finite numbers"),
        (b"a 1 2\nb\n", "v.txt, line 2: found 1 field: 'b'; accepted: a word and 2 finite numbers"),
        (b"2 2\na 1 2\nb 3\n", "v.txt, line 3: found 2 fields: 'b 3'; accepted: a word and 2 finite numbers"),
        (b"3 2\na 1 2\nb 3 4\n", "v.txt: found 2 words; accepted: 3, as its first line says"),
        (b"3 0\n", "v.txt, line 1: found dimension 0; accepted: 1 or more"),
        (b"It was a dark night.\n", "v.txt, line 1: found 'It was a dark night.'; accepted: a word and its numbers"),
        (b"2 2\na \0\0\0\0\0\0\0\0b \0\0\0", "v.txt, word 2 of 2: found 3 bytes of its vector; accepted: a word, a"),
        (b"2 1\na \0\0\0\0", "v.txt, word 2 of 2: found no word; accepted: a word, a space and 4 bytes"),
        (b"1 1\na \x00\x00\xc0\x7f", "v.txt, word 1 of 1 ('a'): found a number that is not finite"),
        (b"\x1f\x8b\x08\0", "v.txt: found a damaged gzip file"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_file_line_and_what_was_found(tmp_path, content, message):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)):
        list(read_blocks(path))


def test_a_gzip_file_cut_short_is_refused(tmp_path):
    path = zipped(glove(tmp_path / "v.txt", [f"w{i}" for i in range(1000)], matrix(1000, 5)))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match="damaged gzip file"):
        list(read_blocks(path))
