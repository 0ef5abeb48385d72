"""Costs of indexing and mining a corpus, compared with tantivy and bm25s on the same triples.

python -m benchmarks.bench_mining [--sizes 1000000 5000000] [--seeds 4232] [--without tantivy bm25s]

Every stage runs in a separate process, so that its memory can be measured. Works in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from annotation.mining.candidates import Seed, mine
from annotation.mining.index.building import build_index
from annotation.mining.index.reading import TripleIndex
from annotation.mining.specification import MiningSpecification
from annotation.mining.triples import Triple

TRIPLES, SEEDS, BEST, PAPER = 1_000_000, 4_232, 15, 29_000_000
VOCABULARY, ZIPF, MEAN_LENGTH = 300_000, 1.07, 10.0
CHUNK, QUERIES, WARM = 50_000, 200, 20
MINING_SECONDS, PROCESSES, MIB = 120, 2, 2**20
LIBRARIES = ("tantivy", "bm25s")


def zipf_texts(seed: int) -> Iterator[str]:
    """Yield endless texts of ten words on average, with word frequencies as in natural text."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, VOCABULARY + 1) ** ZIPF
    reached = np.cumsum(frequency / frequency.sum())
    while True:
        lengths = 1 + rng.poisson(MEAN_LENGTH - 1, size=CHUNK)
        words = [f"w{i}" for i in np.searchsorted(reached, rng.random(int(lengths.sum()))).tolist()]
        ends = np.cumsum(lengths).tolist()
        yield from (" ".join(words[end - length : end]) for end, length in zip(ends, lengths.tolist(), strict=True))


class Texts:
    """Contexts, messages and responses, generated in chunks; ``seconds`` is the time to generate them."""

    def __init__(self, count: int, seed: int = 2015) -> None:
        self.count, self.seed, self.seconds = count, seed, 0.0

    def __iter__(self) -> Iterator[Triple]:
        rows = zip(*(zipf_texts(3 * self.seed + side) for side in range(3)), strict=False)
        for start in range(0, self.count, CHUNK):
            began = perf_counter()
            chunk = list(islice(rows, min(CHUNK, self.count - start)))
            self.seconds += perf_counter() - began
            yield from (Triple((context,), message, response) for context, message, response in chunk)

    def timed(self, use: Callable[[Iterator[Triple]], object]) -> float:
        began = perf_counter()
        use(iter(self))
        return perf_counter() - began - self.seconds


def queries(count: int) -> list[Triple]:
    return list(Texts(count, seed=4232))


# --- Building, one library each --------------------------------------------------------------------------------------


def build_ours(triples: Iterator[Triple], folder: Path) -> None:
    build_index(triples, folder)


def build_tantivy(triples: Iterator[Triple], folder: Path) -> None:
    """Index words with frequencies in two fields, with one thread and 256 MB of heap; texts are not stored."""
    import tantivy

    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    for side in ("message", "response"):
        builder.add_text_field(side, tokenizer_name="default", index_option="freq")
    builder.add_unsigned_field("number", stored=True)
    writer = tantivy.Index(builder.build(), path=str(folder)).writer(256_000_000, 1)
    for number, triple in enumerate(triples):
        document = tantivy.Document(message=triple.message, response=triple.response)
        document.add_unsigned("number", number)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def build_bm25s(triples: Iterator[Triple], folder: Path) -> None:
    """Index as the library does: all words of a side in memory, then all scores."""
    import bm25s

    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    for triple in triples:
        sides[0].append(triple.message.split())
        sides[1].append(triple.response.split())
    for number, side in enumerate(sides):
        scorer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        scorer.index(side, show_progress=False)
        scorer.save(folder / str(number), show_progress=False)
        side.clear()


# --- Searching, one library each -------------------------------------------------------------------------------------

Search = Callable[[Triple], object]


def open_ours(folder: Path) -> Search:
    """Search exactly by the product of scores, and read the matching triples."""
    index = TripleIndex.open(folder)
    return lambda query: [index.triple(hit.number) for hit in index.search(query.message, query.response, n=BEST)]


