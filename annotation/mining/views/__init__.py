"""Pages of corpora, of mining runs and of what they found."""
