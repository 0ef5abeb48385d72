"""Releases: numbered, hashed, immutable snapshots of reference weights.

Content hash: SHA-256 over UTF-8 lines, each ended by a line feed. The first line is a JSON object that says how the
weights were made (format, method, parameters, exclusion rules, signature). Then one JSON array per weighted
reference, ordered by external id of the item, then by key of the text (both by code point):
``[external id, text key, weight, mean rating, judgements, standard error, low, high, is original]``. JSON has no
spaces, keys are sorted, text is not escaped beyond what JSON asks for, undefined is ``null``, and numbers are rounded
to 12 significant digits, so that the last bit of another processor's arithmetic does not matter.
"""

import hashlib
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
from annotation.core.progress import Progress, noop
from annotation.core.versions import code_version
from annotation.judgements.stand_ins import by_stand_ins, without_intervals
from annotation.models import Campaign, Item, JobState, Rater, Rating, ReferenceSet, Release, ReleaseWeight, User
from annotation.projects.services.audit import audit_record
from annotation.quality.selectors.checks import rater_names
from annotation.quality.selectors.decisions import excluded_raters
from annotation.rating.selectors.ratings import campaign_criteria
from annotation.rating.services.ratings import ratings_await
from annotation.references.releases.selectors.facts import judged_agreement
from annotation.references.releases.selectors.releases import (
    References,
    UsedRatings,
    last_check_answer_id,
    last_rating_id,
    references,
    registered_rules,
    release_campaigns,
    release_name,
    used_ratings,
)
from annotation.references.releases.services.evidence import evidence_columns, release_bins, reported_bins
from annotation.weighting.evidence import Evidence, response_evidence
from annotation.weighting.exclusion.listed import ExcludeExtra, ExcludeRaters, ExcludeRatings
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import ExclusionRule
from annotation.weighting.result import WeightResult
from annotation.weighting.scheme import Scheme
from annotation.weighting.schemes import DEFAULT_SCHEME, SCHEMES, get_scheme
from annotation.weighting.table import RatingTable, scale_is_open

STEPS = 5
LISTED_ITEMS = 100
HASH_FORMAT = "assay-release/1"
COMMON_PARAMETERS = {"n_bootstrap": 1000, "seed": 0}
MAX_BOOTSTRAP = 10_000
MAX_REASON = 1000


@dataclass(frozen=True, eq=False)
class Weighed:
    """The references of a set that have a weight, and everything the report says about the others."""

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

    Raters who are excluded in the set's campaigns at this moment are left out by a rule of their own, written down
    like any other, unless ``with_excluded``. ``with_registered`` adds the newest rules of each of the campaigns, those
    of the first campaign first. The campaigns are those that the set has at this moment, too.
    """
    # One at a time: numbers are given out, and the campaigns that are checked are those that are written down.
    ReferenceSet.objects.select_for_update().get(pk=reference_set.pk)
    campaigns = list(reference_set.campaigns.order_by("pk"))
    if not campaigns:
        raise AnnotationError(
            f"“{reference_set}” has no campaign: its weights were imported. Add a campaign to build a release."
        )
    if method not in SCHEMES:
        raise AnnotationError.at("method", f"Method is {method!r}; accepted: {', '.join(SCHEMES)}.")
    checked = _checked_parameters(reference_set, SCHEMES[method], parameters or {})
    asked = [*(_registered_rules(reference_set) if with_registered else ()), *exclusion_rules]
    rules = _checked_rules(reference_set, asked)
    if not with_excluded:
        rules = _with_decisions(reference_set, rules)
    highest = reference_set.releases.aggregate(highest=Max("number"))["highest"] or 0
    return Release.objects.create(
        reference_set=reference_set,
        number=highest + 1,
        method=method,
        parameters=checked,
        exclusion_rules=[rule.to_dict() for rule in rules],
        report={"campaigns": _named(campaigns)},
        progress_total=STEPS,
        requested_by=by,
    )


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
    Release.objects.filter(pk=release.pk).update(deprecated_at=Now(), deprecated_by=by, deprecation_reason=reason)
    _record(release, by, "release.deprecate", f"Deprecated {release}: {reason}", reason=reason)
    release.refresh_from_db()
    return release


@transaction.atomic
def release_restore(*, release: Release, by: User | None) -> Release:
    """Undo a deprecation. The audit log keeps it and its reason."""
    fresh = Release.objects.select_for_update().get(pk=release.pk)
    if fresh.deprecated_at is None:
        raise AnnotationError(f"{release} is not deprecated.")
    reason = fresh.deprecation_reason
    Release.objects.filter(pk=release.pk).update(deprecated_at=None, deprecated_by=None, deprecation_reason="")
    _record(release, by, "release.restore", f"Undid the deprecation of {release}", reason=reason)
    release.refresh_from_db()
    return release


def _record(release: Release, by: User | None, verb: str, summary: str, *, reason: str) -> None:
    about = {"release": release_name(release), "content_hash": release.content_hash, "reason": reason}
    audit_record(verb=verb, summary=summary, project=release.reference_set.project, by=by, data=about)


def content_hash(release: Release, rows: Iterable[Sequence[object]]) -> str:
    """The hash described at the top of this file; ``rows`` come ordered as it says."""
    header = {
        "format": HASH_FORMAT,
        "method": release.method,
        "parameters": release.parameters,
        "exclusion_rules": release.exclusion_rules,
        "signature": release.signature,
    }
    digest = hashlib.sha256(canonical_json(header) + b"\n")
    for row in rows:
        digest.update(canonical_json([_rounded(value) for value in row]) + b"\n")
    return digest.hexdigest()


def stored_content_hash(release: Release) -> str:
    """The hash of what the database holds now; equal to ``release.content_hash`` for as long as nothing was changed."""
    weights = release.weights.order_by().values_list(
        "item__external_id",
        "response__text_key",
        "weight",
        "rating_mean",
        "n_ratings",
        "standard_error",
        "low",
        "high",
        "is_original",
    )
    return content_hash(release, sorted(weights, key=lambda row: (row[0], row[1])))


# --- Checks -------------------------------------------------------------------------------------------


def _checked_parameters(reference_set: ReferenceSet, scheme: Scheme, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of the method, defaults filled in."""
    defaults: dict[str, Any] = {**COMMON_PARAMETERS, **scheme.defaults}
    unknown = sorted(set(given) - {*defaults, "criteria"})
    if unknown:
        accepted = ", ".join([*defaults, "criteria"])
        raise AnnotationError.at(
            "parameters", f"Parameter {unknown[0]!r} is not one of {scheme.key!r}; accepted: {accepted}."
        )
    chosen = {**defaults, **given}
    for name, most in (("n_bootstrap", MAX_BOOTSTRAP), ("seed", 2**63 - 1)):
        value = chosen[name]
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise AnnotationError.at(
                "parameters", f"Parameter {name!r} is {value!r}; accepted: a whole number, 0 to {most}."
            )
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
    """The rules, extra ratings always excluded first; raters and ratings they name exist."""
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
            askable = [name for name in rule.raters if "\x00" not in str(name)]  # PostgreSQL takes no such text
            raters = Rater.objects.filter(project=reference_set.project_id, pseudonym__in=askable)
            _check_named(rule.raters, raters.values_list("pseudonym", flat=True), rule)
        if isinstance(rule, ExcludeRatings):
            numbers = [number for number in rule.ratings if str(number).isdecimal()]
            found = Rating.objects.filter(campaign__in=reference_set.campaigns.all(), pk__in=numbers)
            _check_named(rule.ratings, found.values_list("pk", flat=True), rule)
    return [ExcludeExtra(), *rules]


