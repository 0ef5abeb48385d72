"""Releases: numbered, hashed, immutable snapshots of reference weights.

Content hash: SHA-256 over UTF-8 lines, each ended by a line feed. The first line is a JSON object that says how the
weights were made (format, method, parameters, exclusion rules, signature). Then one JSON array per weighted
reference, ordered by external id of the item, then by key of the text (both by code point):
``[external id, text key, weight, mean rating, judgements, standard error, low, high, is original]``. JSON has no
spaces, keys are sorted, text is not escaped beyond what JSON asks for, undefined is ``null``, and numbers are rounded
to 12 significant digits, so that the last bit of another processor's arithmetic does not matter.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from annotation.core.canonical import canonical_json
from annotation.core.copying import copy_rows
from annotation.core.errors import AnnotationError
from annotation.core.jobs import Claim, job_run
from annotation.core.numbers import finite_or_none
from annotation.core.parameters import is_whole
from annotation.core.progress import Progress, noop
from annotation.core.versions import code_version
from annotation.judgements.stand_ins import by_stand_ins, without_intervals
from annotation.models import (
    Campaign,
    Criterion,
    Item,
    JobState,
    Rater,
    Rating,
    ReferenceSet,
    Release,
    ReleaseWeight,
    User,
)
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.checks import rater_names
from annotation.quality.selectors.decisions import excluded_raters
from annotation.rating.selectors.ratings import campaign_criteria, scale_groups
from annotation.rating.services.ratings import ratings_await
from annotation.references.releases.selectors import releases as selectors
from annotation.references.releases.selectors.facts import judged_agreement
from annotation.references.releases.selectors.releases import HASHED_COLUMNS, References, UsedRatings
from annotation.references.releases.services.reports import weight_counts
from annotation.weighting.evidence import Bins, Evidence, histogram_bins, response_evidence
from annotation.weighting.exclusion.listed import ExcludeExtra, ExcludeRaters, ExcludeRatings
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES, get_scheme
from annotation.weighting.table import RatingTable, scale_is_open

STEPS = 5
STORED_COLUMNS = ("release_id", "item_id", "item_position", "response_id")
HASH_FORMAT = "assay-release/1"
MAX_REASON = 1000


@dataclass(frozen=True, eq=False)
class Weighed:
    """The references of a set with their weights, and everything the report says about those without one."""

    references: References
    used: UsedRatings
    result: WeightResult
    table: RatingTable

    @property
    def has_weight(self) -> np.ndarray:
        return np.isfinite(self.result.weights)


@transaction.atomic
def release_create(
    *,
    reference_set: ReferenceSet,
    method: str = DEFAULT_SCHEME,
    parameters: Mapping[str, Any] | None = None,
    exclusion_rules: Sequence[Mapping[str, Any]] = (),
    with_excluded: bool = False,
    with_registered: bool = False,
    by: User | None = None,
) -> Release:
    """Queue the set's next release. Method, parameters and rules are checked now; the weights follow on a worker.

    An added rule names the raters who are excluded in the set's campaigns now, unless ``with_excluded``.
    ``with_registered`` adds the newest rules of each campaign, those of the first campaign first. The release reads
    the campaigns that the set has now.
    """
    number = next_number(reference_set)
    campaigns = list(reference_set.campaigns.order_by("pk"))
    if not campaigns:
        raise AnnotationError(
            f"“{reference_set}” has no campaign: its weights were imported. Add a campaign to build a release."
        )
    if method not in SCHEMES:
        raise AnnotationError.at("method", f"Method is {method!r}; accepted: {', '.join(SCHEMES)}.")
    checked = _checked_parameters(reference_set, SCHEMES[method], parameters or {})
    rules = _checked_rules(
        reference_set, [*(_registered_rules(reference_set) if with_registered else ()), *exclusion_rules]
    )
    if not with_excluded:
        rules = _with_excluded_raters(reference_set, rules)
    return Release.objects.create(
        reference_set=reference_set,
        number=number,
        method=method,
        parameters=checked,
        exclusion_rules=[rule.to_dict() for rule in rules],
        report={"campaigns": _named(campaigns)},
        progress_total=STEPS,
        requested_by=by,
    )


def next_number(reference_set: ReferenceSet) -> int:
    """Return the number of a set's next release, and lock the set until it is stored."""
    ReferenceSet.objects.select_for_update().get(pk=reference_set.pk)
    return (reference_set.releases.aggregate(highest=Max("number"))["highest"] or 0) + 1


def release_build(*, release_id: int, progress: Progress = noop) -> None:
    """Compute a queued release. Safe to call twice: one call claims it, the weights appear together with ``done``."""
    job_run(Release, release_id, _build, progress=progress)


