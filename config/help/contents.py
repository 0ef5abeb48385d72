"""The contents of the documentation: what a reader looks for, and the documents about it.

Read by the pages of help and, without Django, by the site that `make docs` builds (``docs/site/conf.py``).
"""

# A name is a path from ``docs/`` without ``.md``, a folder's README by the folder's name. A name that ends with a slash
# stands for the other documents of the folder, which the site shows below the document before it.
# What lies outside ``docs/`` is in the site alone.
GUIDES = "Guides"
CONTENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start here", ("index", "../README", "tour")),
    (
        GUIDES,
        (
            *("guides/manager", "guides/rater", "guides/analyst", "guides/administrator", "guides/api"),
            "guides/troubleshooting",
        ),
    ),
    (
        "Rate",
        (
            *("data-formats", "campaigns/designing", "campaigns/", "dry-run", "providers", "providers/", "raters"),
            *("hand-out", "quality", "results", "records", "moving-data"),
        ),
    ),
    ("References and weights", ("mining", "seeds", "weighing", "releases", "browsing")),
    (
        "Score",
        (
            *("metrics", "metrics/", "quality-estimation", "metric-models", "runs", "scoring"),
            *("explaining", "playground", "scores-elsewhere"),
        ),
    ),
    ("Studies", ("parameter-studies", "reports", "notebook")),
    ("Run it", ("deployment", "../docker/README", "notifications", "../SECURITY")),
    (
        "Reference",
        (
            *("methods", "api", "../client/README", "benchmarks", "architecture", "pages", "testing", "screens"),
            *("../CONTRIBUTING", "../CHANGELOG"),
        ),
    ),
    ("Decisions", ("decisions/",)),
)