def _registered_rules(reference_set: ReferenceSet) -> list[Mapping[str, Any]]:
    """The newest version of every campaign's rules, each rule once."""
    found: list[Mapping[str, Any]] = []
    for version in registered_rules(reference_set):
        found += [rule for rule in version.rules if rule not in found]
    return found


def _with_decisions(reference_set: ReferenceSet, rules: Sequence[ExclusionRule]) -> list[ExclusionRule]:
    """The rules, extra ratings first, then a rule that names who is excluded, as far as no other names them."""
    named = {str(name) for rule in rules if isinstance(rule, ExcludeRaters) for name in rule.raters}
    excluded = set(excluded_raters(reference_set.campaigns.all()).values_list("pseudonym", flat=True))
    left = sorted(excluded - named)
    return [*rules[:1], *([ExcludeRaters(raters=tuple(left))] if left else []), *rules[1:]]


def _check_named(named: Sequence[str | int], found: Iterable[object], rule: ExclusionRule) -> None:
    missing = sorted({str(name) for name in named} - {str(name) for name in found})
    if missing:
        listed = ", ".join(missing[:5]) + (" …" if len(missing) > 5 else "")
        what = "rater of this project" if isinstance(rule, ExcludeRaters) else "rating of this set's campaigns"
        raise AnnotationError.at("exclusion_rules", f"Exclusion rule {rule.name!r} names no {what}: {listed}.")


# --- Building --------------------------------------------------------------------------------------------------------


def _build(release: Release, claim: Claim) -> None:
    reference_set = release.reference_set
    campaigns = release_campaigns(release)  # those it was asked for with: the set may have gained one since
    with transaction.atomic():
        ratings_await(campaigns=campaigns)
        last, last_check = last_rating_id(campaigns), last_check_answer_id(campaigns)
    claim.progress(0, STEPS, "Finding the references")
    chosen = references(reference_set)
    claim.progress(1, STEPS, "Reading ratings")
    used = used_ratings(release, campaigns, chosen.response_id, last, last_check)
    claim.progress(2, STEPS, "Weighing, with intervals over raters")
    weighed = _weigh(release, chosen, used)
    release.signature = weighed.result.signature
    claim.progress(3, STEPS, "Writing the report")
    bins = release_bins(release, campaigns, used.judgements.low, used.judgements.high)
    report = _report(release, campaigns, weighed, last) | {"last_check_answer_id": last_check} | reported_bins(bins)
    rows = list(_weight_rows(weighed))
    claim.progress(4, STEPS, "Storing the weights")
    digest = content_hash(release, (row[1:] for row in rows))
    with transaction.atomic():
        claim.lock()
        _copy_weights(release, chosen, rows, response_evidence(weighed.table, bins))
        claim.finish(content_hash=digest, signature=release.signature, report=report, code_version=code_version())


