"""A small valid file of every format that is read, and its reader."""

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.fuzz.damage import Sample

EXAMPLES = Path(__file__).resolve().parents[2] / "demo" / "examples"


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
    from annotation.campaigns.design.reading import DesignError
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
