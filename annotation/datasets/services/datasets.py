"""Change the description of a data set. Its items and responses are fixed."""

from annotation.models import Dataset, User
from annotation.projects.services.editing import row_describe

DETAILS = ("description", "language", "licence", "attribution")
DESCRIBED = ("name", *DETAILS)


def dataset_update(*, dataset: Dataset, by: User | None = None, seen: str = "", **described: str) -> Dataset:
    """Change columns of ``DESCRIBED``; the address and the normalisation rule stay.

    With ``seen``, the ``version_of`` the description that the user saw, no change made since is overwritten.
    """
    return row_describe(
        row=dataset, project=dataset.project, noun="dataset", columns=DESCRIBED, described=described, seen=seen, by=by
    )