def _weigh(release: Release, chosen: References, used: UsedRatings) -> Weighed:
    judged = used.judgements
    if not len(judged.value):
        n_read = len(used.read.value)
        raise AnnotationError(
            f"No rating counts for any of the {len(chosen.response_id)} references of “{release.reference_set}”: "
            f"{n_read} were read, {n_read - int(used.keep.sum())} of them excluded by rules, and "
            f"{judged.n_incomplete} judgements lack a criterion."
        )
    # Codes by name, not by database id: the same ratings imported elsewhere draw the same bootstrap.
    _, rater = np.unique(rater_names(judged.rater_id), return_inverse=True)
    by_id = np.argsort(chosen.response_id)
    response = by_id[np.searchsorted(chosen.response_id[by_id], judged.response_id)]
    table = RatingTable(response, rater, judged.value, n_responses=len(chosen.response_id))
    scheme = get_scheme(release.method)
    try:
        result = scheme.weights(
            table,
            judged.low,
            judged.high,
            n_bootstrap=release.parameters["n_bootstrap"],
            rng=np.random.default_rng(release.parameters["seed"]),
            **scheme.chosen(release.parameters),
        )
    except ValueError as error:
        raise AnnotationError(f"The weights cannot be computed: {error}.") from error
    result = without_intervals(result, response[by_stand_ins(judged.rater_id)])
    return Weighed(chosen, used, result, table)


def _weight_rows(weighed: Weighed) -> Iterable[tuple[Any, ...]]:
    """Per weighted reference its index, external id, text key, then the columns of ``_copy_weights`` from weight on."""
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
    columns = [
        "release_id",
        "item_id",
        "item_position",
        "response_id",
        "weight",
        "rating_mean",
        "n_ratings",
        "standard_error",
        "low",
        "high",
        "is_original",
        "rating_spread",
        "histogram",
    ]
    position = dict(Item.objects.filter(dataset=release.reference_set.dataset_id).values_list("pk", "position"))
    items, responses = chosen.item_id.tolist(), chosen.response_id.tolist()
    named = (
        (
            release.pk,
            items[index],
            position[items[index]],
            responses[index],
            *values,
            *evidence_columns(evidence, index),
        )
        for index, _, _, *values in rows
    )
    copy_rows(ReleaseWeight, columns, named)


def _rounded(value: object) -> object:
    return float(f"{value:.12g}") if isinstance(value, float) else value


# --- The report ------------------------------------------------------------------------------------------------------


def _report(release: Release, campaigns: Sequence[Campaign], weighed: Weighed, last: int) -> dict[str, Any]:
    result, used, has = weighed.result, weighed.used, weighed.has_weight
    weights = result.weights[has]
    reasons, n_reasons = np.unique(result.reasons[~has], return_counts=True)
    spans_zero = (result.low[has] <= 0) & (result.high[has] >= 0)
    ends = [used.judgements.low, used.judgements.high]
    return {
        "campaigns": _named(campaigns),
        "criteria": used.criteria,
        "scale": [] if scale_is_open(*ends) else ends,
        "last_rating_id": last,
        "references": {
            "all": len(has),
            "weighted": int(has.sum()),
            "originals": int(weighed.references.is_original.sum()),
            "without_weight": dict(zip(reasons.tolist(), n_reasons.tolist(), strict=True)),
            "positive": int((weights > 0).sum()),
            "zero": int((weights == 0).sum()),
            "negative": int((weights < 0).sum()),
            "interval_spans_zero": int(spans_zero.sum()),
            "without_interval": int(np.isnan(result.low[has]).sum()),
        },
        "ratings": _report_ratings(release, weighed),
        "agreement": asdict(judged_agreement(used.judgements)),
        "items": _report_items(release, weighed),
    }


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


def _report_items(release: Release, weighed: Weighed) -> dict[str, Any]:
    chosen, result, has = weighed.references, weighed.result, weighed.has_weight
    order = np.flatnonzero(has)
    items, code = np.unique(chosen.item_id[order], return_inverse=True)
    weights = result.weights[order]
    best = np.full(len(items), -np.inf)
    np.maximum.at(best, code, weights)
    is_best = weights == best[code]
    spans_zero = (result.low[order] <= 0) & (result.high[order] >= 0)
    external = dict(zip(chosen.item_id.tolist(), chosen.external_id, strict=True))
    without = [external[number] for number in items[best <= 0].tolist()]
    return {
        "all": release.reference_set.dataset.items.count(),
        "with_reference": len(np.unique(chosen.item_id)),
        "with_weight": len(items),
        "without_positive": len(without),
        "without_positive_listed": sorted(without)[:LISTED_ITEMS],
        "tied_best": int((np.bincount(code, is_best, minlength=len(items)) > 1).sum()),
        "best_interval_spans_zero": len(np.unique(code[is_best & spans_zero])),
    }
