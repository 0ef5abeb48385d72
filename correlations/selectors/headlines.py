"""A study's headline: the highest coefficient, what it is over, how sure it is, and what does not differ from it."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.core.numbers import counted, decimals, in_brackets
from annotation.core.prose import capitalised, enumerated
from correlations.models import Study
from correlations.results.common import Ends
from correlations.results.study import StudyResult
from correlations.selectors.ceilings import agreement_sentence, raters_are_known
from correlations.selectors.held import RESAMPLES_NOTE
from correlations.selectors.levels import LevelsReport, levels_report
from correlations.selectors.methods import averaged_criteria
from correlations.selectors.points import Point, with_text
from correlations.selectors.reports import (
    HONEST,
    SIGNIFICANT,
    BestRow,
    alternatives,
    best_row,
    circularity_to_show,
    copied,
    describes_only,
    reads_references,
    rivals_in_words,
    row_references,
)
from correlations.selectors.shown_apart import shown_apart
from correlations.selectors.trained import trained_sentence
from correlations.selectors.trained_answer import trained_answer
from correlations.selectors.trivial import trivial_sentence
from correlations.selectors.tuned import chosen_here
from correlations.stats.ceiling import attainable
from correlations.stats.coefficients.coefficient import Coefficient
from metrics.scoring.settings import with_settings
from metrics.selectors.copies import copies_sentence

OUTPUTS = "pearson"  # the coefficient over single outputs that stands beside the one over units


@dataclass(frozen=True)
class Headline:
    """Sentences for the report and the front page. ``metric`` begins the sentence that ``claim`` ends.

    ``line`` is the same in so few words that its number stands in the first line of a page, without its ``scope``.
    """

    best: BestRow
    coefficient: Coefficient
    metric: str
    claim: str
    line: str
    scope: str  # what the coefficient is over
    outputs: str  # agreement over single outputs; empty if that is undefined
    doubts: list[str]  # what does not differ from it, the baselines first; "It" is the metric if nothing else is named
    carried: str  # which system carries the highest coefficient over systems; empty if none does
    levels: str  # which rows are highest over systems and over outputs, if these are others
    copies: str  # that a system's outputs are references themselves; empty if none is
    trained: str = ""  # that its model was trained on these outputs
    agreement: str = ""  # how far another group of raters would agree with these; empty if that is not known
    trivial: str = ""  # which metrics a baseline, such as length, does no worse than
    apart: str = ""  # what imported scores and automatic metrics show, each by themselves; empty without both
    models: str = ""  # how trained models agree over outputs and over units; empty if the study has none

    @property
    def sentence(self) -> str:
        return f"{self.metric} {self.claim}"

    @property
    def tuned(self) -> str:
        """Return what was chosen or trained on these items: the row's references, its model; empty if nothing was."""
        return " ".join(filter(None, [chosen_here(self.best.row) if self.best.is_tuned else "", self.trained]))

    @property
    def other_metrics(self) -> str:
        """Return what does not differ from the best row, what a baseline does no worse than, and what is closer."""
        ahead = self.best.ahead
        closer = f"On the items that both can use, {' and '.join(ahead)} {'is' if len(ahead) == 1 else 'are'} closer."
        return " ".join(filter(None, [*self.doubts, self.trivial, closer if ahead else ""]))

    @property
    def points(self) -> list[Point]:
        """Return what to know about the headline: other items and raters, how far these agree, and other questions."""
        agreement = " ".join(filter(None, [self.agreement, self.ceiling_note])) if self.agreement else ""
        return with_text(
            Point("Other items, other raters", self.raters),
            Point("How far raters agree", agreement, "#ceilings", "More on that"),
            Point("Single outputs", self.outputs),
            Point("Other questions", self.levels),
        )

    @property
    def ceiling_note(self) -> str:
        """Return why the metric lies above the agreement of two groups of raters; empty if it does not."""
        value, ceiling = self.best.estimate.value, self.best.ceiling
        if value is None or ceiling is None or value <= ceiling:
            return ""
        most, above = attainable(ceiling, self.coefficient), f"{self.best.row.label} lies above that"
        if value > most:
            return f"{above}, and above the {decimals(most)} expected at most."
        return f"{above}, which a metric can: between two groups both are noisy, between a metric and a group only one."

    @property
    def raters(self) -> str:
        """Return what other raters would change about the interval, or that it leaves them out."""
        ends = self.best.estimate.over_items_and_raters
        if ends is not None:
            return (
                "The interval above is for other items, rated by the same raters. If raters are drawn anew, too, "
                f"resamples range from {decimals(ends[0])} to {decimals(ends[1])}{self._below(ends)}. {RESAMPLES_NOTE}"
            )
        if self.best.estimate.over_items is None:
            return ""
        return "The interval above is for other items, rated by the same raters. With other raters it would be wider."

    def _below(self, ends: Ends) -> str:
        """Return why a range lies below its own estimate, if it does, as the end of a sentence."""
        value = self.best.estimate.value
        if value is None or ends[1] >= value:
            return ""
        return ", below the value itself: a drawn group has fewer different raters, and so more noise"


