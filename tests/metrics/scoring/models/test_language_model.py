from __future__ import annotations

import gzip
import math
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import arpa
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.scoring.adequacy_fluency_text import words_of
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.ngrams import counts as ngram_counts
from metrics.scoring.models.ngrams import katz
from metrics.scoring.models.store import ModelStore
from tests.metrics.scoring.corpora import dstc7_sample

WORDS = ("a", "b", "c", "d")
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=12)
few = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module")
def conversations() -> list[str]:
    sample = dstc7_sample()
    return [text for references in sample.weighted for text in references]


@pytest.fixture(scope="module")
def trigrams(conversations: list[str]) -> LanguageModel:
    return LanguageModel.train(conversations, order=3)


@given(texts=sentences, order=st.integers(1, 5), prune=st.sampled_from((0.0, 1e-6, 0.05)))
@few
def test_probabilities_after_every_history_sum_to_one(texts: list[str], order: int, prune: float) -> None:
    model = LanguageModel.train(texts, order=order, prune=prune)
    for length in range(min(order, 3)):
        for history in product((*WORDS, "<s>", "never seen"), repeat=length):
            probabilities = model.distribution(history)
            assert probabilities.sum() == pytest.approx(1, abs=1e-5)  # SRILM takes 3e-6 for nothing
            assert probabilities[model.words.index("<s>")] == 0
            assert (np.delete(probabilities, 1) > 0).all()


def test_probabilities_sum_to_one_after_real_histories(trigrams: LanguageModel, conversations: list[str]) -> None:
    for words in list(words_of(conversations))[:40]:
        assert trigrams.distribution(["<s>", *words]).sum() == pytest.approx(1, abs=1e-9)
        assert trigrams.distribution(["<s>", *words][:2]).sum() == pytest.approx(1, abs=1e-9)


def test_small_counts_by_hand() -> None:
    # Words: a 2, b 1, c 1, </s> 2: six, and one more for <unk>. After <s> twice a, after a once each b and c; discounts
    # are out of range, so denominators grow by one.
    model = LanguageModel.train(["a b", "a c"], order=2)
    unigrams = dict(zip(model.words, model.distribution([]), strict=True))
    assert unigrams == pytest.approx({"<unk>": 1 / 7, "<s>": 0, "</s>": 2 / 7, "a": 2 / 7, "b": 1 / 7, "c": 1 / 7})
    start = dict(zip(model.words, model.distribution(["<s>"]), strict=True))
    assert start["a"] == pytest.approx(2 / 3)
    after = dict(zip(model.words, model.distribution(["a"]), strict=True))
    # 1/3 is left for <unk>, </s> and a, which have 5/7 of what there is without a history.
    rest = (1 / 3) / (5 / 7)
    assert after == pytest.approx(
        {"<unk>": rest / 7, "<s>": 0, "</s>": rest * 2 / 7, "a": rest * 2 / 7, "b": 1 / 3, "c": 1 / 3}
    )


@pytest.mark.parametrize("prune", [0.0, 1e-6])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_another_reader_of_arpa_files_finds_the_same_probabilities(
    conversations: list[str], tmp_path: Path, order: int, prune: float
) -> None:
    # python-arpa 0.1.0b4; KenLM 0.3.0 gives the same to the precision of its 32-bit numbers.
    half = len(conversations) // 2
    model = LanguageModel.train(conversations[:half], order=order, prune=prune)
    model.write_arpa(tmp_path / "model.arpa")
    [oracle] = arpa.loadf(tmp_path / "model.arpa")
    texts = conversations[half : half + 200]
    logs, lengths = model.log_probabilities(texts, [order])
    expected = [oracle.log_s(" ".join(words)) * math.log(10) for words in words_of(texts)]
    np.testing.assert_allclose(logs[order], expected, rtol=1e-9)
    assert lengths.tolist() == [len(words) for words in words_of(texts)]


@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
def test_an_arpa_file_read_again_is_the_same_model(trigrams: LanguageModel, tmp_path: Path, name: str) -> None:
    trigrams.write_arpa(tmp_path / name)
    assert LanguageModel.read_arpa(tmp_path / name).digest == trigrams.digest
    assert LanguageModel.load(tmp_path / name).digest == trigrams.digest


