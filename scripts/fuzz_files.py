"""Damage small files of every format that is read, and see that each reader refuses them or reads them.

    python -m scripts.fuzz_files --files 10000 --seed 1

A reader may raise nothing but the project's refusals, take ten seconds for a file, leave nothing behind when it
refuses, and use no more memory than stated. A file that breaks this is kept, and its number repeats it.
"""

import argparse
import gzip
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 10  # of the processor, for a file
MEMORY_MIB = 700  # of a process that reads a few hundred files, Python and libraries included
BATCH = 250  # files in a process
EXAMPLES = Path(__file__).resolve().parent.parent / "demo" / "examples"
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "fuzz",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
}


class Sample(NamedTuple):
    """A small valid file and what reads it; ``inner`` is its content before it was packed by ``pack``."""

    name: str
    content: bytes
    read: Callable[[bytes], object]
    inner: bytes | None = None
    pack: Callable[[bytes], bytes] = bytes


class Late(Exception):
    """The file took too long."""


# --- Damage -----------------------------------------------------------------------------------------------------------

NUMBERS = (
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    "9" * 400,
    "9" * 5000,
    "-0",
    str(2**63),
    "0x1F",
    "1_0",
    "１",
    "1e-400",
    "",
)
ODD = (
    b"\x00",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u2028\x85".encode(),
    b"\r",
    b'"',
    b"\t" * 99,
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORD = re.compile(rb"[A-Za-z_]{2,}")


def flipped(content: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 8, 64)) if damaged else 0):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def truncated(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def duplicated(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    most = max(1, 2_000_000 // max(1, end - start))
    return content[:end] + content[start:end] * min(draw.choice((1, 2, 1000, 100_000)), most) + content[end:]


def cut_out(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:start] + content[end:]


def repacked(content: bytes, draw: random.Random) -> bytes:
    import bz2

    import zstandard

    return draw.choice((gzip.compress, zstandard.compress, bz2.compress))(content)


def extreme(content: bytes, draw: random.Random) -> bytes:
    return _replaced(content, NUMBER, draw.choice(NUMBERS).encode(), draw)


def nested(content: bytes, draw: random.Random) -> bytes:
    depth = draw.choice((50, 500, 990, 100_000))
    deep = draw.choice((b"[" * depth, b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth))
    return _replaced(content, draw.choice((NUMBER, re.compile(rb'"[^"]*"'))), deep, draw)


def long_named(content: bytes, draw: random.Random) -> bytes:
    return _replaced(content, WORD, b"n" * draw.choice((300, 5000, 1_000_000, 5_000_000)), draw)


def many_named(content: bytes, draw: random.Random) -> bytes:
    between = draw.choice((b",", b"\t", b'": 1, "', b" "))
    return _replaced(content, WORD, between.join(b"n%d" % n for n in range(draw.choice((100, 6000, 40_000)))), draw)


def odd(content: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(content) + 1)
    return content[:at] + draw.choice(ODD) + content[at:]


def shuffled(content: bytes, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    draw.shuffle(lines)
    return b"".join(lines)


def _replaced(content: bytes, pattern: "re.Pattern[bytes]", by: bytes, draw: random.Random) -> bytes:
    matches = list(pattern.finditer(content))
    if not matches:
        return content
    match = draw.choice(matches)
    return content[: match.start()] + by + content[match.end() :]


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(flipped, truncated, duplicated, cut_out, repacked, extreme, nested, long_named, many_named, odd, shuffled),
)


def damaged(sample: Sample, draw: random.Random) -> tuple[bytes, str]:
    """Return a damaged file, and how it was damaged."""
    within = sample.inner is not None and draw.random() < 0.6
    content = sample.inner if within and sample.inner is not None else sample.content
    damages = [draw.choice(DAMAGES) for _ in range(draw.choice((1, 1, 1, 2, 3)))]
    for damage in damages:
        content = damage(content, draw)[:20_000_000]
    names = " ".join(damage.__name__ for damage in damages)
    return (sample.pack(content), f"within: {names}") if within else (content, names)


# --- Readers ----------------------------------------------------------------------------------------------------------


def data_sets() -> Iterator[Sample]:
    from annotation.datasets.services.files import read_dataset

    for path in sorted(EXAMPLES.glob("dataset.*")):
        kind = path.suffix[1:]
        yield Sample(
            path.name,
            path.read_bytes(),
            lambda content, kind=kind: read_dataset(content, filename="d", file_format=kind),
        )


def ratings() -> Iterator[Sample]:
    from annotation.judgements.services.files import read_ratings
    from annotation.judgements.services.label_studio import first_tasks
    from annotation.judgements.services.options import SHAPES, RatingOptions

    def read(content: bytes, kind: str, shape: str = "") -> None:
        if kind == "json":
            first_tasks(content)
        read_ratings(content, filename="r", file_format=kind, options=RatingOptions(shape=shape))

    for path in sorted(EXAMPLES.glob("ratings*.*")):
        kind, content = path.suffix[1:], path.read_bytes()
        yield Sample(path.name, content, lambda content, kind=kind: read(content, kind))
        for shape in SHAPES:
            yield Sample(
                f"{path.name} as {shape}", content, lambda content, kind=kind, shape=shape: read(content, kind, shape)
            )


def weights() -> Iterator[Sample]:
    from annotation.core.problems import Problems
    from annotation.references.releases.services.weights_files import read_weights

    references = [
        {"text": "Hi", "weight": 0.5, "mean": 3.5, "n": 4, "low": 0.1, "high": 0.9, "sources": [{"kind": "human"}]}
    ]
    item = {"release": "r/v1", "content_hash": "ab", "id": "1", "references": references}
    files = {
        "jsonl": json.dumps(item) + "\n" + json.dumps({"item": "2", "text": "Ho", "weight": -1}) + "\n",
        "csv": 'item,text,weight,n,original,sources\n1,Hi,0.5,4,true,"[""human""]"\n2,Ho,-1,,,\n',
        "tsv": "1\t0.5\tHi\t-0.25\tHo\\t\n2\t1\tHm\n",
    }
    for kind, text in files.items():
        yield Sample(
            f"weights.{kind}", text.encode(), lambda content, kind=kind: read_weights(content, kind, Problems("w"))
        )


def scores() -> Iterator[Sample]:
    from annotation.core.file_limits import SCORES_PAGE_BYTES
    from annotation.core.problems import Problems
    from metrics.services.score_files import Known, read_scores

    known = Known(["Echo", "Parrot"], ["1", "2", "3"])

    def reader(filename: str) -> Callable[[bytes], None]:
        def read(content: bytes) -> None:
            problems = Problems(filename)
            read_scores(content, filename, known, problems, max_bytes=SCORES_PAGE_BYTES)
            problems.refuse()

        return read

    segments = b"".join(
        b"%s\t%s\n" % (name, score) for name in (b"Echo", b"Parrot") for score in (b"0.5", b"None", b"1e-3")
    )
    long = b"system,item,score\nEcho,1,0.5\nParrot,2,-1\n"
    lines = b'{"system": "Echo", "item": "1", "score": 0.5}\n{"system": "Parrot", "item": "2", "score": NaN}\n'
    plain = {"x.seg.score": segments, "x.sys.score": b"Echo\t1\nParrot 2\n", "s.csv": long, "s.jsonl": lines}
    plain["s.tsv"] = b"item\tEcho\tParrot\n1\t0.5\t\n2\t1\t-1\n"
    for name, content in plain.items():
        yield Sample(name, content, reader(name))
    yield Sample("s.zip", zipped(segments), reader("s.zip"), segments, zipped)
    yield Sample("s.tgz", tarred(segments), reader("s.tgz"), segments, tarred)
    archive = gzip.decompress(tarred(segments))
    yield Sample("s.tar.gz", gzip.compress(archive), reader("s.tar.gz"), archive, gzip.compress)


DESCRIPTION = '{"metrics": {"x": {"name": "X", "lowest": -1}}, "systems": {"a": "Echo"}}'


def zipped(content: bytes, description: str = DESCRIPTION) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/x.seg.score", content)
        archive.writestr("metrics.json", description)
    return made.getvalue()


def tarred(content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("m/é" + "n" * 120 + "/x.seg.score")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def corpora() -> Iterator[Sample]:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    from annotation.core.file_limits import UNPACKED_BYTES, Allowance
    from annotation.mining.opening import begin
    from annotation.mining.reading import ReadReport, read_triples

    def read(content: bytes, filename: str) -> None:
        stream, (file_format, compression) = begin(io.BytesIO(content), filename)
        report, allowance = ReadReport(filename), Allowance(UNPACKED_BYTES)
        for _ in read_triples(
            stream, file_format=file_format, compression=compression, report=report, allowance=allowance
        ):
            pass

    triples = [{"context": ["Hi.", "Yes?"], "message": f"How are you, {n}?", "response": "Fine, 7."} for n in range(9)]
    made = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(triples), made, row_group_size=4)
    files = {
        "c.jsonl": "".join(json.dumps(triple) + "\n" for triple in triples).encode(),
        "c.tsv": b"context\tmessage\tresponse\nHi.|||Yes?\tHow are you?\tFine, 7.\n" * 2,
        "c.parquet": made.getvalue(),
    }
    for name, content in files.items():
        yield Sample(name, content, lambda content, name=name: read(content, name))
        for ending, pack in ((".gz", gzip.compress), (".zst", zstandard.compress)):
            yield Sample(
                name + ending, pack(content), lambda content, name=name + ending: read(content, name), content, pack
            )


def models() -> Iterator[Sample]:
    import numpy as np

    from annotation.core.errors import AnnotationError
    from metrics.scoring.models.kinds import get_kind
    from metrics.selectors.training_texts import file_texts
    from metrics.services.model_files import load_model, temporary_file

    def reader(kind: str, filename: str) -> Callable[[bytes], None]:
        form = get_kind(kind)

        def read(content: bytes) -> None:
            with temporary_file(content, filename) as path, tempfile.TemporaryDirectory() as folder:
                try:
                    load_model(form, str(path), Path(folder), lambda *_: None)
                except ValueError as error:
                    left = [left.name for left in Path(folder).glob("*") if left.is_dir()]
                    if "; accepted: " not in str(error) or left:
                        raise RuntimeError(f"no refusal, or left behind: {left}") from error
                    raise AnnotationError(str(error).replace(f"{path.parent}/", "")) from error

        return read

    arpa = b"\n\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-99\t<s>\t-0.3\n-1\t</s>\n-0.5\ta\t-0.3\n-0.7\tb\n\n"
    arpa += b"\\2-grams:\n-0.2\t<s> a\n-0.3\ta </s>\n\n\\end\\\n"
    binary = b"2 3\n" + b"".join(word + b" " + np.ones(3, "<f4").tobytes() + b"\n" for word in (b"a", b"bc"))
    files = {
        ("language_model", "m.arpa"): arpa,
        ("vectors", "w2v.txt"): b"2 3\na 1 0.5 -1e-3\nbc 1 2 3\n",
        ("vectors", "glove.txt"): b"a 1 0.5 -1e-3\nb c 1 2 3\n",
        ("vectors", "w2v.bin"): binary,
    }
    for (kind, name), content in files.items():
        yield Sample(name, content, reader(kind, name))
        yield Sample(f"{name}.gz", gzip.compress(content), reader(kind, f"{name}.gz"), content, gzip.compress)
    texts = b"one text\nand another\n"
    for ending, pack in ((".txt", bytes), (".txt.gz", gzip.compress)):
        read = lambda content, name=f"t{ending}": list(file_texts(lambda: io.BytesIO(content), name))  # noqa: E731
        yield Sample(f"t{ending}", pack(texts), read, texts, pack)


def designs() -> Iterator[Sample]:
    from annotation.campaigns.design.files import read_campaign_file
    from annotation.campaigns.design.quality import DesignError
    from annotation.campaigns.services.copies import parse_campaign_file

    def read(content: bytes) -> None:
        try:
            read_campaign_file(parse_campaign_file(content))
        except DesignError as error:
            json.dumps(error.problems).encode()

    criterion = {"name": "relevance", "question": "How relevant is it?", "scale_max": 5}
    design = {"assay_campaign": 1, "name": "Replies", "target": "outputs", "presentation": "single"}
    design |= {"criteria": [criterion], "ratings_per_unit": 5, "rules": [{"name": "r", "parts": [{"value": 1.5}]}]}
    yield Sample("campaign.json", json.dumps(design).encode(), read)


def samples() -> list[Sample]:
    return [sample for kind in (data_sets, ratings, weights, scores, corpora, models, designs) for sample in kind()]


# --- Running ----------------------------------------------------------------------------------------------------------


def attempt(sample: Sample, content: bytes) -> str:
    """Read a file; return what came of it: read, refused, or what is wrong."""
    from annotation.core.errors import AnnotationError, ImportRefused
    from annotation.hygiene.refusal import ParameterRefused

    started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        sample.read(content)
        outcome = "read"
    except AnnotationError as error:
        report = json.dumps(error.rows if isinstance(error, ImportRefused) else error.message, ensure_ascii=False)
        outcome = "refused"
        if "\x00" in report or tempfile.gettempdir() in report or len(report.encode()) > 2_000_000:
            outcome = "a refusal that cannot be stored, or names a folder"
    except ParameterRefused:
        outcome = "refused"
    except Late:
        outcome = "too late"
    except Exception:  # noqa: BLE001 - any is what is looked for
        outcome = traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "too late" if time.process_time() - started > SECONDS else outcome


def late(*_: object) -> None:
    raise Late


def run_batch(seed: int, first: int, last: int, kept: Path) -> dict[str, Any]:
    """Read the files of these numbers in this process; return counts and what is wrong."""
    import django

    django.setup()
    signal.signal(signal.SIGPROF, late)
    chosen, counts, wrong = samples(), Counter[str](), []
    for number in range(first, last):
        draw = random.Random(f"{seed}/{number}")
        sample = chosen[number % len(chosen)]
        content, how = damaged(sample, draw)
        outcome = attempt(sample, content)
        counts[outcome if outcome in ("read", "refused") else "wrong"] += 1
        if outcome not in ("read", "refused"):
            (kept / f"{number}-{sample.name.replace(' ', '-')}").write_bytes(content)
            wrong.append({"number": number, "sample": sample.name, "damage": how, "outcome": outcome})
    memory = max(resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"counts": counts, "wrong": wrong, "memory": memory}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    parser.add_argument("--keep", type=Path, default=Path("var/fuzz"), help="where files that go wrong are kept")
    parser.add_argument("--batch", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.batch:
        print(json.dumps(run_batch(options.seed, *options.batch, options.keep)))
        return 0
    counts, n_wrong, memory, end = Counter[str](), 0, 0, options.first + options.files
    for first in range(options.first, end, BATCH):
        last = min(first + BATCH, end)
        command = [sys.executable, "-m", "scripts.fuzz_files", "--seed", str(options.seed), "--keep", str(options.keep)]
        command += ["--batch", str(first), str(last)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, env=os.environ | ENVIRONMENT)
        if done.returncode:
            print(f"files {first} to {last}: the process ended with {done.returncode}")
            n_wrong += 1
            continue
        result = json.loads(done.stdout)
        counts.update(result["counts"])
        memory = max(memory, result["memory"])
        for entry in result["wrong"]:
            n_wrong += 1
            print("file {number}, {sample}, {damage}:\n{outcome}".format(**entry))
        if result["memory"] > MEMORY_MIB:
            n_wrong += 1
            print(f"files {first} to {last}: {result['memory']} MiB; accepted: {MEMORY_MIB} MiB")
    print(f"{options.files:,} files, seed {options.seed}: {dict(counts)}, at most {memory} MiB, {n_wrong} wrong")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
