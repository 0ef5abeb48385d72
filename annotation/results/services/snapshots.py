"""Results of many ratings, computed by a worker and stored for the pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from annotation.core import sql
from annotation.core.turns import RESULTS
from annotation.models import Campaign, ResultSnapshot
from annotation.quality.selectors.monitoring.stored import plain
from annotation.results.selectors.stored import digest, logs_version, specification
from annotation.results.selectors.verdicts import compute_results


@transaction.atomic
def snapshot_request(*, campaigns: Sequence[Campaign], filters: Mapping[str, Any]) -> ResultSnapshot:
    """Note that results are wanted; the caller hands them to a worker."""
    what = specification(campaigns, filters)
    snapshot, _ = ResultSnapshot.objects.update_or_create(
        project=campaigns[0].project, key=digest(what), defaults={"specification": what, "requested_at": Now()}
    )
    return snapshot


@transaction.atomic
def snapshot_compute(*, snapshot_id: int) -> bool:
    """Compute and store the results; return False if they are current, are gone, or another worker computes them."""
    (is_locked,) = sql.row("SELECT pg_try_advisory_xact_lock(%s, %s)", [RESULTS, snapshot_id % 2**31])
    snapshot = ResultSnapshot.objects.filter(pk=snapshot_id).first() if is_locked else None
    if snapshot is None:
        return False
    what = snapshot.specification
    campaigns = list(Campaign.objects.filter(pk__in=what["campaigns"]).select_related("dataset"))
    version = logs_version(campaigns)
    if not campaigns or snapshot.version == version:
        return False
    snapshot.content = plain(compute_results(campaigns, what["filters"]))
    snapshot.version = version
    snapshot.save(update_fields=["content", "version"])
    ResultSnapshot.objects.filter(pk=snapshot_id).update(computed_at=Now())
    return True
