"""Corpora, what is mined from them, and how it becomes references."""

from annotation.mining.services.corpora import (
    corpus_delete,
    corpus_from_dataset,
    corpus_index,
    corpus_stream,
    corpus_upload,
)
from annotation.mining.services.runs import (
    mining_run_cancel,
    mining_run_create,
    mining_run_delete,
    mining_run_execute,
    mining_run_help,
)
from annotation.mining.services.storing import (
    StorePreview,
    mining_run_rate,
    mining_run_store,
    near_duplicates_choose,
    near_duplicates_choose_all,
    store_preview,
)

__all__ = [
    "StorePreview",
    "corpus_delete",
    "corpus_from_dataset",
    "corpus_index",
    "corpus_stream",
    "corpus_upload",
    "mining_run_cancel",
    "mining_run_create",
    "mining_run_delete",
    "mining_run_execute",
    "mining_run_help",
    "mining_run_rate",
    "mining_run_store",
    "near_duplicates_choose",
    "near_duplicates_choose_all",
    "store_preview",
]