@transaction.atomic
def release_deprecate(*, release: Release, reason: str, by: User | None) -> Release:
    """Mark a release as one that should no longer be used, with the reason. Nothing is deleted."""
    reason = reason.strip()
    if not 1 <= len(reason) <= MAX_REASON:
        raise AnnotationError.at("reason", f"Found {len(reason)} characters; accepted: 1 to {MAX_REASON}.")
    fresh = Release.objects.select_for_update().get(pk=release.pk)
    if fresh.state != JobState.DONE:
        state = fresh.get_state_display().lower()
        raise AnnotationError(f"{release} is {state}; accepted: a finished release.")
    if fresh.deprecated_at is not None:
        raise AnnotationError(f"{release} is deprecated already: {fresh.deprecation_reason}")
    fields = {"deprecated_at": Now(), "deprecated_by": by, "deprecation_reason": reason}
    _record(release, by, "release.deprecate", f"Deprecated {release}: {reason}", reason, fields)
    return release


@transaction.atomic
def release_restore(*, release: Release, by: User | None) -> Release:
    """Undo a deprecation. The audit log keeps it and its reason."""
    fresh = Release.objects.select_for_update().get(pk=release.pk)
    if fresh.deprecated_at is None:
        raise AnnotationError(f"{release} is not deprecated.")
    fields = {"deprecated_at": None, "deprecated_by": None, "deprecation_reason": ""}
    summary = f"Undid the deprecation of {release}"
    _record(release, by, "release.restore", summary, fresh.deprecation_reason, fields)
    return release


def _record(
    release: Release, by: User | None, verb: str, summary: str, reason: str, fields: Mapping[str, object]
) -> None:
    """Change a release, with an entry in the audit log."""
    Release.objects.filter(pk=release.pk).update(**fields)
    about = {"release": selectors.release_name(release), "content_hash": release.content_hash, "reason": reason}
    audit_record(verb=verb, summary=summary, project=release.reference_set.project, by=by, data=about)
    release.refresh_from_db()


def content_hash(release: Release, rows: Iterable[Sequence[object]]) -> str:
    """Return the hash described at the top of this file for rows in the order that it describes."""
    header = {
        "format": HASH_FORMAT,
        "method": release.method,
        "parameters": release.parameters,
        # Elsewhere, ratings that rules name have other numbers than those that were published.
        "exclusion_rules": release.report.get("published_rules", release.exclusion_rules),
        "signature": release.signature,
    }
    digest = hashlib.sha256(canonical_json(header) + b"\n")
    for row in rows:
        digest.update(canonical_json([_rounded(value) for value in row]) + b"\n")
    return digest.hexdigest()


def stored_content_hash(release: Release) -> str:
    """Return the hash of the stored weights: equal to ``release.content_hash`` unless the database was changed."""
    weights = release.weights.order_by().values_list("item__external_id", "response__text_key", *HASHED_COLUMNS)
    return content_hash(release, sorted(weights, key=lambda row: (row[0], row[1])))


# --- Checks -------------------------------------------------------------------------------------------


