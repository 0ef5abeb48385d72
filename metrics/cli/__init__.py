"""Metrics from the command line, without a database: ``python -m metrics``."""
