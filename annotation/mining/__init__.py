"""Candidate references from a corpus of conversations: read, indexed with BM25, retrieved for a seed, cleaned.

Pure: usable from a notebook without the rest of Assay.
"""
