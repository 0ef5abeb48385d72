"""References of a release that an output should not match, which metrics without weights reward all the same."""

from django.db.models import Q
from django.utils.html import format_html

from annotation.core.caching import cached
from annotation.core.numbers import counted
from annotation.models import Release, SourceKind
from metrics.models import ScoreRun
from metrics.selectors.runs import reads_references, run_metric
from metrics.subsets import Subset

GOOD = "w>0"  # references that raters found good
KEPT_SECONDS = 24 * 3600  # a release never changes


def has_bad_references(release: Release) -> bool:
    """Return whether raters found a reference of a finished release bad, or one is random."""
    bad = Q(weight__lt=0) | Q(response__sources__kind=SourceKind.RANDOM)
    key = f"bad-references-of-release-{release.pk}-{release.content_hash}"
    return cached(key, lambda: release.weights.filter(bad).exists(), KEPT_SECONDS)


def rewards_bad(run: ScoreRun) -> bool:
    """Return whether a run counts matches with references that raters found bad as it counts others."""
    metric = run_metric(run)
    if run.release is None or metric is None or metric.needs_weights or not reads_references(run):
        return False
    return Subset.from_mapping(run.subset).kind == "all" and has_bad_references(run.release)


def bad_references_warning(release: Release, *, one_metric: bool) -> str:
    """Return what speaks against all references of a release and which to take instead; empty if nothing does.

    ``one_metric``: for a single metric, which reads no weights; else for several, of which ΔBLEU may be one.
    """
    negative, random = Q(weight__lt=0), Q(response__sources__kind=SourceKind.RANDOM)
    has_negative, has_random = (release.weights.filter(each).exists() for each in (negative, random))
    if not (has_negative or has_random):
        return ""
    n = release.weights.filter(negative | random).order_by().values("pk").distinct().count()
    kinds = " or ".join([*(["random"] if has_random else []), *(["of negative weight"] if has_negative else [])])
    if has_random:
        kinds = f"that {'is' if n == 1 else 'are'} {kinds}"
    has = format_html("“all” has {} {}.", counted(n, "reference"), kinds)
    if one_metric:
        return has + format_html(
            " This metric reads no weights: it would reward an output for matching them, too. <code>{}</code> are the "
            "references that raters found good.",
            GOOD,
        )
    return has + format_html(
        " ΔBLEU counts matches with them against an output (Galley et al., 2015). Metrics that read no weights, such "
        "as BLEU and chrF, would reward such matches, so they have <code>{}</code>, the references that raters found "
        "good.",
        GOOD,
    )
