"""Texts of a few words, known and unheard of, for models learnt from real conversations."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

WORDS = ("i", "you", "think", "the", "it", "was", "not", "good", "unheardof", "😀", "?", "مرحبا")

few = settings(max_examples=40, deadline=None)
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