def test_an_arpa_file_of_srilm_is_read(tmp_path: Path) -> None:
    # Laid out as the manual page ngram-format(5) says; without <unk>, as ngram-count writes it by default.
    (tmp_path / "srilm.arpa").write_text(
        "\n\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-0.60206\t</s>\n-99\t<s>\t-0.30103\n-0.30103\ta\t-0.1\n"
        "-0.60206\tb\n\n\\2-grams:\n-0.176091\t<s> a\n-0.5\ta b\n\n\\end\\\n"
    )
    model = LanguageModel.read_arpa(tmp_path / "srilm.arpa")
    logs, _ = model.log_probabilities(["a b", "b", "zzz"], [2])
    # <s> a, a b, b </s>; <s> b by back-off; an unknown word is one of four
    expected = [-0.176091 - 0.5 - 0.60206, -0.30103 - 0.60206 - 0.60206, -0.30103 - math.log10(4) - 0.60206]
    np.testing.assert_allclose(logs[2] / math.log(10), expected)


ARPA = "\\data\\\nngram 1=2\nngram 2=1\n\n\\1-grams:\n-1 a\n-1 b\n\n\\2-grams:\n-1 a b\n\n\\end\\\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\\data\\", "data"), "found no line"),
        (("ngram 1=2", "ngram 1=3"), "found 2 1-grams; accepted: 3"),
        (("-1 a b", "-1 a"), "line 10: found '-1 a'"),
        (("-1 a b", "-1 a z"), "line 10: found '-1 a z'"),
        (("-1 a b", "x a b"), "line 10: found 'x a b'"),
        (("ngram 2=1", "bigrams"), "line 3: found 'bigrams'"),
        (("-1 a b\n", "-1 a b\n-1 a b\n"), "found 2 2-grams"),
        (
            (
                "ngram 2=1\n\n\\1-grams:\n-1 a\n-1 b\n\n\\2-grams:\n-1 a b\n",
                "ngram 2=2\n\n\\1-grams:\n-1 a\n-1 b\n\n\\2-grams:\n-1 a b\n-1 a b\n",
            ),
            "line 11: found an 2-gram twice",
        ),
        (("-1 a b\n", "-1 a b\n\n\\3-grams:\n-1 b a b\n"), None),
    ],
)
def test_a_broken_arpa_file_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str | None
) -> None:
    path = tmp_path / "broken.arpa"
    path.write_text(ARPA.replace(*change))
    if message is None:  # what the head does not announce is not read
        assert LanguageModel.read_arpa(path).order == 2
        return
    with pytest.raises(ValueError, match=r"broken\.arpa") as refused:
        LanguageModel.read_arpa(path)
    assert message in str(refused.value)


def test_a_longer_ngram_without_its_beginning_is_refused(tmp_path: Path) -> None:
    text = ARPA.replace("ngram 2=1", "ngram 2=1\nngram 3=1").replace("\n\\end", "\n\\3-grams:\n-1 b b a\n\n\\end")
    (tmp_path / "model.arpa").write_text(text)
    with pytest.raises(ValueError, match="line 14: found no 2-gram that it begins with"):
        LanguageModel.read_arpa(tmp_path / "model.arpa")


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_longer_model_at_a_lower_order_is_the_shorter_model(
    trigrams: LanguageModel, conversations: list[str], order: int
) -> None:
    shorter = LanguageModel.train(conversations, order=order)
    assert shorter.n_ngrams == trigrams.n_ngrams[:order]
    texts = conversations[:50]
    of_shorter, of_longer = shorter.per_word(texts, [order]), trigrams.per_word(texts, [1, 2, 3])
    np.testing.assert_allclose(of_shorter[order], of_longer[order], rtol=1e-12)


def test_ngrams_are_those_of_the_padded_texts(trigrams: LanguageModel, conversations: list[str]) -> None:
    padded = [["<s>", *words, "</s>"] for words in words_of(conversations)]
    bigrams = [gram for words in padded for gram in pairwise(words)]
    triples = [gram for words in padded for gram in zip(words, words[1:], words[2:], strict=False)]
    counts = {gram: triples.count(gram) for gram in set(triples[:300])}
    assert trigrams.n_ngrams[0] == len({word for words in padded for word in words}) + 1  # <unk>
    assert trigrams.n_ngrams[1] == len(set(bigrams))
    index = {word: number for number, word in enumerate(trigrams.words)}
    rows = np.array([[index[word] for word in gram] for gram in counts], dtype=np.int32)
    listed = trigrams.backoff.find(rows) >= 0
    np.testing.assert_array_equal(listed, [count >= 2 for count in counts.values()])  # gt3min


