"""Tasks that take more memory than they may, in each way that a real one can."""

from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from celery import shared_task

from annotation.core.jobs import Claim, job_run
from annotation.models import Corpus

MEBIBYTES = 4_096  # that each would take


def arrays() -> object:
    return [np.ones(2**20) for _ in range(MEBIBYTES // 8)]


def one_array() -> object:
    return np.ones(MEBIBYTES * 2**17)


def words() -> object:
    return [f"a word {number}" for number in range(MEBIBYTES * 2**14)]


def tensor() -> object:
    import torch

    return torch.ones(MEBIBYTES * 2**18)


WAYS: dict[str, Callable[[], object]] = {"arrays": arrays, "one array": one_array, "words": words}
if find_spec("torch"):
    WAYS["tensor"] = tensor


@shared_task  # type: ignore[untyped-decorator] # Celery has no types
def take(corpus_id: int, way: str) -> None:
    def work(corpus: Corpus, claim: Claim) -> None:
        claim.finish(report={"taken": bool(WAYS[way]())}, content_hash="taken")

    job_run(Corpus, corpus_id, work)
