"""Small files that stand for large ones: each is refused by a limit that it names, in little memory."""

import gzip
import io
import json
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from annotation.campaigns.services.copies import parse_campaign_file
from annotation.core import file_limits, rows
from annotation.core.errors import AnnotationError, ImportRefused, JobCancelled
from annotation.core.file_limits import MIB, Allowance
from annotation.core.problems import Problems, shown
from annotation.datasets.services.files import read_dataset
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.label_studio import first_tasks
from annotation.judgements.services.options import RatingOptions
from annotation.mining.reading import ReadReport, read_triples
from annotation.references.releases.services.weights_files import read_weights
from metrics.scoring.models.ngrams.arpa import read_arpa
from metrics.scoring.models.word_vectors.files import read_blocks
from metrics.selectors.training_texts import file_texts
from metrics.services.score_files import Known, read_scores


@contextmanager
def memory_below(most: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def refusal(read: Callable[[], object], most: int = 40 * MIB) -> tuple[str, str]:
    """Return the limit and what was found, of the first error."""
    with memory_below(most), pytest.raises(ImportRefused) as refused:
        read()
    row = refused.value.rows[0]
    assert row["accepted"]
    return row["field"], row["found"]


def scores(content: bytes, filename: str) -> None:
    problems = Problems(filename)
    read_scores(content, filename, Known(["Echo"], ["1"]), problems)
    problems.refuse()


def triples(content: bytes, file_format: str, compression: str = "") -> None:
    stream, report = io.BytesIO(content), ReadReport("c")
    allowance = Allowance(file_limits.UNPACKED_BYTES)
    for _ in read_triples(stream, file_format=file_format, compression=compression, report=report, allowance=allowance):
        pass


def ratings(content: bytes, file_format: str) -> None:
    read_ratings(content, filename="r", file_format=file_format, options=RatingOptions())


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as packed:
        for member, content in members:
            member.size = len(content)
            packed.write(member.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512))
        packed.write(bytes(1024))
    return made.getvalue()


# --- Archives ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_member_of_an_archive_has_no_name_of_megabytes(kind: bytes) -> None:
    name = tarfile.TarInfo("././@LongLink")
    name.type = kind
    content = tar((name, b"a" * 64 * MIB), (tarfile.TarInfo("x.sys.score"), b"Echo 1\n"))
    assert refusal(lambda: scores(content, "x.tgz")) == ("name of a file", "more than 65,536 bytes")


def test_members_that_are_skipped_count_as_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_limits, "ARCHIVE_BYTES", MIB)
    content = tar((tarfile.TarInfo("big.bin"), bytes(4 * MIB)), (tarfile.TarInfo("x.sys.score"), b"Echo 1\n"))
    assert refusal(lambda: scores(content, "x.tgz")) == ("unpacked size", "more than 1,048,576 bytes")


def test_an_archive_is_not_unpacked_to_a_thousand_times_its_size() -> None:
    content = tar((tarfile.TarInfo("big.bin"), bytes(16 * MIB)))
    assert refusal(lambda: scores(content, "x.tgz"))[0] == "compression"


@pytest.mark.parametrize("ending", ["zip", "tgz"])
def test_an_archive_has_a_limited_number_of_members(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_limits, "ARCHIVE_MEMBERS", 10)
    content = tar(*((tarfile.TarInfo(f"{n}.txt"), b"") for n in range(11)))
    if ending == "zip":
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for number in range(11):
                archive.writestr(f"{number}.txt", "")
        content = made.getvalue()
    assert refusal(lambda: scores(content, f"x.{ending}")) == ("files in the archive", "more than 10")


# --- Tables and JSON --------------------------------------------------------------------------------------------------

NAMES = (json.dumps({f"n{number}": 1 for number in range(30_000)}) + "\n").encode()
COLUMNS = ",".join(f"c{number}" for number in range(40_000)).encode() + b"\n"