def criteria_in_words(study: Study) -> str:
    """Return what the raters behind a study's numbers judged, as a sentence."""
    several = len(study.specification["criteria"]) > 1
    return f"{'The mean of ' if several else ''}{averaged_criteria(study)}."


def study_headline(study: Study, result: StudyResult) -> Headline | None:
    """Return the headline; None if no row has a coefficient over enough units."""
    best = best_row(result)
    if best is None:
        return None
    tested, levels = _tested(result, best), levels_report(result, None)
    scope = f"{units_in_words(study)}, {_over(result, best)}{_limit(result, best)}."
    return Headline(
        best=best,
        coefficient=result.lead,
        metric=with_settings(best.row.label, best.row.signature),
        claim=f"{_references(best)}{_claim(result, best, tested)}, {scope}",
        line=_line(result, best, tested),
        scope=f"95% interval in brackets, {scope}" if best.estimate.over_items else capitalised(scope),
        outputs=_outputs(result, best),
        doubts=_doubts(result, best, tested),
        carried="" if levels is None else levels.carried_result,
        levels=_levels(levels, best),
        copies=copies_in_words(result),
        trained=trained_sentence(study, best.row),
        agreement=agreement_sentence(result, best.index),
        trivial=trivial_sentence(result),
        apart=shown_apart(result, best.row.label),
        models=trained_answer(study, result),
    )


def _references(best: BestRow) -> str:
    return f"with {best.references} " if reads_references(best.row) else ""


def units_in_words(study: Study) -> str:
    """Return what each observation behind a study's coefficients is, as part of a sentence."""
    size = study.specification["unit_size"]
    return f"for the difference of two systems on {'single items' if size == 1 else counted(size, 'item')}"


def _tested(result: StudyResult, best: BestRow) -> dict[tuple[str, str], bool]:
    """Return of each row that was compared with the best one, whether that is significantly higher."""
    this, higher = (best.row.label, best.row.subset_label), {}
    for entry in result.comparisons:
        first, second = entry.sides()
        if this in (first, second) and entry.p_holm is not None and entry.difference is not None:
            lead = entry.difference if first == this else -entry.difference
            higher[second if first == this else first] = lead > 0 and entry.p_holm < SIGNIFICANT
    return higher


def _claim(result: StudyResult, best: BestRow, tested: Mapping[tuple[str, str], bool]) -> str:
    label, value = result.lead.label, decimals(best.estimate.value or 0.0)
    number = f"{value}{_interval(best.estimate.over_items)}"
    if len(result.rows) == 1:
        return f"agrees with the raters at {label} = {number}"
    if _is_ahead(result, best, tested):
        return f"agrees best with the raters: {label} = {number}"
    but = f",{HONEST}" if best.passed_over else ""
    return f"has the highest {label} with the raters{but}: {number}"


def _is_ahead(result: StudyResult, best: BestRow, tested: Mapping[tuple[str, str], bool]) -> bool:
    """Return whether a row is significantly higher than each of the others, none of which was passed over."""
    return bool(tested) and all(tested.values()) and not best.passed_over and not _limit(result, best)


