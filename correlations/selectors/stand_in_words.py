"""What a study says of a judge or a metric in place of a rater: one wording for its page, its report and a paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.numbers import counted, decimals, ends_in_words
from annotation.core.prose import capitalised, enumerated
from correlations.results.study import StudyResult
from correlations.selectors.points import Point, with_text
from correlations.selectors.stand_in_kinds import KindsOfRaters, kinds_by_row, leading_judge, leading_row
from correlations.selectors.stand_in_verdict import (
    TOO_GOOD,
    Verdict,
    basis,
    basis_in_short,
    bias,
    bias_in_short,
    estimated,
    ordering,
    others_able,
    verdict,
)
from correlations.selectors.stated_scales import assumed_scale
from correlations.selectors.tested_raters import ENOUGH_RATERS, TestedPanel
from correlations.selectors.worth import (
    IN_PLACE_OF,
    WHOM,
    Candidate,
    StandInReport,
    default_candidate,
    saves,
    stand_in_candidates,
)
from correlations.stats.left_out_ends import FEWEST_ITEMS
from correlations.stats.worth import ENOUGH_ITEMS, LEVEL, MARGINS, PASS_FROM
from metrics.templatetags.report import p_text, percent

MOST_NAMED = 4  # of other rows that can, too
IMPORT, RATE, SCORES = "import", "rate", "scores"  # what the page offers as the next step


@dataclass(frozen=True)
class Answer:
    """The page's answer about the chosen row, in parts that each stand alone; empty where there is nothing to say."""

    verdict: Verdict  # for every kind of rater at once
    ordering: str  # whether it orders outputs as a rater does, whatever its points are
    systems: str  # by how much it differs from the raters, and whether it may be used to compare systems
    basis: Sequence[Point]  # raters, outputs, and what one rating for all would reach
    why: str  # in full, in place of those raters that the numbers are shown for
    scale: str  # that imported scores are taken to have
    others: str
    saved: str
    certainty: str
    advice: str
    next_step: str

    @property
    def basis_in_words(self) -> str:
        return " ".join(point.text for point in self.basis)


def stand_in_answer(report: StandInReport, whom: str = "") -> Answer:
    """Return the answer about the chosen row; ``whom`` are the raters that the reader chose, if any."""
    chosen, rows = report.chosen, kinds_by_row(report.result)
    row, tested = rows[chosen.index], chosen.margin is not None
    return Answer(
        verdict=verdict(row, chosen.label, whom),
        ordering=ordering(row),
        systems=bias(row),
        basis=_basis(report, row),
        why=_why(chosen, MARGINS[report.whom]),
        scale=assumed_scale(chosen),
        others=_others(report, rows),
        saved=_saved(report) if tested else "",
        certainty=_certainty_of_test(chosen) if tested else "",
        advice=_advice(report),
        next_step=_next_step(report),
    )


def _basis(report: StandInReport, row: KindsOfRaters) -> list[Point]:
    return with_text(Point("Agreement", _agreement(report)), *basis(row))


def _why(chosen: Candidate, epsilon: float) -> str:
    panel = chosen.panel
    if chosen.margin is None or panel is None:
        return ""
    beats = f"It beats {chosen.beaten} (winning rate {decimals(chosen.margin.winning_rate)}"
    if panel.too_few:
        return f"{beats}), but these raters do not speak for all."
    if not chosen.passed:
        return _not_passed(beats, panel)
    if chosen.can:
        text = (
            f"{beats}, it passes from {decimals(PASS_FROM)} on), and is at least as close to the others as a rater on "
            f"{percent(chosen.stand_in.advantage)} of the outputs."
        )
        if chosen.same_passes:
            text += (
                " Passing alone would show little here, since one and the same rating for every output passes, too; "
                f"but it is closer to the raters than that by more than the margin ({chosen.lead_p_in_words})."
            )
        return text
    if chosen.may_have_seen:
        return f"{beats}), but scores that were made with these ratings, or share the raters’ errors, do so, too."
    if not panel.passes:
        return (
            f"{beats}), but of the {counted(len(panel.bars), 'rater')} who agree with the others only "
            f"{panel.beaten_bars:,}."
        )
    if chosen.agrees_nowhere:
        same = f"but {chosen.disagreement}, so that passing shows no judgement"
    elif chosen.same_passes:
        rate = decimals(chosen.same_winning_rate)
        same = f"but so does one and the same rating for every output (winning rate {rate})"
    else:
        same = "but it is not shown to tell more than one and the same rating for every output would"
    return f"{beats}), {same}. {_lead(chosen, epsilon)}"


