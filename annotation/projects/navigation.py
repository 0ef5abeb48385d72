"""The navigation of a project's pages: tasks, each with the lists it works on, and the pages of one subject."""

from dataclasses import dataclass

from annotation.models import Role


@dataclass(frozen=True)
class Entry:
    """A list that one can go to; it is the current one on views whose names begin with one of ``views``."""

    label: str
    url_name: str
    views: tuple[str, ...]
    role: Role = Role.VIEWER  # the least that sees it


@dataclass(frozen=True)
class Task:
    """An entry of the first row: what one wants to do, and a line that says what it is for."""

    label: str
    purpose: str
    entries: tuple[Entry, ...]


TASKS = (
    Task(
        "Overview",
        "Findings and next step",
        (
            Entry("Overview", "annotation:project-detail", ("annotation:project-detail",)),
            Entry("Jobs", "annotation:project-jobs", ("annotation:project-jobs",)),
        ),
    ),
    Task(
        "Data",
        "Texts to rate and score",
        (
            Entry(
                "Data sets",
                "annotation:dataset-list",
                ("annotation:dataset-", "annotation:item-", "annotation:rating-import", "annotation:deletion-"),
            ),
            Entry("Mining", "annotation:corpus-list", ("annotation:corpus-", "annotation:mining-run-")),
            Entry("Seeds", "annotation:seed-list", ("annotation:seed-",)),
        ),
    ),
    Task(
        "Rate",
        "Raters judge texts",
        (
            Entry(
                "Campaigns",
                "annotation:campaign-list",
                ("annotation:campaign-", "annotation:rater-", "correlations:campaign-"),
            ),
            Entry("Results", "annotation:results", ("annotation:results",)),
            Entry("Lists", "annotation:response-list-list", ("annotation:response-list-",)),
            Entry("Provider accounts", "annotation:provider-accounts", ("annotation:provider-account",), Role.MANAGER),
        ),
    ),
    Task(
        "Weigh",
        "Ratings become weights",
        (
            Entry(
                "Reference sets",
                "annotation:reference-set-list",
                (
                    "annotation:reference-set-",
                    "annotation:weights-import-",
                    "annotation:release-",
                    *(f"annotation:response-{part}" for part in ("detail", "ratings-", "weights-")),
                    "metrics:release-",
                    "metrics:response-",
                    "correlations:response-",
                ),
            ),
        ),
    ),
    Task(
        "Score",
        "Metrics judge systems",
        (
            Entry("Scores", "metrics:run-list", ("metrics:run-", "correlations:run-scale")),
            Entry("Playground", "metrics:playground", ("metrics:playground",)),
            Entry("Models", "metrics:model-list", ("metrics:model-",)),
        ),
    ),
    Task(
        "Trust",
        "Metrics against raters",
        (
            Entry("Studies", "correlations:study-list", ("correlations:study-",)),
            Entry("Parameter studies", "correlations:parameter-study-list", ("correlations:parameter-study-",)),
        ),
    ),
    Task(
        "Members",
        "Who may do what",
        (
            Entry("Members", "annotation:project-members", ("annotation:project-members", "annotation:invitation-")),
            Entry("Audit log", "annotation:project-audit", ("annotation:project-audit",)),
            Entry("Notifications", "annotation:project-notifications", ("annotation:project-notifications",)),
            Entry(
                "Settings",
                "annotation:project-edit",
                (
                    "annotation:project-edit",
                    "annotation:project-delete",
                    "annotation:project-export",
                    "annotation:project-archive",
                ),
                Role.OWNER,
            ),
        ),
    ),
)

CAMPAIGN = (
    Entry(
        "Overview",
        "annotation:campaign-detail",
        tuple(f"annotation:campaign-{view}" for view in ("detail", "monitor", "operation")),
    ),
    Entry("Results", "annotation:campaign-results", ("annotation:campaign-results", "correlations:campaign-helped")),
    Entry(
        "Design",
        "annotation:campaign-design",
        tuple(f"annotation:campaign-{view}" for view in ("design", "step", "screen", "clone")),
    ),
    Entry("Raters", "annotation:campaign-raters", ("annotation:campaign-rater",)),
    Entry("Quality", "annotation:campaign-quality", ("annotation:campaign-quality",)),
    Entry("Ratings", "annotation:campaign-ratings", ("annotation:campaign-ratings",)),
    Entry("Recruitment", "annotation:campaign-recruitments", ("annotation:campaign-recruitment",)),
    Entry("Dry runs", "annotation:campaign-dry-runs", ("annotation:campaign-dry-run",)),
    Entry("Records", "annotation:campaign-records", ("annotation:campaign-record", "annotation:campaign-audit")),
)
OF_OWN_RATERS = {"annotation:campaign-recruitments", "annotation:campaign-dry-runs"}
RELEASE = (
    Entry("Overview", "annotation:release-detail", ("annotation:release-detail",)),
    Entry("Browse", "annotation:release-browse", ("annotation:release-browse", "metrics:release-item")),
    Entry("Needs attention", "annotation:release-attention", ("annotation:release-attention",)),
    Entry("Sensitivity", "annotation:release-sensitivity", ("annotation:release-sensitivity",)),
    Entry("Raters", "annotation:release-influence", ("annotation:release-influence",)),
    Entry("Circularity", "annotation:release-guard", ("annotation:release-guard",)),
    Entry("Compare", "annotation:release-compare", ("annotation:release-compare",)),
)
RUN = (
    Entry("Overview", "metrics:run-detail", ("metrics:run-detail",)),
    Entry("Pairs of systems", "metrics:run-comparisons", ("metrics:run-comparisons",)),
    Entry("Against the raters", "metrics:run-disagreements", ("metrics:run-disagreements",)),
)
WRITTEN = Entry("Texts", "annotation:campaign-written", ("annotation:campaign-written",))
SUBJECTS = {
    "Campaign": CAMPAIGN,
    "Writing campaign": (CAMPAIGN[0], WRITTEN, *CAMPAIGN[1:]),
    "Imported campaign": tuple(entry for entry in CAMPAIGN if entry.url_name not in OF_OWN_RATERS),
    "Release": RELEASE,
    "Run": RUN,
}
