"""What a study says of a judge or a metric in place of a rater: one wording for its page, its report and a paper."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.numbers import counted, decimals, ends_in_words
from annotation.core.prose import enumerated
from correlations.results.common import Ends
from correlations.results.study import StudyResult
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
TOO_GOOD = "agrees with these ratings more closely than is expected of a score that has not seen them"
IMPORT, RATE, SCORES = "import", "rate", "scores"  # what the page offers as the next step


@dataclass(frozen=True)
class Answer:
    """The page's answer about the chosen row, in parts that each stand alone; empty where there is nothing to say."""

    verdict: str
    why: str
    scale: str  # that imported scores are taken to have
    tested: str  # which of the raters it was tested against
    others: str
    one_rater: str
    saved: str
    certainty: str
    advice: str
    next_step: str


def stand_in_answer(report: StandInReport) -> Answer:
    """Return the answer about the chosen row."""
    chosen = report.chosen
    if chosen.margin is None:
        verdict = "These ratings cannot tell."
        why, saved, certainty = f"{chosen.label} is not tested: {chosen.stand_in.reason}.", "", ""
    else:
        verdict, why = _verdict(report), _why(chosen, MARGINS[report.whom])
        saved, certainty = _saved(report), _certainty(report)
    return Answer(
        verdict=verdict,
        why=why,
        scale=assumed_scale(chosen),
        tested=_tested(chosen),
        others=_others(report),
        one_rater=_one_rater(report),
        saved=saved,
        certainty=certainty,
        advice=_advice(report),
        next_step=_next_step(report),
    )


def _tested(chosen: Candidate) -> str:
    """Return who was tested, unless the verdict says it."""
    return "" if chosen.panel is None or (chosen.too_few and not chosen.panel.n_strangers) else chosen.panel.in_words


def _verdict(report: StandInReport) -> str:
    chosen = report.chosen
    if chosen.can:
        return f"Yes, {chosen.label} can, in place of {report.replaced}."
    if chosen.may_have_seen:
        return f"Not testable: {chosen.label} {TOO_GOOD}."
    if chosen.cannot:
        return f"No, {chosen.label} cannot."
    if chosen.too_few:
        return f"Undecided for {chosen.label}: {chosen.too_few}."
    return f"Not shown for {chosen.label}." if chosen.passed else f"Undecided for {chosen.label}."


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
    more = "more" if chosen.lead_p <= LEVEL else "not shown to be more"
    return (
        f"Against the tested raters it is at least as close on {percent(chosen.stand_in.advantage)} of the outputs, "
        f"that rating on {percent(chosen.worth.same_rating.advantage)}. Against all raters, output by output, its "
        f"lead over that rating is {decimals(chosen.lead)}, {more} than the margin of "
        f"{decimals(epsilon)} ({chosen.lead_p_in_words})."
    )


def _others(report: StandInReport) -> str:
    """Return which of the other rows can stand in."""
    others = report.others
    if not others:
        return ""
    if can := [candidate.short_label for candidate in others if candidate.can]:
        if len(others) == 1:
            return f"The other row of this study, {can[0]}, can, too." if report.chosen.can else f"{can[0]} can."
        return f"Of the other {len(others):,} rows of this study {len(can):,} can: {_named(can)}."
    if doubtful := [candidate.short_label for candidate in others if candidate.may_have_seen]:
        closer = "closer to these ratings than is expected of a score that has not seen them"
        return f"Whether {_named(doubtful)} can is not testable: {closer}."
    untested = all(candidate.margin is None for candidate in others)
    if len(others) == 1:
        return f"The other row, {others[0].short_label}, is {'not tested' if untested else 'not shown to be able to'}."
    return f"None of the other {len(others):,} rows is {'tested' if untested else 'shown to be able to'}."


def _named(labels: Sequence[str]) -> str:
    names = list(dict.fromkeys(labels))  # rows of one metric may differ in settings alone
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
    return enumerated(names)


def _one_rater(report: StandInReport) -> str:
    """Return how far a single rater agrees with the others, and the row in the rater's place."""
    chosen, symbol = report.chosen, report.result.lead.symbol
    if chosen.human.one_rater is None or chosen.human.metric is None:
        return ""
    of_row = _estimated(chosen.human.metric, chosen.human.metric_ends)
    of_rater = _estimated(chosen.human.one_rater, chosen.human.one_rater_ends)
    return (
        f"Over single outputs, {symbol} with the other raters is {of_row} for {chosen.row.label} and {of_rater} for "
        f"one rater (means over {counted(chosen.human.raters, 'rater')}, each left out once). Both are "
        f"{_certainty_of_both(chosen)}."
    )