def _not_passed(beats: str, panel: TestedPanel) -> str:
    """Return whether a row that does not pass is shown to be worse than the raters, or nothing is shown."""
    text = f"{beats}); it passes if it beats half of them, from {decimals(PASS_FROM)} on."
    short = f"It is shown to fall short of {panel.short_of:,} of them by more than the margin"
    if panel.fails:
        return f"{text} {short}."
    if panel.short_of:
        return f"{text} {short}, too few to say that it cannot stand in."
    return f"{text} Nor is it shown to fall short of any of them by more than the margin."


def _lead(chosen: Candidate, epsilon: float) -> str:
    """Return how a row that passes compares with one rating for all."""
    if chosen.lead is None:
        return "How much closer to the raters it is than that rating is not known."
    apart = (
        f"Against the tested raters, one by one, it is at least as close on {percent(chosen.stand_in.advantage)} of "
        f"the outputs, that rating on {percent(chosen.worth.same_rating.advantage)}. (Whole points often tie with a "
        "rater’s, which counts as close; a mean between them does not.)"
    )
    if chosen.lead <= 0:
        return f"{apart} Against all raters together it has no lead over that rating."
    more = "more" if chosen.lead_p <= LEVEL else "not shown to be more"
    return (
        f"{apart} Against all raters together, output by output, its lead over that rating is "
        f"{decimals(chosen.lead)}, {more} than the margin of {decimals(epsilon)} ({chosen.lead_p_in_words})."
        f"{_lead_fitted(chosen)}"
    )


def _lead_fitted(chosen: Candidate) -> str:
    """Return what the lead would be if the scores were fitted to the ratings, as metrics are; empty if they are."""
    if chosen.fitted is None or chosen.fitted.lead is None:
        return ""
    lead = decimals(chosen.fitted.lead)
    return f" With its scores fitted to the ratings by lines, as a metric’s are, it would be {lead}."


def _others(report: StandInReport, rows: Sequence[KindsOfRaters]) -> str:
    """Return which of the other rows can stand in, and for whom."""
    others = [row for row in rows if row.any_candidate.index != report.chosen.index]
    if not others:
        return ""
    subject = f"Of the other {len(others):,} rows of this study"
    if able := others_able(others):
        if len(others) == 1:
            too = ", too" if rows[report.chosen.index].able else ""
            return f"The other row of this study can{too}: {able[0]}."
        return f"{subject} {sum(bool(row.able) for row in others):,} can: {_named(able)}."
    if doubtful := [row.any_candidate.short_label for row in others if row.may_have_seen]:
        closer = "closer to these ratings than is expected of a score that has not seen them"
        return f"Whether {_named(doubtful)} can is not testable: {closer}."
    able_to = "shown to be able to" if any(row.by_kind for row in others) else "tested"
    if len(others) == 1:
        return f"The other row, {others[0].any_candidate.short_label}, is not {able_to}."
    return f"{subject} none is {able_to}."


def _named(labels: Sequence[str]) -> str:
    names = list(dict.fromkeys(labels))  # rows of one metric may differ in settings alone
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
    return enumerated(names)


def _agreement(report: StandInReport) -> str:
    """Return how far the row agrees with the other raters in place of a rater, and that rater; empty if unknown."""
    human, symbol = report.chosen.human, report.result.lead.symbol
    if human.one_rater is None or human.metric is None:
        return ""
    of_row, of_rater = estimated(human.metric, human.metric_ends), estimated(human.one_rater, human.one_rater_ends)
    means = f"Means over {counted(human.raters, 'rater')}, each left out once"
    label = report.chosen.row.label
    text = f"Output by output, {symbol} with the other raters is {of_row} for {label} and {of_rater} for a rater"
    if human.difference_ends is None:
        few = report.chosen.row.items < FEWEST_ITEMS
        reason = f", since there are fewer than {FEWEST_ITEMS} items" if few else ""
        return f"{text}. {means}. How sure they are cannot be said{reason}."
    difference = " to ".join(ends_in_words(*human.difference_ends))
    return f"{text}, a difference of {difference}. {means}; 95% intervals over items, for these raters."


