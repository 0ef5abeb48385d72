"""The JSON report of a study."""

from annotation.references.releases.selectors.releases import release_name
from correlations.models import Study
from correlations.results.report import StudyDocument
from correlations.results.study import StudyResult
from correlations.specification import NAMED, Specification
from metrics.scoring import VERSION


def study_document(study: Study, result: StudyResult) -> StudyDocument:
    """Return all that is needed to compute a finished study again, and its result."""
    named = study.specification[NAMED]
    marks = named.get("ratings", {})
    runs = {run.number: run.signature_hash for run in study.score_runs.all()}
    return StudyDocument(
        assay=VERSION,
        project={"name": study.project.name, "slug": study.project.slug},
        dataset={"name": study.dataset.name, "slug": study.dataset.slug},
        study={
            "name": study.name,
            "signature": study.signature,
            "created_at": study.created_at.isoformat(),
            "finished_at": study.finished_at.isoformat() if study.finished_at else None,
        },
        specification=Specification.requested(study.specification),
        named=named,
        releases=[
            {
                "name": release_name(release),
                "content_hash": release.content_hash,
                "method": release.method,
                "parameters": release.parameters,
            }
            for release in filter(None, [study.release])
        ],
        campaigns=[
            {"name": campaign.name, "design_hash": campaign.design_hash, **_ratings(marks.get(campaign.name))}
            for campaign in study.campaigns.order_by("name")
        ],
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
        versions=vars(result.versions),
        result=study.result or {},
    )


def _ratings(mark: dict[str, object] | None) -> dict[str, object]:
    return {"ratings": mark["count"], "ratings_sha256": mark["sha256"]} if mark else {"ratings": 0}