def test_counting_in_parts_changes_nothing(
    trigrams: LanguageModel, conversations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ngram_counts, "_SENTENCES_AT_ONCE", 37)
    reports: list[int] = []
    model = LanguageModel.train(iter(conversations), order=3, progress=reports.append)
    assert model.digest == trigrams.digest
    assert reports[0] == 37
    assert reports[-1] == len(conversations)


def test_the_order_of_texts_does_not_matter(trigrams: LanguageModel, conversations: list[str]) -> None:
    assert LanguageModel.train(conversations[::-1], order=3).digest == trigrams.digest


def test_pruning_takes_the_least_needed_and_more_at_a_higher_threshold(conversations: list[str]) -> None:
    unpruned = LanguageModel.train(conversations, order=3)
    pruned = LanguageModel.train(conversations, order=3, prune=1e-6)
    pruned_further = LanguageModel.train(conversations, order=3, prune=1e-4)
    assert unpruned.n_ngrams[0] == pruned.n_ngrams[0] == pruned_further.n_ngrams[0]
    assert unpruned.n_ngrams[1] > pruned.n_ngrams[1] > pruned_further.n_ngrams[1]
    assert unpruned.n_ngrams[2] >= pruned.n_ngrams[2] > pruned_further.n_ngrams[2]

    def perplexity(model: LanguageModel) -> float:
        logs, lengths = model.log_probabilities(conversations, [3])
        return math.exp(-logs[3].sum() / (lengths + 1).sum())

    assert perplexity(unpruned) < perplexity(pruned) < perplexity(pruned_further)


def test_the_loss_of_an_ngram_is_the_divergence_that_leaving_it_out_makes() -> None:
    # By the definition: p(h) sum_w p(w|h) (log p(w|h) - log p'(w|h)), as relative perplexity (Stolcke 1998).
    model = LanguageModel.train(["a b c", "a b", "c c a b", "b a", "a c"] * 3 + ["d a", "b d", "c b a"], order=2)
    backoff = model.backoff
    losses = katz._change(backoff, 2)
    unigrams = model.distribution([])
    for index, (history, _) in enumerate(backoff.rows(2).tolist()):
        mask = np.arange(losses.size) != index
        without = replace(backoff, keys=(backoff.keys[0][mask],), logs=(backoff.logs[0], backoff.logs[1][mask]))
        rows = np.array([[history, word] for word in range(len(model.words)) if word != 1], dtype=np.int32)
        before, after = backoff.last(rows), without.normalised(2).last(rows)
        context = unigrams[2 if history == 1 else history]  # a sentence's start is as frequent as its end
        divergence = context * (10**before * (before - after)).sum() * math.log(10)
        assert losses[index] == pytest.approx(math.exp(divergence) - 1, abs=1e-12)


def test_pruning_leaves_out_what_changes_nothing() -> None:
    # After b comes what comes anyway: the bigrams of b say nothing new.
    texts = ["a b a", "b a b", "b b a", "a a b"] * 5
    model = LanguageModel.train(texts, order=2, prune=0.5)
    assert model.n_ngrams[1] < LanguageModel.train(texts, order=2).n_ngrams[1]


def test_a_pruned_history_keeps_what_longer_ones_need(conversations: list[str], tmp_path: Path) -> None:
    model = LanguageModel.train(conversations, order=4, prune=1e-5)
    for n in (2, 3, 4):
        assert (model.backoff.parents(n) < model.n_ngrams[n - 2]).all()
        keys = model.backoff.keys[n - 2]
        assert (np.diff(keys) > 0).all()
        np.testing.assert_array_equal(model.backoff.find(model.backoff.rows(n)), np.arange(keys.size))


def test_unknown_words_count_as_one_word(trigrams: LanguageModel) -> None:
    logs = trigrams.per_word(["i think zzzq", "i think qqqz", "i think <unk>", "i think <s>"], [3])[3]
    assert logs[0] == logs[1]
    assert np.isfinite(logs).all()


