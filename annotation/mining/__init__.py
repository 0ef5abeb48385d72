"""Candidate references from a corpus of conversations: read, indexed with BM25, retrieved for a seed, cleaned."""