def open_tantivy(folder: Path) -> Search:
    """Require both sides to match and add their scores: tantivy has no product of two scores."""
    import tantivy

    index = tantivy.Index.open(str(folder))
    searcher, schema, query_of = index.searcher(), index.schema, tantivy.Query

    def search(query: Triple) -> object:
        sides = []
        for name, text in (("message", query.message), ("response", query.response)):
            terms = [(tantivy.Occur.Should, query_of.term_query(schema, name, word, "freq")) for word in text.split()]
            sides.append((tantivy.Occur.Must, query_of.boolean_query(terms)))
        return searcher.search(query_of.boolean_query(sides), BEST).hits

    return search


def open_bm25s(folder: Path) -> Search:
    import bm25s

    scorers = [bm25s.BM25.load(folder / str(number), mmap=True) for number in range(2)]

    def search(query: Triple) -> object:
        sides = zip(scorers, (query.message, query.response), strict=True)
        first, second = (scorer.get_scores(text.split()) for scorer, text in sides)
        joint = first * second
        best = np.argpartition(joint, joint.size - BEST)[-BEST:]
        return best[np.argsort(-joint[best])]

    return search


BUILD = {"ours": build_ours, "tantivy": build_tantivy, "bm25s": build_bm25s}
OPEN = {"ours": open_ours, "tantivy": open_tantivy, "bm25s": open_bm25s}


# --- Stages, each in its own process ---------------------------------------------------------------------------------


def build_stage(library: str, folder: Path, count: int) -> dict[str, float]:
    seconds = Texts(count).timed(lambda triples: BUILD[library](triples, folder))
    files = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    triples = sum(size for path, size in files.items() if path.name == "triples.arrow")
    return {"seconds": seconds, "peak": peak_mib(), "disk": sum(files.values()) / MIB, "triples": triples / MIB}


def search_stage(library: str, folder: Path, count: int) -> dict[str, float]:
    triples = queries(count)
    before = own_mib()
    began = perf_counter()
    search = OPEN[library](folder)
    opening = perf_counter() - began
    for query in triples[:WARM]:
        search(query)
    began = perf_counter()
    for query in triples:
        search(query)
    rate = count / (perf_counter() - began)
    with Watching() as watching:
        for query in triples[:WARM]:
            search(query)
    return {"rate": rate, "opening": opening, "own": watching.most - before}