def _saved(report: StandInReport) -> str:
    worth, label = report.chosen.worth, report.chosen.row.label
    if worth.saved is None:
        return ""
    if saves(worth.saved):
        return f"The scores of {label} save {percent(worth.saved)} of the ratings behind the systems’ means."
    return f"The scores of {label} save no ratings{', since every scored output is rated' if report.all_rated else ''}."


def _certainty_of_test(chosen: Candidate) -> str:
    return (
        "How sure: each rater’s test is one-sided, and corrected for "
        f"{counted(len(chosen.stand_in.raters), 'rater')} so that on average at most one in twenty of those called "
        "beaten is so by chance. It speaks of these raters and of outputs like these."
    )


def _advice(report: StandInReport) -> str:
    """Return what would change an answer that is not yes."""
    chosen, epsilon = report.chosen, MARGINS[report.whom]
    if chosen.can or chosen.margin is None:
        return ""
    if chosen.too_few:
        return (
            f"At least {ENOUGH_RATERS} raters who agree with the others, with {ENOUGH_ITEMS} outputs each and half of "
            "all ratings, would allow an answer: let the same few raters rate many of the outputs."
        )
    if chosen.may_have_seen:
        return "Find out how its scores were made, or test it on ratings that it cannot have seen."
    if chosen.cannot:
        return "More outputs would make the test more certain, but bring the row no closer to the raters."
    if chosen.contradicts:
        return "More outputs would not change that: a score should be higher where raters are."
    if chosen.passed and chosen.agrees_nowhere:
        return (
            "What would help: a judge that agrees with the raters, with higher scores where they give higher ratings."
        )
    if not chosen.passed:
        return "More rated outputs would make the test more certain, and may show one or the other."
    if chosen.agrees_more:
        return "Use it to choose among outputs, or to order them. For points, and for means of systems, rely on raters."
    if chosen.lead is not None and chosen.lead > epsilon:
        return f"With more rated outputs the lead could be shown to be more than the margin of {decimals(epsilon)}."
    return (
        "What would help: a judge that is closer to the raters, or raters who agree more, since one rating for all is "
        "then farther from each of them."
    )


def _next_step(report: StandInReport) -> str:
    chosen = report.chosen
    if (chosen.qualifies or chosen.agrees_more) and chosen.row.run:
        return SCORES
    more_help = chosen.passed and chosen.lead is not None and chosen.lead > MARGINS[report.whom]
    not_decided = not chosen.passed and not chosen.cannot
    return RATE if chosen.margin is None or chosen.too_few or not_decided or more_help else IMPORT


def stand_in_sentence(result: StudyResult) -> str:
    """Return in short what the page answers, with its conditions, for pages that lead to it."""
    rows = kinds_by_row(result)
    row = leading_row(rows, result)
    if not row.by_kind:
        return f"Not tested: {row.any_candidate.stand_in.reason}."
    also = others_able([other for other in rows if other is not row])
    able = f"Shown to be able to{' as well' if row.able else ''}: {_named(also)}." if also else ""
    answer = str(verdict(row, row.any_candidate.short_label))
    return " ".join(filter(None, [answer, ordering(row), bias_in_short(row), basis_in_short(row), able]))


def stand_in_verdict(result: StudyResult) -> str:
    """Return the answer alone, for a list of questions."""
    row = leading_row(kinds_by_row(result), result)
    return str(verdict(row, row.any_candidate.short_label))


def stand_in_paragraph(result: StudyResult) -> str:
    """Return what the page says, with all its reservations, for a report without that page."""
    candidates = stand_in_candidates(result, IN_PLACE_OF)
    report = StandInReport(result, IN_PLACE_OF, candidates, default_candidate(candidates), {})
    answer = stand_in_answer(report)
    margins = enumerated([f"{decimals(epsilon)} for {WHOM[whom]}" for whom, epsilon in MARGINS.items()])
    margin = f"It may fall short of a rater by a margin ε, because it costs less: {margins}."
    certainty = "" if report.chosen.margin is None else _certainty_of_test(report.chosen)
    parts = [
        str(answer.verdict),
        answer.ordering,
        answer.systems,
        answer.basis_in_words,
        margin,
        certainty,
        answer.scale,
        answer.others,
    ]
    return " ".join(filter(None, parts))


