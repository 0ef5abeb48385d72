"""Trained things that metrics read: made once from a corpus, saved, known by the hash of their content."""