class Watching:
    """Record the maximal private memory of this process."""

    def __enter__(self) -> Watching:
        self.most, self._over = own_mib(), threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.001):
            self.most = max(self.most, own_mib())

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def own_mib() -> float:
    """Return the private memory of this process, without pages of mapped files, which the system can reclaim."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def in_fresh_process(stage: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        measured: dict[str, float] = pool.apply(stage, arguments)
        pool.close()
        pool.join()
    return measured


_index: TripleIndex | None = None


def open_in_worker(folder: Path) -> None:
    global _index  # noqa: PLW0603 - one per process, as workers have it
    _index = TripleIndex.open(folder)
    mine(as_seed(0, queries(1)[0]), _index, MiningSpecification())


def as_seed(number: int, triple: Triple) -> Seed:
    return Seed(
        item_id=number,
        external_id=str(number),
        context=triple.context,
        message=triple.message,
        response=triple.response,
    )


def mine_some(seeds: Sequence[Seed]) -> int:
    if _index is None:
        raise RuntimeError("the worker has no index")
    specification = MiningSpecification(n=BEST)
    return sum(
        candidate.fate == "kept" and candidate.kind == "mined"
        for seed in seeds
        for candidate in mine(seed, _index, specification)
    )


def mining(folder: Path, count: int) -> tuple[float, int]:
    """Mine all seeds in two processes with the index open; return seconds and the number of candidates kept."""
    seeds = [as_seed(number, triple) for number, triple in enumerate(queries(count))]
    shards = [seeds[start : start + 50] for start in range(0, count, 50)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES, open_in_worker, (folder,)) as pool:
        pool.map(mine_some, [seeds[:5]] * PROCESSES, chunksize=1)
        began = perf_counter()
        n_kept = sum(pool.imap_unordered(mine_some, shards))
        seconds = perf_counter() - began
        pool.close()
        pool.join()
    return seconds, n_kept


# --- Rows ------------------------------------------------------------------------------------------------------------


def run(
    sizes: Sequence[int] = (TRIPLES,), seeds: int = SEEDS, libraries: Sequence[str] = LIBRARIES
) -> list[dict[str, Any]]:
    rows, measured = [], []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="assay-bench-") as work:
            size_rows, measurements = measure_size(Path(work), size, seeds, libraries)
        rows += size_rows
        measured.append((size, measurements))
    if len(measured) > 1:
        rows += growth(measured)
    return rows


def measure_size(
    work: Path, size: int, seeds: int, libraries: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    built, searched = {}, {}
    for library in ("ours", *libraries):
        built[library] = in_fresh_process(build_stage, library, work / library, size)
        searched[library] = in_fresh_process(search_stage, library, work / library, QUERIES)
        if library != "ours":
            shutil.rmtree(work / library)
    measurements = built["ours"] | searched["ours"]
    name = f"{size:,} triples"
    rows = [
        comparison_row(f"{name}: read, hashed, indexed and written", "seconds", "s", built, ""),
        comparison_row(f"{name}: peak memory of the building process", "peak", "MiB", built, ""),
        comparison_row(
            f"{name}: on disk, {measurements['triples']:.0f} MiB of it the triples themselves", "disk", "MiB", built, ""
        ),
        comparison_row(f"{name}: searches for the best {BEST}, one process", "rate", "searches/s", searched, ""),
        comparison_row(f"{name}: a searching process's own memory", "own", "MiB", searched, ""),
    ]
    if seeds:
        seconds, n_kept = mining(work / "ours", seeds)
        measurements["mining"] = seconds
        rows.append(
            {
                "name": f"{name}: {seeds:,} seeds mined by {PROCESSES} processes, {n_kept:,} candidates kept",
                "value": seconds,
                "unit": "s",
                "against": f"{MINING_SECONDS} s",
                "ratio": seconds / MINING_SECONDS,
                "target": "under 1" if (size, seeds) == (TRIPLES, SEEDS) else "none set",
            }
        )
    return rows, measurements


def comparison_row(
    name: str, what: str, unit: str, measured: dict[str, dict[str, float]], target: str
) -> dict[str, Any]:
    value = measured["ours"][what]
    others = {library: values[what] for library, values in measured.items() if library != "ours"}
    against = ", ".join(f"{library}: {value:,.0f} {unit}" for library, value in others.items())
    first = next(iter(others.values()), 0)
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "against": against,
        "ratio": value / first if first else None,
        "target": target or None,
    }


def growth(measured: Sequence[tuple[int, dict[str, float]]]) -> list[dict[str, Any]]:
    """Extrapolate linearly from the smallest and the largest size to the paper's corpus."""
    (small, first), (large, last) = measured[0], measured[-1]
    rows = []
    for what, key, unit in (
        ("indexing", "seconds", "s"),
        ("peak memory of building", "peak", "MiB"),
        ("size on disk", "disk", "MiB"),
        ("a searching process's own memory", "own", "MiB"),
        ("mining the seeds", "mining", "s"),
    ):
        if key in first:
            slope = (last[key] - first[key]) / (large - small)
            rows.append(
                {
                    "name": f"{PAPER:,} triples, extrapolated: {what}",
                    "value": last[key] + slope * (PAPER - large),
                    "unit": unit,
                    "against": f"{small:,}: {first[key]:,.0f} {unit}; {large:,}: {last[key]:,.0f} {unit}",
                    "ratio": last[key] / first[key],
                    "target": None,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[TRIPLES], help="numbers of triples, ascending")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="mined at each size; 0 for none")
    parser.add_argument("--without", nargs="*", choices=LIBRARIES, default=[], help="libraries not to compare with")
    options = parser.parse_args()
    print("| What | Measured | Unit | Against | Ratio |\n| --- | ---: | --- | --- | ---: |")
    for row in run(options.sizes, options.seeds, [name for name in LIBRARIES if name not in options.without]):
        ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
        print(f"| {row['name']} | {row['value']:,.1f} | {row['unit']} | {row['against']} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
