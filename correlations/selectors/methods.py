"""The paragraph for a paper's methods section that says how a study was computed."""

from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.models import Criterion
from annotation.rating.selectors.ratings import scale_groups
from correlations.models import ParameterStudy, Study
from correlations.results.parameters import ParameterResult
from correlations.results.study import StudyResult
from correlations.selectors.ceilings import raters_are_known
from correlations.selectors.settings_words import own_settings
from correlations.specification import ORIENTATIONS, REMAINDERS


def study_methods(study: Study, result: StudyResult) -> str:
    """Return the paragraph for a study of metrics."""
    spec, counts = study.specification, result.counts
    plural = "" if counts.raters_excluded == 1 else "s"
    excluded = f", {counts.raters_excluded:,} excluded one{plural} left out," if counts.raters_excluded else ""
    coefficients = enumerated([entry.name for entry in result.entries])
    any_order = any("max_order" in entry.get("parameters", {}) for entry in spec["metrics"])
    text = (
        f"Metrics were correlated with {counts.judgements:,} human judgements{_by_raters(result)}{excluded} "
        f"(mean of {averaged_criteria(study)}) over sampled observation units (Galley et al., 2015, section 5). "
        f"For each of {counts.pairs} pairs of {counts.systems} systems, the items on which both outputs are rated and "
        f"the metric is defined were shuffled and cut into units of {spec['unit_size']} "
        f"({REMAINDERS[spec['remainder']].sentence}); an observation is a unit's "
        f"difference in metric score and its difference in mean rating{ORIENTATIONS[spec['orientation']].sentence}. "
        f"{coefficients} over all observations {'was' if len(result.entries) == 1 else 'were'} averaged over "
        f"{counted(result.assignments, 'random order')} of the items, the same for every metric. "
        "Over larger units coefficients are usually higher: these compare with those over units of "
        f"{spec['unit_size']} only. "
        f"{result.items.used:,} items were used and {result.items.left_out:,} left out{_by_metric(result)}. "
        f"Texts were {'lowercased and ' if spec['lowercase'] else ''}tokenised with “{spec['tokenize']}”"
        f"{'; n-grams up to order ' + str(spec['order']) if any_order else ''}{own_settings(spec)}."
    )
    sentences = [text]
    if any(row.negated for row in result.rows):
        sentences.append("Metrics whose low scores are the better ones enter with their sign turned.")
    if spec["release"]:
        sentences.append(
            f"References and weights: release {spec['release']} ({counts.references:,} references, "
            f"{counts.references_negative:,} of negative weight)."
        )
    elif counts.references:
        sentences.append(f"References: the data set's own ({counts.references:,}), all alike.")
    if spec["bootstrap"] >= 2:
        sentences.append(
            f"Bootstrap intervals are 95% percentile intervals over {spec['bootstrap']:,} replicates of whole items; "
            "the paper's interval is Fisher's z with mirrored observations counted as independent."
        )
    sentences.append(provenance(study, spec["seed"], result.versions.assay))
    return " ".join(sentences)


def _by_metric(result: StudyResult) -> str:
    """Return how many of the items each metric has, if some have fewer."""
    fewest, most = min(row.items for row in result.rows), max(row.items for row in result.rows)
    if fewest == result.items.used:
        return ""
    number = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"; a metric is compared with the raters on the {number} of them that it could score"


def _by_raters(result: StudyResult) -> str:
    if raters_are_known(result):
        return f" by {counted(result.counts.raters, 'rater')}"
    return ", medians or means of raters who are not known,"


def raters_in_words(study: ParameterStudy, n: int) -> str:
    """Return the number of raters, or that it is not known: medians or means were imported."""
    is_unknown = any(campaign.unknown_raters for campaign in study.campaigns.all())
    return "raters who are not known" if is_unknown else counted(n, "rater")


def parameter_study_methods(study: ParameterStudy, result: ParameterResult, *, metric_label: str) -> str:
    """Return the paragraph for a study of a metric's parameters."""
    spec, counts = study.specification, result.counts
    excluded = f", {counts.raters_excluded:,} excluded left out," if counts.raters_excluded else ""
    named = [f"{entry.name} with its two-sided p" if entry.has_pvalue else entry.name for entry in result.entries]
    text = (
        f"{metric_label} was correlated with {counts.judgements:,} human judgements by "
        f"{raters_in_words(study, counts.raters)}{excluded} (mean of {averaged_criteria(study)}), one parameter "
        f"varied at a time and all others as in use. Over systems: the score of each of {len(spec['systems'])} systems "
        f"against its mean rating, both over its rated outputs that have a score at every value; {enumerated(named)}. "
        "Over rated outputs: each output's score against its mean rating, all systems together."
    )
    sentences = [text]
    if result.negated:
        sentences.append(
            f"Low scores of {metric_label} are the better ones: its sign was turned, so that a positive coefficient "
            "is agreement."
        )
    if spec["bootstrap"] >= 2:
        sentences.append(
            f"Ranges hold the middle 95% of {spec['bootstrap']:,} resamples of whole items, the same for every value."
        )
    if spec["halves"]:
        sentences.append(
            f"The worth of choosing was measured on {spec['halves']:,} random halves of the items: the value with the "
            f"highest {result.deciding.label} on one half was judged on the other."
        )
    if cross := next((sweep.cross for sweep in result.sweeps if sweep.cross), None):
        sentences.append(
            f"The choice was cross-validated over items, {cross.repeats} times {cross.folds} folds: the value with the "
            "highest coefficient on the other folds was judged on the one left out."
        )
    if spec["release"]:
        sentences.append(f"References: {spec['subset']} of release {spec['release']}.")
    elif counts.references:
        sentences.append(f"References: {spec['subset']} of the data set's own, all alike.")
    sentences.append(provenance(study, spec["seed"], result.versions.assay))
    return " ".join(sentences)


def averaged_criteria(study: Study | ParameterStudy) -> str:
    """Return the names of the criteria, with their scales if these differ."""
    names = study.specification["criteria"]
    criteria = list(Criterion.objects.filter(campaign__in=study.campaigns.all(), name__in=names))
    if len(scale_groups(criteria)) < 2:
        return " and ".join(names)
    scales = {name: scale_groups(criterion for criterion in criteria if criterion.name == name) for name in names}
    each = " and ".join(f"{name} ({' or '.join(scales[name])})" for name in names)
    return f"{each}, the ends of each scale set to -1 and +1"


def provenance(study: Study | ParameterStudy, seed: int, version: str) -> str:
    """Return by what a study can be computed again."""
    return f"Seed of the random numbers {seed}, signature {study.signature[:16]}, Assay {version}."
