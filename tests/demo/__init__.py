"""The demo's numbers, each computed a second time from the raw files by code that shares nothing with the product."""
