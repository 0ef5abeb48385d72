"""Scores from files, as a person at a command line asks for them; no database is there."""

import gzip
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard
from sacrebleu import corpus_bleu, corpus_chrf

from annotation.core.one_line import escaped
from metrics.cli import scoring
from metrics.cli.cache import program_digest
from metrics.cli.files import Inputs
from metrics.cli.main import main
from metrics.scoring.delta_bleu import corpus_delta_bleu
from metrics.scoring.models.language_model import LanguageModel
from metrics.scoring.models.lsa import LsaModel
from metrics.scoring.models.store import ModelStore
from metrics.scoring.registry import get_metric
from tests.conftest import ROOT
from tests.metrics.scoring.corpora import dstc7_sample

ANSWERS = ["the cat sat on the mat", "", "i think so too , yes"]
OTHERS = ["a cat sat", "who knows ?", "i do not think so"]
REFERENCES = [
    ["the cat is on the mat", "nobody knows", "i think so"],
    ["there sat a cat on a mat", "", "yes , i think so too"],
]
WEIGHTED = "1\t0.9\tthe cat is on the mat\t-0.3\ta cat sat\n2\t1.0\tnobody knows\n3\t0.4\ti think so\n"

OWN_METRIC = """
from dataclasses import dataclass
from metrics.scoring.pair_metric import PairMetric

@dataclass(frozen=True)
class Constant(PairMetric):
    name = "constant"
    label = summary = "Constant"

    def compare(self, hypothesis, reference):
        return {value}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, lines in {"answers": ANSWERS, "others": OTHERS, "ref0": REFERENCES[0], "ref1": REFERENCES[1]}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "weighted.tsv").write_text(WEIGHTED)
    return tmp_path


def arguments_for(files: Path, *options: str) -> list[str]:
    """The options with file names as paths, and a cache of this test alone."""
    return [
        "score",
        *(str(files / option) if (files / option).exists() else option for option in options),
        "--cache",
        str(files / "cache"),
    ]


def printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert main(arguments) == 2
    return capsys.readouterr().err


def test_scores_are_those_of_sacrebleu_on_the_same_files(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = arguments_for(
        files,
        "--systems",
        "answers.txt",
        "others.txt",
        "--references",
        "ref0.txt",
        "ref1.txt",
        "--metric",
        "bleu:order=4,tok=13a,smooth=exp",
        "--metric",
        "chrf",
        "--format",
        "json",
    )
    bleu, chrf = json.loads(printed(capsys, arguments))

    streams = [[line or None for line in lines] for lines in REFERENCES]  # sacrebleu's word for a missing reference
    for index, hypotheses in enumerate((ANSWERS, OTHERS)):
        assert bleu["systems"][index]["score"] == pytest.approx(corpus_bleu(hypotheses, streams).score / 100)
        assert chrf["systems"][index]["score"] == pytest.approx(corpus_chrf(hypotheses, streams).score / 100)
    assert bleu["signature"] == "bleu|order:4|tok:13a|lc:no|smooth:exp|refs:all|nrefs:1-2|version:0.1.0"


def test_weighted_references_make_delta_bleu(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = arguments_for(
        files, "--systems", "answers.txt", "--weighted", "weighted.tsv", "--metric", "delta_bleu", "--format", "json"
    )
    (result,) = json.loads(printed(capsys, arguments))

    references = [["the cat is on the mat", "a cat sat"], ["nobody knows"], ["i think so"]]
    expected = corpus_delta_bleu(ANSWERS, references, [[0.9, -0.3], [1.0], [0.4]])
    assert result["systems"][0]["score"] == expected.score
    assert (
        result["signature"].split("|weights:")[1].split("|")[0]
        == expected.signature.split("|weights:")[1].split("|")[0]
    )


def test_a_subset_by_weight_leaves_references_out(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the same references in a file of their own."""
    (files / "good.txt").write_text("the cat is on the mat\nnobody knows\n\n")
    by_weight = arguments_for(
        files, "--systems", "others.txt", "--weighted", "weighted.tsv", "--subset", "w>=0.5", "--metric", "rouge_l"
    )
    by_file = arguments_for(files, "--systems", "others.txt", "--references", "good.txt", "--metric", "rouge_l")
    scores = [
        json.loads(printed(capsys, [*arguments, "--format", "json"]))[0]["systems"][0]
        for arguments in (by_weight, by_file)
    ]
    reasons = [score.pop("undefined_reasons") for score in scores]
    assert scores[0] == scores[1]
    assert reasons == [{"no reference with w>=0.5": 1}, {"no reference": 1}]
    assert scores[0]["segments_without_score"] == 1