def _line(result: StudyResult, best: BestRow, tested: Mapping[tuple[str, str], bool]) -> str:
    row = with_settings(best.row.label, best.row.signature)
    if reads_references(best.row):
        row += f", {'all references' if best.row.subset == 'all' else row_references(best.row)}"
    value = f"{result.lead.label} = {decimals(best.estimate.value or 0.0)}{in_brackets(best.estimate.over_items)}"
    place = ", higher than any other" if _is_ahead(result, best, tested) else ", the highest"
    place = "" if len(result.rows) == 1 else place
    return f"{row}: {value} with the raters{place}{HONEST if best.passed_over else ''}."


def _limit(result: StudyResult, best: BestRow) -> str:
    """Return that a row is too good for a score that has not seen the ratings, as the end of a sentence."""
    most = None if best.ceiling is None else attainable(best.ceiling, result.lead)
    if most is None or best.estimate.value is None or best.estimate.value <= most:
        return ""
    return f": more than is expected of a score that has not seen these ratings ({decimals(most)} at most)"


def _over(result: StudyResult, best: BestRow) -> str:
    row, used = best.row, result.items.used
    items = f"{row.items:,} of {used:,} items" if row.dropped.count else counted(row.items, "item")
    return f"over {counted(len(row.systems), 'system')} and {items}"


def _interval(ends: Ends | None) -> str:
    return f", 95% interval [{decimals(ends[0])}, {decimals(ends[1])}]" if ends else ""


def _outputs(result: StudyResult, best: BestRow) -> str:
    level = result.levels[best.index].outputs[0]
    value = level.coefficients[OUTPUTS].value
    return "" if value is None else f"For single outputs its Pearson’s r is {decimals(value)}."


def _levels(report: LevelsReport | None, best: BestRow) -> str:
    """Return which other rows are shown to be highest over systems and over outputs, as the page of levels names them.

    A row that gives the same numbers as the best one there, or that others may well exceed, is not named.
    """
    if report is None:
        return ""
    here = next(row for row in report.rows if row.index == best.index)
    others = []
    label = here.row.label  # a row of the same metric is no other winner
    over = report.shown_over_systems
    if over and over.row.label != label and over.lead.value != here.lead.value:
        others.append(f"{over.row.label}’s over systems")
    over = report.shown_over_outputs
    if over and over.row.label != label and over.index != here.index:
        others.append(f"{over.row.label}’s over single outputs")
    if not others:
        return ""
    return (
        f"The highest r is another metric’s in other questions: {' and '.join(others)}. The numbers above ask which of "
        "two systems is better on some items; over systems the question is which is better overall, over single "
        "outputs which output is."
    )


def copies_in_words(result: StudyResult) -> str:
    """Return that outputs are references themselves, which metrics without weights find perfect; empty if none is."""
    circular = circularity_to_show(result)
    if circular is None or not circular.same_text_items:
        return ""
    n, whole = circular.same_text_items, [each for each in copied(result) if each.is_circular]
    if whole:
        return copies_sentence(whole)
    verb = "is a reference itself" if n == 1 else "are references themselves"
    return f"Circular: {counted(n, 'output')} {verb}; metrics without weights find these perfect."


def _doubts(result: StudyResult, best: BestRow, tested: Mapping[tuple[str, str], bool]) -> list[str]:
    doubts = ["It may have seen these ratings."] if _limit(result, best) else []
    if best.passed_over:
        doubts.append(f"{enumerated(best.passed_over)} may have seen these ratings.")
    baselines = {row.label for row in result.rows if describes_only(row)}
    level = [name for name in best.rivals if name.partition(" with ")[0] in baselines]
    others = [name for name in best.rivals if name not in level]
    metric = best.row.label
    subject = metric if best.passed_over else "It"
    if best.is_baseline:
        doubts.append(
            f"{metric} is a baseline and no measure of quality: no metric that judges quality is higher here."
        )
    elif level:
        doubts.append(
            f"{subject} does not differ significantly from {alternatives(level)}, which "
            f"{'does' if len(level) == 1 else 'do'} not judge quality: that {metric} tells more is not shown."
        )
    if others:
        opening = "Nor does it" if level else f"{subject} does not"
        doubts.append(f"{opening} differ significantly from {rivals_in_words(others)}.")
    if not tested and len({row.label for row in result.rows}) > 1:
        doubts.append("Whether the metrics differ is not tested.")
    if not raters_are_known(result):
        doubts.append(
            "Ratings are medians or means, whose raters are not known: how far raters differ is not in these numbers."
        )
    return doubts