def stand_in_judge(result: StudyResult) -> KindsOfRaters:
    """Return the row that the front page's sentence is about."""
    return leading_judge(kinds_by_row(result), result)


def stand_in_finding(result: StudyResult) -> tuple[str, str] | None:
    """Return for the front page whether a judge can stand in for a rater, and what that rests on.

    None if no row is a judge's, or if none of them is tested.
    """
    row = stand_in_judge(result)
    if not row.by_kind or not row.any_candidate.is_judge:
        return None
    answer = str(verdict(row, row.any_candidate.row.label))
    return " ".join(filter(None, [answer, ordering(row), bias_in_short(row)])), basis_in_short(row).removesuffix(".")


def stand_in_methods(report: StandInReport, provenance: str) -> str:
    """Return the paragraph for a paper's methods section; empty if the chosen row is not tested."""
    chosen, whom = report.chosen, report.whom
    if chosen.margin is None:
        return ""
    lead, same = chosen.lead, decimals(chosen.worth.same_rating.advantage or 0.0)
    text = (
        "The alternative annotator test (Calderon, Reichart and Dror, 2025) compared "
        f"{chosen.label} with each of {counted(len(chosen.stand_in.raters), 'rater')} with at least 30 outputs that "
        "another rater rated, too: which of both lies closer to the others’ ratings, by root mean squared distance, "
        f"over {counted(chosen.stand_in.outputs, 'different output')}{_share_tested(chosen)}; "
        f"ε = {decimals(MARGINS[whom])} (in place of "
        f"{WHOM[whom]}), one-sided t-tests, Benjamini-Yekutieli at 0.05. {chosen.scale} "
        f"It beat {chosen.beaten} (winning rate {decimals(chosen.margin.winning_rate)}, advantage "
        f"{decimals(chosen.advantage)}). The mean of all ratings, given to every output, had a winning rate of "
        f"{decimals(chosen.same_winning_rate)} and an advantage of {same}"
    )
    text += _correlation(report)
    if lead is not None:
        text += (
            f"; the lead over it was {decimals(lead)} over outputs (one-sided {p_text(chosen.lead_p)} for no more "
            f"than ε{f', after Holm over {chosen.family_in_words}' if chosen.family > 1 else ''})"
        )
    if chosen.may_have_seen:
        text += f". It {TOO_GOOD}, so that whether it can stand in is not testable"
    elif chosen.passed and chosen.agrees_nowhere:
        text += f". {capitalised(chosen.disagreement)}, so that passing shows no judgement"
    elif chosen.passed and not chosen.tells_more:
        text += ". It is not shown to be closer to the raters than that rating by more than ε"
    return f"{text}. {provenance}"


def _correlation(report: StandInReport) -> str:
    """Return the agreement of the row and of a rater with the other raters, as part of the sentence of a paper."""
    human = report.chosen.human
    if human.metric is None or human.one_rater is None:
        return ""
    return (
        f"; {report.result.lead.label} with the other raters over single outputs was "
        f"{estimated(human.metric, human.metric_ends)} in a rater’s place, and "
        f"{estimated(human.one_rater, human.one_rater_ends)} for a rater"
    )


def _share_tested(chosen: Candidate) -> str:
    """Return how much of the ratings the test is about, and how many of its raters agree with the others."""
    panel = chosen.panel
    if panel is None:
        return ""
    text = (
        f" (of {counted(panel.n_raters, 'rater')} {panel.n_tested:,} were tested, with {panel.ratings_tested:,} of "
        f"{counted(panel.n_ratings, 'rating')}"
    )
    if any(rater.agreement_p is not None for rater in chosen.stand_in.raters):
        agree = "agrees" if len(panel.bars) == 1 else "agree"
        text += (
            f"; {len(panel.bars):,} of them {agree} with the others at Pearson’s r above 0, one-sided p at most 0.05"
        )
    return f"{text})"
