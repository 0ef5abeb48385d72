"""Seeds are drawn from a corpus."""

import hashlib
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.datasets.services.imports import dataset_import_execute
from annotation.mining.index.building import build_index
from annotation.mining.selectors import corpus_folder
from annotation.mining.triples import Triple
from annotation.models import (
    Corpus,
    Dataset,
    JobState,
    Project,
    Response,
    ResponseSource,
    User,
)
from annotation.seeds.services.sampling import seeds_sample


def triples(n: int) -> list[Triple]:
    return [Triple((f"Turn {i}.", "And?"), f"Message number {i}?", f"Response @bob number {i}.") for i in range(n)]


@pytest.fixture
def corpus(project: Project, settings: Any, tmp_path: Any) -> Corpus:
    settings.DATA_DIR = tmp_path
    return make_corpus(project, triples(60))


def make_corpus(project: Project, rows: list[Triple]) -> Corpus:
    corpus = Corpus(project=project, name="Talk", slug="talk", language="en", licence="CC0-1.0")
    report = build_index(rows, corpus_folder(corpus))
    corpus.state, corpus.n_triples, corpus.content_hash = JobState.DONE, report.n_triples, report.content_hash
    corpus.finished_at = timezone.now()
    corpus.save()
    return corpus


def drawn(corpus: Corpus, **options: Any) -> Dataset:
    job = seeds_sample(**{"corpus": corpus, "name": "Candidates", "n": 20, "seed": 7, **options})
    dataset_import_execute(import_id=job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, job.error
    return job.dataset


def shuffled_by_description(seed: int, size: int, n: int) -> list[int]:
    """Shuffle a list of all numbers with Fisher-Yates, as described in ``draws``."""
    row = list(range(size))
    for index in range(n):
        digest = hashlib.sha256(f'[{seed}, "draw", {index}]'.encode()).digest()
        target = index + int.from_bytes(digest[:8], "big") % 2**63 % (size - index)
        row[index], row[target] = row[target], row[index]
    return row[:n]


def test_triples_drawn_at_random_become_items_with_their_response_as_seed(corpus: Corpus, manager: User) -> None:
    dataset = drawn(corpus, by=manager)
    numbers = shuffled_by_description(7, 60, 20)
    items = list(dataset.items.order_by("position"))
    assert [item.external_id for item in items] == [f"talk-{number}" for number in numbers]
    assert (items[0].context, items[0].message) == (
        [f"Turn {numbers[0]}.", "And?"],
        f"Message number {numbers[0]}?",
    )
    sources = ResponseSource.objects.filter(item__dataset=dataset)
    assert {(source.kind, source.response.item_id == source.item_id) for source in sources} == {("seed", True)}
    assert sources.get(item=items[0]).response.text == f"Response @bob number {numbers[0]}."
    assert (dataset.language, dataset.licence) == ("en", "CC0-1.0")
    assert dataset.imports.get().report["counts"]["drawn"] == 20
    assert corpus.project.audit_entries.get(verb="seeds.sample").actor == manager


def test_the_seed_decides_what_is_drawn(corpus: Corpus) -> None:
    def names(dataset: Dataset) -> set[str]:
        return set(dataset.items.values_list("external_id", flat=True))

    first, same, other_seed = (
        names(drawn(corpus, name=name, seed=seed)) for name, seed in [("A", 1), ("B", 1), ("C", 2)]
    )
    assert first == same
    assert first != other_seed


def test_hygiene_masks_texts_and_reports_how_many_triples_are_left(
    project: Project, settings: Any, tmp_path: Any
) -> None:
    settings.DATA_DIR = tmp_path
    rows = [Triple(("Hi @amy.",), "Well?", "one @bob" if i % 2 else f"a longer answer number {i}") for i in range(40)]
    corpus = make_corpus(project, rows)
    steps = [{"step": "length", "min_tokens": 3, "max_tokens": 50}, {"step": "mask_handles"}]
    with pytest.raises(AnnotationError, match="unknown parameter"):
        seeds_sample(corpus=corpus, name="x", n=5, seed=1, hygiene=[{"step": "length", "words": 3}])
    job = seeds_sample(corpus=corpus, name="Clean", n=20, seed=1, hygiene=[steps[1]])
    assert job.options["sample"]["hygiene"] == [{"step": "mask_handles", "version": 1}]
    dataset_import_execute(import_id=job.pk)
    item = Dataset.objects.get(name="Clean").items.first()
    assert item.context == ["Hi <user>."]
    refused = seeds_sample(corpus=corpus, name="Short", n=20, seed=1, hygiene=steps)
    dataset_import_execute(import_id=refused.pk)
    refused.refresh_from_db()
    # "Well?" is one word: with messages dropped, too, nothing is left.
    assert (refused.state, refused.dataset) == (JobState.FAILED, None)
    assert "Of the 40 triples of “Talk” the hygiene steps leave 0; accepted: up to as many, 20" in refused.error


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"n": 0}, "n"),
        ({"n": 61}, "n"),
        ({"n": True}, "n"),
        ({"seed": -1}, "seed"),
        ({"normalisation": "x"}, "normalisation"),
        ({"name": ""}, "name"),
        ({"hygiene": [{"step": "x"}]}, "hygiene[0].step"),
    ],
)
def test_invalid_samples_are_refused_at_their_field(corpus: Corpus, change: dict[str, Any], field: str) -> None:
    with pytest.raises(AnnotationError) as refused:
        seeds_sample(**{"corpus": corpus, "name": "Candidates", "n": 20, "seed": 7, **change})
    assert list(refused.value.fields) == [field]


def test_a_corpus_that_is_not_indexed_yet_is_refused(project: Project) -> None:
    corpus = Corpus.objects.create(project=project, name="Later", slug="later")
    with pytest.raises(AnnotationError, match="“Later” is queued; accepted: a corpus whose index is done"):
        seeds_sample(corpus=corpus, name="x", n=1, seed=1)


def test_thousands_of_triples_are_drawn_and_stored(project: Project, settings: Any, tmp_path: Any) -> None:
    settings.DATA_DIR = tmp_path
    corpus = make_corpus(project, triples(8_000))
    dataset = drawn(corpus, n=6_600)
    assert Response.objects.filter(item__dataset=dataset).count() == 6_600