def _certainty_of_both(chosen: Candidate) -> str:
    """Return how sure the agreement of a rater and of the row in the rater's place is, as the end of a sentence."""
    ends = chosen.human.difference_ends
    if ends is None:
        reason = f": fewer than {FEWEST_ITEMS} items" if chosen.row.items < FEWEST_ITEMS else ""
        return f"estimates without an interval{reason}"
    closely = "which agrees more closely with the others is not shown"
    if ends[0] > 0:
        closely = "it agrees with the others more closely than a rater does"
    elif ends[1] < 0:
        closely = "it agrees with the others less closely than a rater does"
    return f"estimates, with 95% intervals over items, for these raters: {closely}"


def _estimated(value: float, ends: Ends | None) -> str:
    return decimals(value) if ends is None else f"{decimals(value)} [{', '.join(ends_in_words(*ends))}]"


def _saved(report: StandInReport) -> str:
    worth, label = report.chosen.worth, report.chosen.row.label
    if worth.saved is None:
        return ""
    many = worth.at_most if worth.at_most is not None and worth.at_most > 0 else None
    if saves(worth.saved):
        more = f"; of many more outputs, up to {percent(many)}" if many is not None and many > worth.saved else ""
        return f"The scores of {label} save {percent(worth.saved)} of the ratings behind the systems’ means{more}."
    text = f"The scores of {label} save no ratings{', since every scored output is rated' if report.all_rated else ''}."
    return text if many is None else f"{text} If it scored many more outputs, that would save up to {percent(many)}."


def _certainty(report: StandInReport) -> str:
    chosen = report.chosen
    text = (
        "How sure: each rater’s test is one-sided, and corrected for "
        f"{counted(len(chosen.stand_in.raters), 'rater')} so that on average at most one in twenty of those called "
        "beaten is so by chance. It speaks of these raters and of outputs like these."
    )
    if not chosen.same_passes:
        text += (
            " One and the same rating for every one of these outputs would have an advantage of "
            f"{percent(chosen.worth.same_rating.advantage)} and a winning rate of "
            f"{decimals(chosen.same_winning_rate)}: it does not pass."
        )
    return text


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
        return "More outputs help only if it agrees with the raters on them: a score should be higher where raters are."
    if not chosen.passed:
        return "More rated outputs would make the test more certain, and may show one or the other."
    if chosen.lead is not None and chosen.lead > epsilon:
        return "With more rated outputs the lead could be shown to be more than the margin."
    return (
        "More outputs help only if the lead is larger on them. A judge that is closer to the raters would help; so "
        "would raters who agree more, since the mean rating is then farther from each of them."
    )


def _next_step(report: StandInReport) -> str:
    chosen = report.chosen
    if chosen.qualifies and chosen.row.run:
        return SCORES
    more_help = chosen.passed and chosen.lead is not None and chosen.lead > MARGINS[report.whom]
    not_decided = not chosen.passed and not chosen.cannot
    return RATE if chosen.margin is None or chosen.too_few or not_decided or more_help else IMPORT


def ranking_note(report: StandInReport) -> str:
    """Return what the order of the table is, and which numbers of it do not compare like with like."""
    order = (
        "Sorted by the lead over one and the same rating for every output, since that passes here, too."
        if report.by_lead
        else "Sorted by winning rate."
    )
    if not report.any_fitted:
        return order
    return (
        f"{order} Scores of another unit than the ratings are put on their scale by fitted lines. If they tell little, "
        "the lines bring them near the mean rating, which lies close to most raters: that alone raises a winning "
        "rate. Scores that are ratings are taken as given; the second numbers are theirs if they are fitted, too."
    )


