"""The rooms' sources of the front page. Each module registers what it offers; apps above this one register theirs."""

from annotation.overview import campaigns, contents, imports, jobs, releases, results

__all__ = ["campaigns", "contents", "imports", "jobs", "releases", "results"]