@pytest.mark.parametrize(
    "read",
    [
        lambda: scores(NAMES, "s.jsonl"),
        lambda: ratings(NAMES, "jsonl"),
        lambda: read_dataset(NAMES, filename="d", file_format="jsonl"),
        lambda: read_weights(NAMES, "jsonl", Problems("w")),
        lambda: triples(NAMES, "jsonl"),
    ],
    ids=["scores", "ratings", "data set", "weights", "triples"],
)
def test_an_object_has_a_limited_number_of_names(read: Callable[[], object]) -> None:
    assert refusal(read) == ("names of an object", "more than 5,000")


@pytest.mark.parametrize(
    "read",
    [
        lambda: ratings(COLUMNS, "csv"),
        lambda: read_dataset(COLUMNS, filename="d", file_format="csv"),
        lambda: read_weights(COLUMNS, "csv", Problems("w")),
        lambda: triples(COLUMNS.replace(b",", b"\t"), "tsv"),
    ],
    ids=["ratings", "data set", "weights", "triples"],
)
def test_a_header_has_a_limited_number_of_columns(read: Callable[[], object]) -> None:
    assert refusal(read) == ("columns", "more than 5,000")


def test_short_rows_of_a_wide_table_are_not_filled_without_limit() -> None:
    header = ",".join(["rater", "item", "system", *(f"c{number}" for number in range(2000))])
    content = f"{header}\n".encode() + b"r,i,s\n" * 1000
    field, found = refusal(lambda: ratings(content, "csv"))
    assert (field, found) == ("empty cells added to short rows", "more than 1,000,000")


def test_a_table_of_scores_has_few_more_rows_than_the_data_set_has_scores() -> None:
    assert refusal(lambda: scores(b"system,item,score\n" + b"Echo,1,1\n" * 2000, "s.csv"))[0] == "rows"
    assert refusal(lambda: scores(COLUMNS, "s.csv")) == ("columns", "more than 5,000")
    wide = [f"c{number}" for number in range(100)], *([["1"] * 100] * 700)  # 64 may hold metrics
    table = "".join(f"{','.join(cells)}\n" for cells in wide).encode()
    assert refusal(lambda: scores(table, "s.csv")) == ("cells", "more than 64,128")
    assert refusal(lambda: scores(b"Echo 1\n" * 2000, "x.seg.score")) == ("lines", "more than 1,002")


def test_a_judgement_has_a_limited_number_of_criteria() -> None:
    content = b"rater,item,system,criterion,value\n" + b"".join(b"r,i,s,c%d,1\n" % n for n in range(300))
    assert refusal(lambda: ratings(content, "csv")) == ("criteria", "more than 200")


def test_values_of_any_size_and_depth_are_shown_in_short() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert len(shown(deep)) == len(shown({"a": ["x" * MIB] * 1000})) == 120
    assert shown({"b": [1, None], "a": "x"}) == "{'b': [1, None], 'a': 'x'}"


def test_names_of_a_kilobyte_do_not_fill_the_report() -> None:
    problems = Problems("f" * 1000)
    problems.add(1, "n" * MIB, "x" * MIB, ", ".join(["y"] * MIB))
    assert sum(map(len, (str(part) for part in problems.rows[0].values()))) < 3000


def test_a_page_reads_the_first_tasks_of_a_large_export() -> None:
    tasks = [{"id": number, "data": {"text": "x" * 1000}, "annotations": []} for number in range(6000)]
    with memory_below(30 * MIB):
        first = first_tasks(json.dumps(tasks).encode())
    assert json.loads(first) == tasks[: len(json.loads(first))]
    assert 3 * MIB < len(first) <= file_limits.PAGE_BYTES


def test_numbers_of_too_many_digits_and_deep_lists_are_no_campaign() -> None:
    for content in (b'{"assay_campaign": ' + b"1" * 5000 + b"}", b"[" * 100_000, b'{"a": ' * 5000 + b"1" + b"}" * 5000):
        with pytest.raises(AnnotationError, match="Found no JSON"):
            parse_campaign_file(content)


