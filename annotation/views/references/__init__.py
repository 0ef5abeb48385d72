"""Pages of reference sets and releases."""
