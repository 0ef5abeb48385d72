"""Whether a judge or a metric can stand in for raters, from a study's result, as its page says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from annotation.core.numbers import counted, decimals
from annotation.models import Project, Rater
from annotation.ranking.holm import holm_adjusted
from annotation.rating.selectors.ratings import rater_places
from correlations.results.levels import SystemPoint
from correlations.results.study import StudyResult, StudyRow
from correlations.results.worth import HelpedMean, LeftOutRater, MarginTest, RowWorth, StandIn, TestedRater
from correlations.selectors.tuned import MARK
from correlations.stats.ranking import NO_PAIR
from correlations.stats.worth import LEVEL, MARGINS, PASS_FROM
from metrics.scoring.external import External

WHOM = {"crowd": "a crowd", "skilled": "skilled raters", "experts": "experts"}  # whom a candidate would replace
IN_PLACE_OF = "crowd"
UNEVEN = 0.15  # points by which a judge may favour one system over another before the page warns
FEW_RATERS = 3  # with fewer there is no group to be close to
SCALES = {
    "ratings": "Its scores are ratings on the raters' own scale, and taken as they are.",
    "bounds": "The lowest and the highest possible score were put on the ends of the raters' scale.",
    "line": "Its scores were put on the raters' scale by straight lines, each fitted to the ratings of other items.",
}


@dataclass(frozen=True)
class Candidate:
    """A row in place of a rater, with the margin for those whom it would replace."""

    row: StudyRow
    index: int
    worth: RowWorth
    margin: MarginTest | None
    same_winning_rate: float  # of one and the same rating for every output of the row
    lead_p: float  # after Holm over the rows, that it leads that rating by no more than the margin; 1 if undefined
    systems: Sequence[SystemPoint]

    @property
    def same_passes(self) -> bool:
        """Return whether one and the same rating for every output passes, too, so that passing shows no judgement."""
        return self.same_winning_rate >= PASS_FROM

    @property
    def tells_more(self) -> bool:
        """Return whether the row shows judgement: one and the same rating does not pass, or is clearly less close."""
        return not self.same_passes or self.lead_p <= LEVEL

    @property
    def generosity(self) -> str:
        """Return how far a judge's ratings lie above the raters', system by system; empty for other scores."""
        apart = {
            point.system: point.score - point.rating
            for point in self.systems
            if point.score is not None and point.rating is not None
        }
        if self.stand_in.scale != "ratings" or not apart:
            return ""
        least, most = min(apart, key=apart.__getitem__), max(apart, key=apart.__getitem__)
        text = f"Its ratings less the raters': {decimals(apart[least], plus=True)} for {least}"
        if most != least:
            text += f" to {decimals(apart[most], plus=True)} for {most}"
            if apart[most] - apart[least] >= UNEVEN:
                text += ". It does not treat all systems alike: rely on raters for differences between these"
        return f"{text}."

    @property
    def stand_in(self) -> StandIn:
        return self.worth.stand_in

    @property
    def advantage(self) -> float:
        return -1.0 if self.stand_in.advantage is None else self.stand_in.advantage

    @property
    def order(self) -> tuple[bool, float, float]:
        if self.margin is None:
            return False, -1.0, self.advantage
        return self.margin.passed and self.tells_more, self.margin.winning_rate, self.advantage

    @property
    def scale(self) -> str:
        return SCALES[self.stand_in.scale]

    @property
    def beaten(self) -> str:
        """Return how many raters it beats, as part of a sentence."""
        n = len(self.stand_in.raters)
        return "" if self.margin is None else f"{self.margin.beaten:,} of {counted(n, 'rater')}"


@dataclass(frozen=True)
class RaterLine:
    """A tested rater against a candidate."""

    rater: Rater | None  # None if the project no longer has one at that place
    tested: TestedRater
    p: float
    p_corrected: float

    @property
    def beaten(self) -> bool:
        return self.p_corrected <= LEVEL


@dataclass(frozen=True)
class StandInReport:
    """What the page shows: all candidates, the best first, and one of them in full."""

    result: StudyResult
    whom: str
    candidates: Sequence[Candidate]
    chosen: Candidate
    raters: Mapping[int, Rater]  # by place

    @property
    def replaced(self) -> str:
        """Return whom a candidate would replace, as part of a sentence."""
        return f"a rater of {WHOM[self.whom]}" if self.whom == IN_PLACE_OF else f"one of {WHOM[self.whom]}"

    @property
    def best_all_rated(self) -> bool:
        return _all_rated(self.best)

    @property
    def epsilon(self) -> float:
        return MARGINS[self.whom]

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def untested(self) -> str:
        """Return why no candidate is tested; empty if one is."""
        return "" if self.best.margin else self.best.stand_in.reason

    @cached_property
    def passes(self) -> bool:
        return self.best.margin is not None and self.best.margin.passed

    @property
    def few_raters(self) -> bool:
        return 0 < len(self.best.stand_in.raters) < FEW_RATERS

    @property
    def n_passed(self) -> int:
        return sum(candidate.margin is not None and candidate.margin.passed for candidate in self.candidates)

    @property
    def lines(self) -> list[RaterLine]:
        """Return the tested raters of the chosen candidate, those it beats least clearly last."""
        margin = self.chosen.margin
        if margin is None:
            return []
        parts = zip(self.chosen.stand_in.raters, margin.p, margin.p_corrected, strict=True)
        lines = [RaterLine(self.raters.get(tested.rater), tested, *p_values) for tested, *p_values in parts]
        return sorted(lines, key=lambda line: (line.p_corrected, -line.tested.advantage))

    @property
    def left_out(self) -> list[tuple[Rater | None, LeftOutRater]]:
        return [(self.raters.get(each.rater), each) for each in self.chosen.stand_in.left_out]

    @property
    def means(self) -> Sequence[HelpedMean]:
        return self.chosen.worth.means

    @property
    def all_rated(self) -> bool:
        """Return whether every scored output of the chosen candidate is rated, so that there is nothing to save."""
        return _all_rated(self.chosen)


def _all_rated(candidate: Candidate) -> bool:
    return all(each.rated == each.scored for each in candidate.worth.means)


def stand_in_report(project: Project, result: StudyResult, whom: str, row: int | None) -> StandInReport | None:
    """Return the report for those whom a candidate would replace; None for unknown ones, or for an unknown row."""
    if whom not in MARGINS:
        return None
    candidates = _candidates(result, whom)
    chosen = next((entry for entry in candidates if row is None or entry.index == row), None)
    if chosen is None:
        return None
    pks = {place: pk for pk, place in rater_places(project.pk).items()}
    stored = Rater.objects.in_bulk(pks.values())
    return StandInReport(
        result, whom, candidates, chosen, {place: stored[pk] for place, pk in pks.items() if pk in stored}
    )


def _candidates(result: StudyResult, whom: str) -> list[Candidate]:
    """Return the rows as candidates, the one that beats most raters first."""
    leads = [worth.same_rating.lead_p.get(whom) for worth in result.worth]
    corrected = holm_adjusted([1.0 if p is None else p for p in leads]).tolist()
    entries = (
        Candidate(
            row=row,
            index=index,
            worth=worth,
            margin=worth.stand_in.margins.get(whom),
            same_winning_rate=worth.same_rating.winning_rates.get(whom, 0.0),
            lead_p=lead_p,
            systems=levels.system.systems,
        )
        for index, (row, worth, levels, lead_p) in enumerate(
            zip(result.rows, result.worth, result.levels, corrected, strict=True)
        )
    )
    return sorted(entries, key=lambda entry: entry.order, reverse=True)


def stand_in_sentence(result: StudyResult) -> str:
    """Return in one sentence whether any row can stand in for a rater of a crowd, for pages that lead to the report."""
    report = StandInReport(result, IN_PLACE_OF, candidates := _candidates(result, IN_PLACE_OF), candidates[0], {})
    best = report.best
    if best.margin is None:
        return f"Not tested: {report.untested}."
    if not report.passes:
        return f"No metric of this study can; the closest, {best.row.label}, beats {best.beaten}."
    if not best.tells_more:
        return "Not shown: one and the same rating for every output passes the test, too, and is about as close."
    return f"{best.row.label} can: it beats {best.beaten}."


def stand_in_finding(result: StudyResult) -> tuple[str, str] | None:
    """Return whether a judge, or a metric, can stand in for a rater, and how sure that is; None if it was not tested.

    Without a judge among the rows, only a metric that can is worth a finding.
    """
    report = StandInReport(result, IN_PLACE_OF, candidates := _candidates(result, IN_PLACE_OF), candidates[0], {})
    best, margin = report.best, report.best.margin
    has_judge = any(candidate.row.metric == External.name for candidate in candidates)
    can = report.passes and best.tells_more
    if margin is None or not (can or has_judge):
        return None
    what = "judge" if best.row.metric == External.name else "metric"
    closer = f"At least as close to the others as the rater on {best.advantage:.0%} of outputs, the mean over raters"
    if can:
        return f"A {what} can stand in for a rater here: {best.row.label} beats {best.beaten}.", closer
    if report.passes:
        text = f"Whether a {what} can stand in for a rater here is not shown: one and the same rating for every output "
        return f"{text}passes the test as {best.row.label} does.", closer
    return f"No judge can stand in for a rater here: the closest, {best.row.label}, beats {best.beaten}.", closer


def ranking_sentence(result: StudyResult) -> str:
    """Return in one sentence which row orders most pairs of systems, item by item, as the raters do.

    The threshold for ties is that of other items, so that no row is favoured; its own if no other item has a pair.
    """
    rows = list(zip(result.rows, result.worth, strict=True))
    elsewhere = [(worth.ranking.held_out, row.label) for row, worth in rows if worth.ranking.held_out is not None]
    here = [(worth.ranking.calibrated, row.label) for row, worth in rows if worth.ranking.calibrated is not None]
    if not here:
        return f"Not known: {NO_PAIR}."
    accuracy, label = max(elsewhere or here)
    tuned = "" if elsewhere else f" ({MARK})"
    return f"With ties, {label} gets the most pairs of systems right, item by item: {accuracy:.0%}{tuned}."