def test_the_reading_of_weights_ends_when_its_job_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "INTERVAL_SECONDS", 0)

    def beat() -> None:
        raise JobCancelled("cancelled")

    for kind, content in (("jsonl", b"{}\n" * 9), ("csv", b"item,text,weight\n" * 9), ("tsv", b"1\t0.5\tHi\n" * 9)):
        with pytest.raises(JobCancelled):
            read_weights(content, kind, Problems("w"), beat)


# --- Corpora ----------------------------------------------------------------------------------------------------------


def parquet(message: str, n: int) -> bytes:
    made = io.BytesIO()
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([message]))
    pq.write_table(pa.table({"message": texts, "response": texts}), made, compression="zstd", store_schema=False)
    return made.getvalue()


def test_parquet_of_one_value_a_thousand_times_is_not_decoded_as_a_whole() -> None:
    content = parquet("m" * 40_000, 10_000)
    assert len(content) < 2000  # and 800 MB of text
    assert refusal(lambda: triples(content, "parquet"))[0] == "compression"


def test_a_row_of_parquet_has_no_list_of_millions() -> None:
    n = 5_000_000
    values = pa.DictionaryArray.from_arrays(pa.array(bytearray(n), pa.int8()), pa.array([""]))
    context = pa.ListArray.from_arrays(pa.array([0, n], pa.int32()), values)
    made = io.BytesIO()
    table = pa.table({"context": context, "message": ["m"], "response": ["r"]})
    pq.write_table(table, made, compression="zstd", store_schema=False)
    field, found = refusal(lambda: triples(made.getvalue(), "parquet"))
    assert (field, "a row of" in found) == ("file", True)


@pytest.mark.parametrize("compression", ["zst", "gz"])
def test_a_corpus_is_not_unpacked_to_a_thousand_times_its_size(
    compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_limits, "RATIO_FREE_BYTES", 10_000)
    content = b'{"message": "how are you", "response": "fine"}\n' * 50_000
    packed = zstandard.compress(content) if compression == "zst" else gzip.compress(content)
    field, found = refusal(lambda: triples(packed, "jsonl", compression))
    assert (field, "bytes unpacked from" in found) == ("compression", True)


def test_a_triple_has_a_limited_length() -> None:
    line = json.dumps({"message": "m" * 100_001, "response": "r"}).encode()
    assert refusal(lambda: triples(line, "jsonl"))[1] == "a triple of 100,002 characters"


def test_damaged_parquet_is_refused_without_a_path_of_the_server() -> None:
    content = bytearray(parquet("m", 1000))
    content[4:60] = bytes(56)
    field, found = refusal(lambda: triples(bytes(content), "parquet"))
    assert field == "file"
    assert "/" not in found


# --- Models -----------------------------------------------------------------------------------------------------------

LINE = gzip.compress(b"1 3\n" + b"a" * 16 * MIB, 1)


def test_a_line_of_word_vectors_or_n_grams_is_not_unpacked_without_limit(tmp_path: Path) -> None:
    path = tmp_path / "v.gz"
    path.write_bytes(LINE)
    accepted = r"v.gz.*: found .* bytes unpacked|v.gz, line 2: found more than 1,048,576 bytes"
    with memory_below(60 * MIB), pytest.raises(ValueError, match=accepted):
        list(read_blocks(path))
    with memory_below(20 * MIB), pytest.raises(ValueError, match=accepted):
        read_arpa(path)


def test_a_line_of_texts_is_not_unpacked_without_limit() -> None:
    with memory_below(40 * MIB), pytest.raises(AnnotationError, match="line 2: found more than 4,194,304 bytes"):
        list(file_texts(lambda: io.BytesIO(LINE), "t.gz"))


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"1 99999999\n", "dimension 99,999,999; accepted: at most 20,000"),
        (b"1 " + b"9" * 5000, "found 2 fields: '1 9"),
    ],
)
def test_vectors_have_a_limited_dimension(tmp_path: Path, head: bytes, found: str) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(head)
    with pytest.raises(ValueError, match=found):
        list(read_blocks(path))