def _checked_parameters(reference_set: ReferenceSet, scheme: Scheme, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of the method, with defaults filled in."""
    defaults: dict[str, Any] = {**scheme.defaults}
    unknown = sorted(set(given) - {*defaults, "criteria"})
    if unknown:
        accepted = ", ".join([*defaults, "criteria"])
        raise AnnotationError.at(
            "parameters", f"Parameter {unknown[0]!r} is not one of {scheme.key!r}; accepted: {accepted}."
        )
    chosen = {**defaults, **given}
    for parameter in scheme.parameters:
        try:
            parameter.check(chosen[parameter.name])
        except ValueError as error:
            raise AnnotationError.at("parameters", f"Parameter {error}.") from error
        chosen[parameter.name] = float(chosen[parameter.name])
    names = chosen.pop("criteria", None)
    if names:
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise AnnotationError.at("parameters", f"Parameter 'criteria' is {names!r}; accepted: a list of names.")
        try:
            campaign_criteria(reference_set.campaigns.all(), names)
        except AnnotationError as error:
            raise AnnotationError.at("parameters", error.message) from error
        chosen["criteria"] = sorted(set(names))
    return chosen


def _checked_rules(reference_set: ReferenceSet, given: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Return the rules, extra ratings always excluded first; refuse raters and ratings that do not exist."""
    if not isinstance(given, Sequence) or not all(isinstance(record, Mapping) for record in given):
        raise AnnotationError.at(
            "exclusion_rules", 'The rules are not a list of records; accepted: [{"rule": …, "version": 1, …}].'
        )
    try:
        rules = [rule for rule in rules_from_data(given) if not isinstance(rule, ExcludeExtra)]
    except ValueError as error:
        raise AnnotationError.at("exclusion_rules", f"{error}.") from error
    for rule in rules:
        if isinstance(rule, ExcludeRaters):
            storable = [name for name in rule.raters if "\x00" not in str(name)]  # PostgreSQL takes no such text
            raters = Rater.objects.filter(project=reference_set.project_id, pseudonym__in=storable)
            _check_named(rule.raters, raters.values_list("pseudonym", flat=True), rule)
        if isinstance(rule, ExcludeRatings):
            numbers = [number for number in rule.ratings if is_whole(str(number))]
            ratings = Rating.objects.filter(campaign__in=reference_set.campaigns.all(), pk__in=numbers)
            _check_named(rule.ratings, selectors.numbers_of_judgements(ratings), rule)
    return [ExcludeExtra(), *rules]


def _registered_rules(reference_set: ReferenceSet) -> list[Mapping[str, Any]]:
    """Return the newest version of every campaign's rules, each rule once."""
    rules: list[Mapping[str, Any]] = []
    for version in selectors.registered_rules(reference_set):
        rules += [rule for rule in version.rules if rule not in rules]
    return rules


def _with_excluded_raters(reference_set: ReferenceSet, rules: Sequence[ExclusionRule]) -> list[ExclusionRule]:
    """Return the rules and, second, one that names the excluded raters whom no other rule names."""
    named = {str(name) for rule in rules if isinstance(rule, ExcludeRaters) for name in rule.raters}
    excluded = set(excluded_raters(reference_set.campaigns.all()).values_list("pseudonym", flat=True))
    unnamed = sorted(excluded - named)
    return [*rules[:1], *([ExcludeRaters(raters=tuple(unnamed))] if unnamed else []), *rules[1:]]


def _check_named(names: Sequence[str | int], existing: Iterable[object], rule: ExclusionRule) -> None:
    missing = sorted({str(name) for name in names} - {str(name) for name in existing})
    if missing:
        listed = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        what = "rater of this project" if isinstance(rule, ExcludeRaters) else "rating of this set's campaigns"
        raise AnnotationError.at("exclusion_rules", f"Exclusion rule {rule.name!r} names no {what}: {listed}.")


# --- Building --------------------------------------------------------------------------------------------------------


def _build(release: Release, claim: Claim) -> None:
    reference_set = release.reference_set
    # The set may have gained a campaign since the release was requested.
    campaigns = selectors.release_campaigns(release)
    with transaction.atomic():
        ratings_await(campaigns=campaigns)
        last = selectors.last_ids(campaigns)
    claim.progress(0, STEPS, "Finding the references")
    chosen = selectors.references(reference_set)
    claim.progress(1, STEPS, "Reading ratings")
    used = selectors.used_ratings(release, chosen.response_id, last)
    claim.progress(2, STEPS, "Weighing, with intervals over raters")
    weighed = _weigh(release, chosen, used)
    release.signature = weighed.result.signature
    claim.progress(3, STEPS, "Writing the report")
    bins = _bins(release, campaigns, used)
    histogram = {"kind": bins.kind, "labels": list(bins.labels)}
    report = _report(release, campaigns, weighed) | last | {"histogram": histogram}
    rows = list(_weight_rows(weighed))
    claim.progress(4, STEPS, "Storing the weights")
    digest = content_hash(release, (row[1:] for row in rows))
    with transaction.atomic():
        claim.lock()
        _copy_weights(release, chosen, rows, response_evidence(weighed.table, bins))
        claim.finish(content_hash=digest, signature=release.signature, report=report, code_version=code_version())


def _bins(release: Release, campaigns: Sequence[Campaign], used: UsedRatings) -> Bins:
    """Return the bins of a release's histograms: of equal width after a slider, or if the criteria's scales differ."""
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    has_points = len(scale_groups(criteria)) == 1 and all(criterion.scale.has_points for criterion in criteria)
    parts = max(Counter(criterion.campaign_id for criterion in criteria).values(), default=1)
    return histogram_bins(used.judgements.low, used.judgements.high, has_points=has_points, parts=parts)


def _weigh(release: Release, chosen: References, used: UsedRatings) -> Weighed:
    judged = used.judgements
    if not len(judged.value):
        n_read = len(used.read.value)
        raise AnnotationError(
            f"No rating counts for any of the {len(chosen.response_id)} references of “{release.reference_set}”: "
            f"{n_read} were read, {n_read - int(used.keep.sum())} of them excluded by rules, and "
            f"{judged.n_incomplete} judgements lack a criterion."
        )
    # Codes by name, not by database id: the same ratings imported elsewhere give the same groups of raters.
    _, rater = np.unique(rater_names(judged.rater_id), return_inverse=True)
    by_id = np.argsort(chosen.response_id)
    response = by_id[np.searchsorted(chosen.response_id[by_id], judged.response_id)]
    table = RatingTable(response, rater, judged.value, n_responses=len(chosen.response_id))
    scheme = get_scheme(release.method)
    try:
        result = scheme.weights(table, judged.low, judged.high, **scheme.chosen(release.parameters))
    except ValueError as error:
        raise AnnotationError(f"The weights cannot be computed: {error}.") from error
    result = without_intervals(result, response[by_stand_ins(judged.rater_id)])
    return Weighed(chosen, used, result, table)


def _weight_rows(weighed: Weighed) -> Iterable[tuple[Any, ...]]:
    """Yield each weighted reference's index, external id of its item, text key, and values of ``HASHED_COLUMNS``."""
    chosen, result = weighed.references, weighed.result
    for index in np.flatnonzero(weighed.has_weight).tolist():
        yield (
            index,
            chosen.external_id[index],
            chosen.text_key[index],
            float(result.weights[index]) + 0.0,  # no -0.0
            float(result.mean[index]),
            int(result.n[index]),
            finite_or_none(result.standard_error[index]),
            finite_or_none(result.low[index]),
            finite_or_none(result.high[index]),
            bool(chosen.is_original[index]),
        )


def _copy_weights(release: Release, chosen: References, rows: Sequence[tuple[Any, ...]], evidence: Evidence) -> None:
    position = dict(Item.objects.filter(dataset=release.reference_set.dataset_id).values_list("pk", "position"))
    items, responses = chosen.item_id.tolist(), chosen.response_id.tolist()
    stored = (
        (
            release.pk,
            items[index],
            position[items[index]],
            responses[index],
            *values,
            finite_or_none(evidence.spread[index]),
            evidence.counts[index].tolist(),
        )
        for index, _, _, *values in rows
    )
    copy_rows(ReleaseWeight, [*STORED_COLUMNS, *HASHED_COLUMNS, "rating_spread", "histogram"], stored)


def _rounded(value: object) -> object:
    return float(f"{value:.12g}") if isinstance(value, float) else value


# --- The report ------------------------------------------------------------------------------------------------------


def _report(release: Release, campaigns: Sequence[Campaign], weighed: Weighed) -> dict[str, Any]:
    chosen, result, used, has = weighed.references, weighed.result, weighed.used, weighed.has_weight
    reasons, n_reasons = np.unique(result.reasons[~has], return_counts=True)
    ends = [used.judgements.low, used.judgements.high]
    columns = [result.weights[has], result.low[has], result.high[has]]
    names = [chosen.external_id[index] for index in np.flatnonzero(has).tolist()]
    counts = weight_counts(chosen.item_id[has].tolist(), names, columns)
    references = {
        "all": len(has),
        "originals": int(chosen.is_original.sum()),
        "without_weight": dict(zip(reasons.tolist(), n_reasons.tolist(), strict=True)),
    }
    items = {"all": release.reference_set.dataset.items.count(), "with_reference": len(np.unique(chosen.item_id))}
    return {
        "campaigns": _named(campaigns),
        "criteria": used.criteria,
        "scale": [] if scale_is_open(*ends) else ends,
        **_scales(release, campaigns),
        "references": references | counts["references"],
        "ratings": _report_ratings(release, weighed),
        "agreement": asdict(judged_agreement(used.judgements)),
        "items": items | counts["items"],
    }


def _scales(release: Release, campaigns: Sequence[Campaign]) -> dict[str, Any]:
    """Return the scale of each criterion, in words, if they differ; else nothing."""
    criteria = campaign_criteria(campaigns, release.parameters.get("criteria"))
    if len(scale_groups(criteria)) == 1:
        return {}
    by_name: dict[str, list[Criterion]] = {}
    for criterion in criteria:
        by_name.setdefault(criterion.name, []).append(criterion)
    return {"scales": {name: " or ".join(scale_groups(same)) for name, same in sorted(by_name.items())}}


def _named(campaigns: Sequence[Campaign]) -> list[dict[str, Any]]:
    ordered = sorted(campaigns, key=lambda campaign: campaign.pk)
    return [{"id": campaign.pk, "name": campaign.name} for campaign in ordered]


def _report_ratings(release: Release, weighed: Weighed) -> dict[str, Any]:
    used, judged = weighed.used, weighed.used.judgements
    pairs = np.unique(weighed.table.response * weighed.table.n_raters + weighed.table.rater)
    return {
        "read": len(used.read.value),
        "kept": int(used.keep.sum()),
        "excluded": [
            {"rule": rule, "ratings": count} for rule, count in zip(release.exclusion_rules, used.counts, strict=True)
        ],
        "judgements": len(judged.value),
        "incomplete_judgements": judged.n_incomplete,
        "repeated_judgements": len(judged.value) - len(pairs),
        "raters": weighed.table.n_raters,
    }