def test_markers_within_a_text_are_unknown_words() -> None:
    model = LanguageModel.train(["a <s> b </s>"], order=2, clean=False)
    assert model.words == ["<unk>", "<s>", "</s>", "a", "b"]
    assert model.distribution(["a"])[0] > 0.4


def test_an_empty_text_is_scored_as_one_word(trigrams: LanguageModel) -> None:
    _, lengths = trigrams.log_probabilities(["", "?!", "  "], [2])
    assert lengths.tolist() == [1, 1, 1]


def test_no_texts_have_no_probabilities(trigrams: LanguageModel) -> None:
    logs, lengths = trigrams.log_probabilities([], [1, 2])
    assert logs[1].shape == logs[2].shape == lengths.shape == (0,)


def test_chinese_is_split_as_the_model_says() -> None:
    model = LanguageModel.train(["猫坐在垫子上。", "猫在垫子上坐着。"], tokenize="zh")
    assert "猫" in model.words
    assert LanguageModel.train(["猫坐在垫子上。"]).words[3:] == ["猫坐在垫子上"]


def test_it_is_saved_and_loaded_and_known_by_its_content(trigrams: LanguageModel, tmp_path: Path) -> None:
    store = ModelStore([tmp_path])
    name = store.add(trigrams)
    loaded = store.load("language_model", name)
    assert loaded.digest == trigrams.digest
    assert isinstance(loaded.backoff.logs[0], np.memmap)
    texts = ["i think so", "never zzz"]
    np.testing.assert_array_equal(loaded.per_word(texts, [2])[2], trigrams.per_word(texts, [2])[2])
    cleaned = LanguageModel.train(["a b"], order=2)
    assert cleaned.digest != LanguageModel.train(["a b"], order=2, clean=False).digest


def test_equal_models_have_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        LanguageModel.train(["a b c", "a c"], order=2).save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 6}, "order: found 6; accepted: an integer from 1 to 5"),
        ({"order": True}, "order: found True"),
        ({"prune": -1}, "prune: found -1"),
        ({"tokenize": "mecab"}, "tokenize: found 'mecab'"),
        ({"order": 2, "min_counts": (1,)}, "min_counts: found"),
        ({"order": 2, "min_counts": (1, 0)}, "min_counts: found"),
        ({"order": 2, "max_counts": (1, -1)}, "max_counts: found"),
    ],
)
def test_it_refuses_options_out_of_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LanguageModel.train(["a"], **options)  # type: ignore[arg-type]


def test_it_refuses_no_texts_and_an_order_it_has_not(trigrams: LanguageModel) -> None:
    with pytest.raises(ValueError, match="texts: found none"):
        LanguageModel.train([])
    with pytest.raises(ValueError, match="order: found 4; accepted: 1 to 3"):
        trigrams.log_probabilities(["a"], [4])


def test_a_folder_that_is_no_model_is_refused(trigrams: LanguageModel, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"model: found no model\.json"):
        LanguageModel.load(tmp_path)
    trigrams.save(tmp_path / "lm")
    header = tmp_path / "lm" / "model.json"
    header.write_text(header.read_text().replace("language_model", "lsa"))
    with pytest.raises(ValueError, match="model: found kind 'lsa'"):
        LanguageModel.load(tmp_path / "lm")


def test_a_folder_with_a_file_missing_is_refused(trigrams: LanguageModel, tmp_path: Path) -> None:
    trigrams.save(tmp_path / "lm")
    (tmp_path / "lm" / "keys-2.npy").unlink()
    with pytest.raises(ValueError, match=r"model: found no keys-2\.npy"):
        LanguageModel.load(tmp_path / "lm")


def test_words_of_other_programs_may_hold_other_spaces(tmp_path: Path) -> None:
    (tmp_path / "model.arpa").write_text(ARPA.replace("-1 b", "-1 new\u00a0york").replace("a b", "a new\u00a0york"))
    assert "new\u00a0york" in LanguageModel.read_arpa(tmp_path / "model.arpa").words


def test_compressed_files_are_what_their_name_says(trigrams: LanguageModel, tmp_path: Path) -> None:
    trigrams.write_arpa(tmp_path / "model.arpa.gz")
    with gzip.open(tmp_path / "model.arpa.gz", "rt") as file:
        assert "\\data\\" in file.read(100)
