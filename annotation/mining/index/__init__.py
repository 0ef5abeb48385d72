"""BM25 over both sides of a conversation: built in bounded memory, opened by memory map, exact in its n best."""

from annotation.mining.index.building import IndexReport, build_index
from annotation.mining.index.files import UnreadableIndex
from annotation.mining.index.parameters import INDEX_VERSION, TOKENIZERS, IndexParameters
from annotation.mining.index.reading import ALPHA, EPSILON, Hit, TripleIndex

__all__ = [
    "ALPHA",
    "EPSILON",
    "INDEX_VERSION",
    "TOKENIZERS",
    "Hit",
    "IndexParameters",
    "IndexReport",
    "TripleIndex",
    "UnreadableIndex",
    "build_index",
]
