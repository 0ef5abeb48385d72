"""Evidence beside weights: spread and histogram of the judgements. It follows from them: it is not hashed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.db import connection, transaction

from annotation.core.errors import AnnotationError
from annotation.models import Campaign, JobState, Release
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.references.releases.selectors.releases import release_campaigns, release_judgements
from annotation.weighting import RatingTable
from annotation.weighting.evidence import Bins, Evidence, histogram_bins, response_evidence

REPORTED = "histogram"  # where a release's report says what the bins are


def release_bins(release: Release, campaigns: Sequence[Campaign], low: float, high: float) -> Bins:
    """The bins of a release's histograms: equal ones where any criterion was answered on a slider."""
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    return histogram_bins(low, high, has_points=all(one.scale.has_points for one in criteria))


def reported_bins(bins: Bins) -> dict[str, Any]:
    """What a report says of them."""
    return {REPORTED: {"kind": bins.kind, "labels": list(bins.labels)}}


def evidence_columns(evidence: Evidence, index: int) -> tuple[float | None, list[int]]:
    """The columns ``rating_spread`` and ``histogram`` of one response."""
    spread = float(evidence.spread[index])
    return (spread if np.isfinite(spread) else None), evidence.counts[index].tolist()


def releases_without_evidence() -> list[int]:
    """Finished releases from before evidence was stored; weights made elsewhere have none."""
    found = Release.objects.filter(state=JobState.DONE).exclude(report__has_key=REPORTED)
    return [release.pk for release in found.order_by("pk") if not release.is_imported]


@transaction.atomic
def release_evidence_fill(*, release_id: int) -> bool:
    """Give a finished release the evidence it lacks; False where there is nothing to do, or somebody else is at it."""
    release = (
        Release.objects.select_for_update(skip_locked=True, of=("self",))
        .select_related("reference_set")
        .filter(pk=release_id, state=JobState.DONE)
        .first()
    )
    if release is None or release.is_imported or REPORTED in release.report:
        return False
    try:
        bins = _fill(release)
    except AnnotationError as error:  # as where its campaigns are gone: said once, not tried for ever
        reported: Mapping[str, Any] = {REPORTED: None, "histogram_missing": error.message}
    else:
        reported = reported_bins(bins)
    Release.objects.filter(pk=release.pk).update(report=release.report | reported)
    return True


def _fill(release: Release) -> Bins:
    judged = release_judgements(release)
    bins = release_bins(release, release_campaigns(release), judged.low, judged.high)
    responses, code = np.unique(judged.response_id, return_inverse=True)
    evidence = response_evidence(RatingTable(code, np.zeros(len(code), dtype=np.int64), judged.value), bins)
    rows: Iterator[tuple[object, ...]] = (
        (response, *evidence_columns(evidence, index)) for index, response in enumerate(responses.tolist())
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE assay_evidence (response_id bigint, spread float8, histogram integer[]) "
            "ON COMMIT DROP"
        )
        with cursor.copy("COPY assay_evidence FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute(
            "UPDATE annotation_releaseweight AS weight SET rating_spread = found.spread, histogram = found.histogram "
            "FROM assay_evidence AS found WHERE weight.release_id = %s AND weight.response_id = found.response_id "
            "AND weight.histogram IS NULL",
            [release.pk],
        )
        cursor.execute("DROP TABLE assay_evidence")
    return bins
