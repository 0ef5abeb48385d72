"""A small data set with original responses, and a small corpus to mine references for them from."""

import json
from typing import Any

from annotation.datasets.services.files import read_dataset
from annotation.datasets.services.imports import dataset_create
from annotation.mining.services.corpora import corpus_index, corpus_upload
from annotation.mining.services.runs import mining_run_create
from annotation.models import Corpus, Dataset, MiningRun, Project, User

SEEDS = [
    {
        "id": "tea",
        "split": "dev",
        "context": ["Good morning."],
        "message": "Would you like some tea?",
        "references": [{"text": "Yes please, tea would be lovely.", "kind": "seed"}],
    },
    {
        "id": "game",
        "split": "test",
        "message": "Did you see the game last night?",
        "references": [
            {"text": "I missed the game, who won?", "kind": "seed"},
            {"text": "The game was great!", "kind": "human"},
        ],
    },
    {
        "id": "rain",
        "split": "test",
        "message": "Will it rain tomorrow?",
        "references": [{"text": "I hope it will not rain.", "kind": "seed"}],
    },
    {"id": "silent", "message": "Is anybody there?", "references": [{"text": "Only me.", "kind": "human"}]},
]
TRIPLES = [
    (["Hello."], "Do you like tea?", "Yes, I like tea a lot."),
    ([], "Would you like green tea?", "Green tea would be lovely."),
    ([], "Would you like some tea?", "Yes please, tea would be lovely."),
    ([], "Some tea for you?", "yes  please, tea would be  lovely."),
    ([], "Who won the game last night?", "The game was great!"),
    ([], "Did you watch the game?", "I saw the game, we won."),
    ([], "Is the game on tonight?", "Ask @sports, the game is at http://example.org/game"),
    ([], "Will it snow tomorrow?", "I hope it will snow."),
    ([], "It will rain again tomorrow", "It will rain all week, I fear."),
    ([], "Where are my keys?", "On the kitchen table."),
    ([], "How old is the bridge?", "More than a hundred years."),
]


def jsonl(records: list[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def triples_file(triples: list[tuple[list[str], str, str]] | None = None) -> bytes:
    return jsonl(
        [
            {"context": context, "message": message, "response": response}
            for context, message, response in (TRIPLES if triples is None else triples)
        ]
    )


def seeds_dataset(project: Project, name: str = "Talk", items: list[dict[str, Any]] | None = None) -> Dataset:
    raw = jsonl(SEEDS if items is None else items)
    content, _ = read_dataset(raw, filename="items.jsonl", file_format="jsonl")
    return dataset_create(project=project, name=name, content=content)


def uploaded_corpus(project: Project, name: str = "Pool", content: bytes | None = None, **options: Any) -> Corpus:
    """Return a queued corpus: ``corpus_index`` has not run."""
    return corpus_upload(
        project=project,
        by=None,
        name=name,
        filename=options.pop("filename", "pool.jsonl"),
        content=triples_file() if content is None else content,
        options=options,
    )


def indexed_corpus(project: Project, name: str = "Pool", content: bytes | None = None) -> Corpus:
    corpus = uploaded_corpus(project, name, content)
    corpus_index(corpus_id=corpus.pk)
    corpus.refresh_from_db()
    assert corpus.state == "done", corpus.error
    return corpus


def asked_run(
    project: Project,
    dataset: Dataset,
    corpus: Corpus,
    *,
    by: User | None = None,
    splits: tuple[str, ...] = (),
    **specification: Any,
) -> MiningRun:
    """Return a queued run: ``mining_run_execute`` has not run."""
    return mining_run_create(
        project=project,
        dataset=dataset,
        corpus=corpus,
        specification={"n": 3, **specification},
        seed_choice={"kind": "seed", "splits": splits},
        by=by,
    )
