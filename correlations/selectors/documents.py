"""The JSON reports of studies."""

from collections.abc import Mapping
from typing import Any

from annotation.models import Release
from annotation.references.releases.selectors.releases import release_name
from correlations.models import ParameterStudy, Study
from correlations.results.parameters import ParameterResult
from correlations.results.report import ParameterDocument, Report, StudyDocument
from correlations.results.study import StudyResult
from correlations.specification import NAMED, Specification
from metrics.scoring import VERSION


def study_document(study: Study, result: StudyResult) -> StudyDocument:
    """Return all that is needed to compute a finished study again, and its result."""
    runs = {run.number: run.signature_hash for run in study.score_runs.all()}
    return StudyDocument(
        **_shared(study, result),
        runs=[
            {
                "metric": row.label,
                "references": row.subset,
                "signature": row.signature,
                "signature_hash": None if row.run is None else runs.get(row.run),
            }
            for row in result.rows
        ],
        seed=result.seed,
    )


def parameter_document(study: ParameterStudy, result: ParameterResult) -> ParameterDocument:
    """Return all that is needed to compute a finished parameter study again, and its result."""
    return ParameterDocument(**_shared(study, result))


def stored_document(study: Study | ParameterStudy) -> Report:
    """Return the report of a finished study of either kind."""
    if isinstance(study, Study):
        return study_document(study, study.read_result())
    return parameter_document(study, study.read_result())


def _shared(study: Study | ParameterStudy, result: StudyResult | ParameterResult) -> dict[str, Any]:
    named = study.specification[NAMED]
    marks = named.get("ratings", {})
    return {
        "assay": VERSION,
        "project": {"name": study.project.name, "slug": study.project.slug},
        "dataset": {"name": study.dataset.name, "slug": study.dataset.slug},
        "study": {
            "name": study.name,
            "signature": study.signature,
            "created_at": study.created_at.isoformat(),
            "finished_at": study.finished_at.isoformat() if study.finished_at else None,
        },
        "specification": Specification.requested(study.specification),
        "named": named,
        "releases": [_release(release) for release in filter(None, [study.release])],
        "campaigns": [
            {"name": campaign.name, "design_hash": campaign.design_hash, **_ratings(marks.get(campaign.name))}
            for campaign in study.campaigns.order_by("name")
        ],
        "versions": vars(result.versions),
        "result": study.result or {},
    }


def _release(release: Release) -> dict[str, Any]:
    return {
        "name": release_name(release),
        "content_hash": release.content_hash,
        "method": release.method,
        "parameters": release.parameters,
    }


def _ratings(mark: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"ratings": mark["count"], "ratings_sha256": mark["sha256"]} if mark else {"ratings": 0}