def stand_in_sentence(result: StudyResult) -> str:
    """Return in one sentence what the page answers for raters of a crowd, for pages that lead to it."""
    candidates = stand_in_candidates(result, IN_PLACE_OF)
    chosen = default_candidate(candidates)
    label = chosen.short_label
    if chosen.margin is None:
        return f"Not tested: {chosen.stand_in.reason}."
    tested = chosen.tested_against
    if chosen.can:
        return f"{label} can: it beats {chosen.beaten}. {tested}"
    also = [candidate.short_label for candidate in candidates if candidate.can]
    others = f" {_named(also)} can." if also else ""
    if chosen.may_have_seen:
        return f"Not testable for {label}: it {TOO_GOOD}.{others} {tested}"
    if chosen.too_few:
        return f"Undecided for {label}: {chosen.too_few}.{others}"
    if chosen.passed and not chosen.tells_more:
        return f"Not shown for {label}: {_no_judgement(chosen, label)}.{others} {tested}"
    if not chosen.cannot:
        return f"Undecided for {label}: it beats {chosen.beaten}.{others} {tested}"
    if chosen is candidates[0] and len(candidates) > 1:
        return f"No metric of this study is shown to; the closest, {label}, beats {chosen.beaten}. {tested}"
    return f"{label} cannot: it beats {chosen.beaten}, and half are needed.{others} {tested}"


def _no_judgement(chosen: Candidate, label: str) -> str:
    """Return why a row that passes shows no judgement, as the end of a sentence."""
    if chosen.agrees_nowhere:
        return f"{label} passes the test, but {chosen.disagreement}"
    passes = "passes the test, too, and" if chosen.same_passes else "does not pass the test, but"
    return (
        f"one and the same rating for every output {passes} {label} is not shown to be closer to the raters than that "
        "by more than the margin"
    )


def stand_in_paragraph(result: StudyResult) -> str:
    """Return what the page says for raters of a crowd, with all its reservations, for a report without that page."""
    candidates = stand_in_candidates(result, IN_PLACE_OF)
    report = StandInReport(result, IN_PLACE_OF, candidates, default_candidate(candidates), {})
    answer = stand_in_answer(report)
    margin = f"It may fall short of a rater by ε = {decimals(report.epsilon)}, because it costs less."
    generosity = "" if report.chosen.margin is None else report.chosen.generosity
    return " ".join(
        filter(
            None,
            [
                answer.verdict,
                answer.why,
                answer.tested,
                margin,
                answer.certainty,
                answer.scale,
                generosity,
                answer.others,
            ],
        )
    )


def stand_in_judge(result: StudyResult) -> Candidate:
    """Return the row that the front page's sentence is about: a judge that can stand in, before others."""
    candidates = stand_in_candidates(result, IN_PLACE_OF)
    able = [candidate for candidate in candidates if candidate.is_judge and candidate.can]
    return default_candidate(able or candidates)


def stand_in_finding(result: StudyResult) -> tuple[str, str] | None:
    """Return for the front page whether a judge can stand in for a rater, and how sure that is.

    None if no row is a judge's, or if none of them is tested.
    """
    chosen = stand_in_judge(result)
    if chosen.margin is None or not chosen.is_judge:
        return None
    label, tested = chosen.row.label, chosen.tested_against.removesuffix(".")
    closer = f"At least as close to the others as the rater on {chosen.advantage:.0%} of outputs, the mean over raters"
    closer += f". {tested}"
    if chosen.can:
        return f"A judge can stand in for a rater here: {label} beats {chosen.beaten}.", closer
    if chosen.may_have_seen:
        return f"Whether a judge can stand in for a rater is not testable here: {label} {TOO_GOOD}.", closer
    open_question = "Whether a judge can stand in for a rater here is not shown"
    if chosen.too_few:
        return f"{open_question}: {chosen.too_few}.", closer
    if chosen.passed and not chosen.tells_more:
        return f"{open_question}: {_no_judgement(chosen, label)}.", closer
    if not chosen.cannot:
        return f"{open_question}: {label} beats {chosen.beaten}.", closer
    return f"No judge can stand in for a rater here: the closest, {label}, beats {chosen.beaten}.", closer


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
    if lead is not None:
        text += (
            f"; the lead over it was {decimals(lead)} over outputs (one-sided {p_text(chosen.lead_p)} for no more "
            f"than ε{f', after Holm over {chosen.family_in_words}' if chosen.family > 1 else ''})"
        )
    if chosen.may_have_seen:
        text += f". It {TOO_GOOD}, so that whether it can stand in is not testable"
    elif chosen.passed and chosen.agrees_nowhere:
        known = chosen.disagreement
        text += f". {known[0].upper()}{known[1:]}, so that passing shows no judgement"
    elif chosen.passed and not chosen.tells_more:
        text += ". It is not shown to be closer to the raters than that rating by more than ε"
    return f"{text}. {provenance}"


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
