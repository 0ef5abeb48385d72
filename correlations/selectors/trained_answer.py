"""What a study answers about trained models, which its headline names only if one of them leads."""

from collections.abc import Sequence

from annotation.core.numbers import decimals, in_brackets
from annotation.core.prose import enumerated
from correlations.models import Study
from correlations.results.significance import OUTPUTS
from correlations.results.study import StudyResult
from correlations.selectors.reports import describes_only, is_predicted
from correlations.selectors.significance import Contest, Pair, contest
from metrics.scoring.quality_estimate import QualityEstimate
from metrics.selectors.predictions import CROSS_VALIDATED
from metrics.templatetags.report import p_text

LEAD = "pearson"  # over single outputs
MOST_NAMED = 4  # models
Named = dict[int, str]  # places of rows in the study's table, with their names


def trained_answer(study: Study, result: StudyResult) -> str:
    """Return how trained models agree over single outputs and over units; empty if the study has none."""
    models = _models(result)
    if not models:
        return ""
    return " ".join(filter(None, [_over_outputs(result, models), _over_units(study, result, models)]))


def _models(result: StudyResult) -> Named:
    """Return the rows of trained models, by short names where these tell them apart."""
    rows = {
        index: row.label
        for index, row in enumerate(result.rows)
        if row.metric == QualityEstimate.name or is_predicted(row)
    }
    short = {index: label.removesuffix(CROSS_VALIDATED) for index, label in rows.items()}
    return short if len(set(short.values())) == len(short) else rows


def _over_outputs(result: StudyResult, models: Named) -> str:
    estimates = {index: result.levels[index].outputs[0].coefficients[LEAD] for index in range(len(result.rows))}
    values = {index: each.value for index, each in estimates.items() if each.value is not None}
    order = sorted(values.keys() & models.keys(), key=lambda index: -values[index])
    if not order:
        return ""
    shown = {index: f"{decimals(values[index])}{in_brackets(estimates[index].over_items)}" for index in order}
    first, *others = order
    validated = ", cross-validated," if all(is_predicted(result.rows[index]) for index in models) else ""
    if len(models) == 1:
        opening = f"The trained model {models[first]}{validated} has r = {shown[first]} over single outputs"
        judging = [index for index in values if index not in models and not describes_only(result.rows[index])]
        if not judging:
            return f"{opening}."
        other = max(judging, key=lambda index: values[index])
        opening = f"{opening}, {result.rows[other].label}, the highest of the others, {decimals(values[other])}"
        return f"{opening}{_difference(result, first, other)}."
    comma = "" if validated else ","
    opening = f"Of the trained models{validated}{comma} {models[first]} has r = {shown[first]} over single outputs"
    if not others:
        return f"{opening}."
    rest = enumerated([f"{models[index]} {shown[index]}" for index in others], MOST_NAMED)
    return f"{opening}, {rest}{_difference(result, first, others[0])}."


def _difference(result: StudyResult, first: int, second: int) -> str:
    """Return whether two rows differ over outputs, by the first test of the page of metric against metric."""
    shown = contest(result, OUTPUTS)
    pair = None if shown is None else _pair(shown, first, second)
    if shown is None or pair is None or pair.difference is None or pair.p_holm is None:
        return ""
    pairs = sum(each.p_holm is not None for each in shown.by_places.values())
    corrected = f", corrected for {pairs:,} pairs" if pairs > 1 else ""
    verb = "is significant" if pair.differs else "is not significant"
    return f": the difference of {decimals(abs(pair.difference), 3)} {verb} ({p_text(pair.p_holm)}{corrected})"


def _pair(shown: Contest, first: int, second: int) -> Pair | None:
    places = {each.index: each.place - 1 for each in shown.contestants}
    if first not in places or second not in places:
        return None
    return shown.by_places.get((min(places[first], places[second]), max(places[first], places[second])))


def _over_units(study: Study, result: StudyResult, models: Named) -> str:
    """Return the models' coefficients over units, and which of them turn the raters' order round."""
    size = study.specification["unit_size"]
    rows = {index: result.rows[index].coefficients[result.lead.key] for index in models}
    known = {index: each for index, each in rows.items() if each.value is not None and not result.rows[index].few_units}
    if not known:
        return ""
    order = sorted(known, key=lambda index: -(known[index].value or 0.0))
    each = [f"{decimals(known[i].value or 0.0)}{in_brackets(known[i].over_items)} for {models[i]}" for i in order]
    below = [models[index] for index in order if (ends := known[index].over_items) is not None and ends[1] < 0]
    units = "single items" if size == 1 else f"{size:,} items"
    over = f"For the difference of two systems on {units} {result.lead.symbol} is {enumerated(each, MOST_NAMED)}"
    return f"{over}{_turned(below, 'one item' if size == 1 else f'{size:,} items')}."


def _turned(below: Sequence[str], units: str) -> str:
    if not below:
        return ""
    verb = "orders" if len(below) == 1 else "order"
    return f": {enumerated(below, MOST_NAMED)} {verb} systems the wrong way round on {units}"
