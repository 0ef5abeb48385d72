"""A project: what goes into it, and what comes out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay_client.jobs import Job

if TYPE_CHECKING:
    from assay_client.session import Assay

File = str | os.PathLike[str]


class Project:
    """A project of a server. All else that the API has is reached by its address: ``project.get("campaigns/3/")``."""

    def __init__(self, assay: Assay, slug: str) -> None:
        self.assay, self.slug = assay, slug

    def __repr__(self) -> str:
        return f"<Project {self.slug}>"

    # --- Any address below the project's ------------------------------------------------------------------------------

    def get(self, path: str = "", **parameters: Any) -> Any:
        return self.assay.get(self._path(path), **parameters)

    def rows(self, path: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        return self.assay.rows(self._path(path), **parameters)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.assay.post(self._path(path), body)

    def job(self, path: str, body: Mapping[str, Any]) -> Job:
        """Start a job by its address and body."""
        return Job(self.assay, self.post(path, body))

    # --- Texts and ratings --------------------------------------------------------------------------------------------

    def import_dataset(self, file: File, *, name: str, **fields: Any) -> Job:
        """Import items, references and outputs."""
        return self._upload("dataset-imports/", file, name=name, **fields)

    def import_ratings(
        self,
        dataset: str,
        *,
        name: str,
        file: File | None = None,
        judgements: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Job:
        """Import ratings made elsewhere as a closed campaign, from a file or as judgements.

        Raises
        ------
        ValueError
            If there are both or neither.
        """
        if (file is None) == (judgements is None):
            raise ValueError("file and judgements: exactly one of them is needed")
        if file is not None:
            return self._upload("rating-imports/", file, dataset=dataset, name=name, options=options)
        body = {"dataset": dataset, "name": name, "judgements": list(judgements or ())}
        return self.job("rating-imports/", body | ({"options": options} if options else {}))

    def import_scores(self, dataset: str, file: File, **fields: Any) -> list[dict[str, Any]]:
        """Import scores of a metric or a judge that were computed elsewhere; return the runs."""
        answer = self.assay.upload(self._path("score-imports/"), {"file": file}, dataset=dataset, **fields)
        return answer if isinstance(answer, list) else [answer]

    def items(self, dataset: str) -> Iterator[dict[str, Any]]:
        return self.rows(f"datasets/{dataset}/items/")

    def ratings(self, campaign: int) -> Iterator[dict[str, Any]]:
        return self.rows(f"campaigns/{campaign}/ratings/")

    def results(self, campaign: int) -> Any:
        """Return which system is better, by the ratings of a campaign."""
        return self.get(f"campaigns/{campaign}/results/")

    # --- Weights, scores, studies -------------------------------------------------------------------------------------

    def build_release(self, reference_set: str, **options: Any) -> Job:
        """Build a release of a reference set's weights."""
        return self.job(f"reference-sets/{reference_set}/releases/", options)

    def score(self, metric: str, **options: Any) -> Job:
        """Score systems by a metric. The same settings are computed once: the run that exists is returned."""
        return self.job("score-runs/", {"metric": metric, **options})

    def start_study(self, name: str, specification: Mapping[str, Any]) -> Job:
        """Ask how far metrics agree with the raters."""
        return self.job("studies/", {"name": name, "specification": dict(specification)})

    def _upload(self, path: str, file: File, **fields: Any) -> Job:
        return Job(self.assay, self.assay.upload(self._path(path), {"file": file}, **fields))

    def _path(self, path: str) -> str:
        return f"projects/{self.slug}/{path}"
