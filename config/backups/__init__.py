"""A whole installation in one archive: database, corpora, trained models, and the key that opens what is encrypted."""