def test_a_signature_names_the_weights_where_they_choose_the_references(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--metric", "bleu", "--metric", "delta_bleu", "--format", "json"]
    arguments = arguments_for(files, "--systems", "answers.txt", "--weighted", "weighted.tsv", *options)
    for subset, weighted in {"all": [0, 1], "w>=0.5": [1, 1]}.items():
        signatures = [result["signature"] for result in json.loads(printed(capsys, [*arguments, "--subset", subset]))]
        assert [signature.count("|weights:sha256-") for signature in signatures] == weighted


def test_a_corpus_scored_in_parts_gives_the_same_output(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(
        files,
        "--systems",
        "answers.txt",
        "others.txt",
        "--weighted",
        "weighted.tsv",
        "--metric",
        "delta_bleu",
        "--metric",
        "cider",
        "--metric",
        "bleu",
        "--metric",
        "distinct",
        "--format",
        "tsv",
        "--no-cache",
    )
    expected = printed(capsys, arguments)
    monkeypatch.setattr(scoring, "PART", 1)
    assert printed(capsys, arguments) == expected


def test_what_was_computed_before_is_looked_up(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(
        files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "bleu", "--metric", "self_bleu"
    )
    first = printed(capsys, arguments)

    def nothing_to_compute(inputs: object, metrics: list[object], *rest: object) -> dict[object, object]:
        assert metrics == []
        return {}

    monkeypatch.setattr(scoring, "_computed", nothing_to_compute)
    assert printed(capsys, arguments) == first


def test_a_changed_text_changes_the_score(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = arguments_for(files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "bleu")
    before = printed(capsys, arguments)
    (files / "ref0.txt").write_text("the cat sat\nnobody knows\ni think so\n")
    assert printed(capsys, arguments) != before


def test_different_corpora_have_different_digests() -> None:
    first = np.array([True, True])
    systems, others = (["a", "b"],), (["a"], ["b"])
    corpora = [
        Inputs(("x",), systems, [["r"], ["s"]], first, None, ["t", "u"]),
        Inputs(("x",), systems, [["r"], ["s", "t", "u"]], first, None, None),
        Inputs(("x",), systems, [["r", "s"], ["t", "u"]], first, None, None),
        Inputs(("x",), systems, [["r", "s"], ["t", "u"]], ~first, None, None),
        Inputs(("x",), systems, [["r", "s"], ["t", "u"]], first, np.ones(4), None),
        Inputs(("x", "y"), others, [["r", "s", "t", "u"]], first[:1], None, None),
    ]
    assert len({corpus.digest() for corpus in corpora}) == len(corpora)


def test_scores_are_computed_where_the_cache_cannot_be_read_or_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = arguments_for(files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "bleu")
    first = printed(capsys, arguments)
    cached = list((files / "cache").iterdir())
    for file in cached:
        file.write_bytes(b"half of an arch")
    assert printed(capsys, arguments) == first
    assert list((files / "cache").iterdir()) == cached  # no unfinished file beside them

    arguments[-1] = str(files / "ref0.txt" / "cache")  # a file is no folder
    assert printed(capsys, arguments) == first


def test_scores_of_another_program_are_not_looked_up(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = files / "own_metric.py"
    module.write_text(OWN_METRIC.format(value=0.25))
    monkeypatch.syspath_prepend(str(files))
    imported = importlib.import_module("own_metric")
    before = program_digest(imported.Constant())
    assert before != program_digest(get_metric("bleu"))
    module.write_text(OWN_METRIC.format(value=0.75))
    assert program_digest(imported.Constant()) != before


def test_a_model_is_named_by_its_path(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    LsaModel.train(ANSWERS + OTHERS, components=2).save(files / "space")
    arguments = arguments_for(files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric")
    arguments.insert(-2, f"am:k=2,model={files / 'space'}")
    first = printed(capsys, arguments)
    assert "|am:" in first
    assert "/space" not in first

    # Another model at the same path: nothing that was kept fits.
    LsaModel.train(REFERENCES[1], components=2).save(files / "other")
    for file in (files / "other").iterdir():
        (files / "space" / file.name).write_bytes(file.read_bytes())
    assert printed(capsys, arguments) != first


def test_a_missing_model_is_refused_with_the_models_at_hand(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["--systems", "answers.txt", "--references", "ref0.txt", "--metric", "am"]
    arguments = arguments_for(files, *texts, "--models", str(files / "models"))
    assert f"in {files / 'models'}: none (python -m metrics train lsa makes one)" in refused(capsys, arguments)

    reference = ModelStore([files / "models"]).add(LsaModel.train(ANSWERS + OTHERS, components=2))
    assert f"in {files / 'models'}: {reference[:19]}" in refused(capsys, arguments)


def test_models_whose_hashes_begin_alike_are_told_apart() -> None:
    models = [get_metric("am", model=f"sha256:{'a' * 12}{rest * 52}") for rest in "bc"]
    assert models[0].signature() == models[1].signature()
    assert scoring.depends_on(models[0]) != scoring.depends_on(models[1])


def test_a_metric_set_to_read_no_references_is_scored_without_any(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    LanguageModel.train(ANSWERS + OTHERS, order=2).save(files / "words.arpa")
    options = f"fm:order=2,form={{}},model={files / 'words.arpa'}"
    alone = arguments_for(files, "--systems", "answers.txt", "--metric")
    beside = arguments_for(files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric")
    alone.insert(-2, options.format("absolute"))
    beside.insert(-2, options.format("absolute"))
    assert printed(capsys, alone) == printed(capsys, beside)

    alone[alone.index(options.format("absolute"))] = options.format("relative")
    assert "fm: found no reference" in refused(capsys, alone)
    assert "needs references (unless form=absolute), a language_model model" in printed(capsys, ["list", "fm"])


def test_each_segment_without_a_score_says_why(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second segment has no first reference, and the second answer is empty: distinct-1 of nothing is undefined."""
    path = files / "segments.tsv"
    texts = ["--systems", "answers.txt", "--references", "ref1.txt", "ref0.txt"]
    options = ["--metric", "bleu", "--metric", "distinct", "--subset", "original", "--segments", str(path)]

    output = printed(capsys, arguments_for(files, *texts, *options))

    assert "BLEU, answers: 1 of 3 segments have no score: no original reference (1)" in output
    assert "answers: 1 of 3 segments have no score: an empty text (1)" in output
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert [row[-1] for row in rows] == [
        "undefined_reason",
        "",
        "BLEU: no original reference; distinct-n: an empty text",
        "",
    ]
    as_json = json.loads(printed(capsys, arguments_for(files, *texts, *options, "--format", "json")))
    assert as_json[0]["systems"][0]["undefined_reasons"] == {"no original reference": 1}


def test_a_segment_without_a_positive_weight_has_no_score_and_a_reason(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "weighted.tsv").write_text("1\t-0.9\tthe cat\n2\n3\t0.4\ti think so\n")

    output = printed(
        capsys, arguments_for(files, "--systems", "answers.txt", "--weighted", "weighted.tsv", "--metric", "delta_bleu")
    )

    assert "2 of 3 segments have no score: no reference of positive weight (1); no reference (1)" in output


def test_the_original_is_the_first_file_s_or_is_missing(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--metric", "bleu", "--subset", "original", "--format", "json"]
    arguments = arguments_for(files, "--systems", "answers.txt", "--references", "ref1.txt", "ref0.txt", *options)
    assert json.loads(printed(capsys, arguments))[0]["systems"][0]["segments_without_score"] == 1


def test_a_byte_order_mark_is_no_part_of_a_text_and_line_ends_may_be_of_windows(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "marked.txt").write_bytes("\ufeffabc\r\nde\r\nf".encode())
    arguments = arguments_for(
        files, "--systems", "marked.txt", "--metric", "length:unit=characters", "--format", "json"
    )
    assert json.loads(printed(capsys, arguments))[0]["systems"][0]["score"] == 2.0


def test_every_segment_is_written(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = files / "segments.tsv"
    system = f"mine={files / 'answers.txt'}"
    arguments = arguments_for(files, "--systems", system, "--references", "ref0.txt", "--metric", "sbleu")
    printed(capsys, [*arguments, "--segments", str(path)])
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert header[:2] == ["line", "system"]
    assert [row[:2] for row in rows] == [["1", "mine"], ["2", "mine"], ["3", "mine"]]
    assert float(rows[1][2]) == 0.0


def test_compressed_files_are_unpacked(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = arguments_for(
        files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "chrf", "--no-cache"
    )
    expected = printed(capsys, plain).splitlines()[-1].split()[-1]
    (files / "answers.txt.gz").write_bytes(gzip.compress((files / "answers.txt").read_bytes()))
    (files / "ref0.txt.zst").write_bytes(zstandard.compress((files / "ref0.txt").read_bytes()))
    packed = arguments_for(
        files, "--systems", "answers.txt.gz", "--references", "ref0.txt.zst", "--metric", "chrf", "--no-cache"
    )
    assert printed(capsys, packed).splitlines()[-1].split()[-1] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("answers.txt --metric bleu", "--metric bleu: found no reference; accepted: --references"),
        ("answers.txt --metric blue", "--metric: found 'blue'; accepted: bleu, sbleu, "),
        ("answers.txt --metric bleu:n=3", "found 'n=3'; accepted: max_order= or order=, tokenize= or "),
        ("answers.txt --metric bleu:order=9", "max_order: found 9; accepted: an integer from 1 to 4"),
        ("no.txt --metric length", "no.txt: cannot be read: No such file or directory"),
        ("short.txt answers.txt --metric length", "answers.txt: found 3 lines; accepted: 1, as many as "),
        ("latin.txt --metric length", "latin.txt, line 2: found a byte 0xe9 that is no UTF-8"),
        ("answers.txt --references ref0.txt --metric delta_bleu", "found no weights; accepted: --weighted"),
        ("answers.txt --weighted heavy.tsv --metric bleu", "line 2: found weight '7'; accepted: a number from -1 to 1"),
        (
            "answers.txt --weighted odd.tsv --metric bleu",
            "odd.tsv, line 1: found 1 cells after the id; accepted: pairs",
        ),
        (
            "answers.txt --weighted slash.tsv --metric bleu",
            "slash.tsv, line 1: found a backslash before 'x'; accepted: ",
        ),
        ("answers.txt --references ref0.txt --subset w>0 --metric bleu", "--subset: found w>0 without weights"),
        ("answers.txt --references ref0.txt --metric ibleu", "--metric ibleu: found no sources; accepted: --sources"),
        ("answers.txt answers.txt --metric length", "found the name 'answers' twice"),
        ("one=- two=- --metric length", "-: found twice; accepted: standard input once"),
        ("answers.txt --references ref0.txt --metric am", "--metric am: model: found none; accepted: a lsa model"),
        ("answers.txt --references ref0.txt --metric am:model=/no", "--metric am: model: found no file /no; accepted"),
        ("answers.txt --weighted five.jsonl --metric bleu", 'five.jsonl, line 1: found \'{"references"'),
        ("answers.txt --weighted huge.jsonl --metric bleu", "huge.jsonl, line 1: found weight 1000"),
    ],
)
def test_errors_name_the_file_and_the_line(
    files: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    (files / "short.txt").write_text("one\n")
    (files / "latin.txt").write_bytes(b"fine\ncaf\xe9\n\n")
    (files / "heavy.tsv").write_text("1\t0.5\ta\n2\t7\tb\n3\t1\tc\n")
    (files / "five.jsonl").write_text('{"references": [{"text": 5, "weight": 1}]}\n')
    (files / "huge.jsonl").write_text('{"references": [{"text": "a", "weight": 1' + "0" * 400 + "}]}\n")
    (files / "odd.tsv").write_text("1\t0.5\n2\n3\n")
    (files / "slash.tsv").write_text("1\t0.5\ta\\x\n2\n3\n")
    assert message in refused(capsys, arguments_for(files, "--systems", *options.split()))


def test_it_runs_without_django(files: Path) -> None:
    program = (
        "import sys; from metrics.cli.main import main; status = main(sys.argv[1:]); "
        "loaded = {'django', 'celery', 'psycopg'} & set(sys.modules); sys.exit(status or sorted(loaded) or 0)"
    )
    arguments = arguments_for(files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "bleu")
    process = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("bleu|order:2|tok:none|lc:no|smooth:none|refs:all|nrefs:1|version:")


def test_it_runs_as_a_module() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "metrics", "list", "bleu"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "from 0 to 1, higher is better; needs references" in process.stdout


@pytest.mark.parametrize(
    ("metric", "direction"),
    [("length", "neither direction is better"), ("self_bleu", "neither direction is"), ("ter", "lower is better")],
)
def test_the_list_says_which_direction_is_better_or_that_neither_is(
    capsys: pytest.CaptureFixture[str], metric: str, direction: str
) -> None:
    assert direction in printed(capsys, ["list", metric])


def test_a_real_corpus_scores_the_same_in_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = dstc7_sample()
    hypotheses = next(iter(sample.outputs.values()))
    (tmp_path / "system.txt").write_text("".join(f"{text}\n" for text in hypotheses))
    lines = (
        "\t".join(
            [
                str(row),
                *(cell for text, weight in zip(texts, weights, strict=True) for cell in (repr(weight), escaped(text))),
            ]
        )
        for row, (texts, weights) in enumerate(zip(sample.weighted, sample.weights, strict=True))
    )
    (tmp_path / "weighted.tsv").write_text("".join(f"{line}\n" for line in lines))
    monkeypatch.setattr(scoring, "PART", 17)

    output = printed(
        capsys,
        arguments_for(
            tmp_path,
            "--systems",
            "system.txt",
            "--weighted",
            "weighted.tsv",
            "--metric",
            "delta_bleu:tok=13a,lc=yes",
            "--format",
            "json",
        ),
    )
    expected = corpus_delta_bleu(
        hypotheses, sample.weighted, sample.weights, tokenize="13a", lowercase=True, on_no_positive="drop"
    )
    assert json.loads(output)[0]["systems"][0]["score"] == pytest.approx(expected.score, abs=1e-12)


def test_one_metric_twice_has_two_names(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = arguments_for(
        files, "--systems", "answers.txt", "--references", "ref0.txt", "--metric", "bleu", "--metric", "bleu:order=4"
    )
    assert "BLEU (order 2)  BLEU (order 4)" in printed(capsys, arguments)
