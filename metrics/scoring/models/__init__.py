"""Trained models that metrics read, identified by the hash of their content."""
