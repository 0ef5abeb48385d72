"""Whether a judge or a metric can stand in for raters, from a study's result, as its page says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.core.numbers import counted
from annotation.models import Project, Rater
from annotation.ranking.holm import holm_adjusted
from annotation.rating.selectors.ratings import rater_places
from correlations.results.ceiling import CoefficientCeiling
from correlations.results.levels import SystemPoint
from correlations.results.study import StudyResult, StudyRow
from correlations.results.worth import (
    FittedScores,
    HelpedMean,
    LeftOutRater,
    MarginTest,
    RowWorth,
    StandIn,
    TestedRater,
)
from correlations.selectors.ceilings import too_good
from correlations.selectors.reports import describes_only, is_imported, reads_references, references_in_words
from correlations.selectors.tested_raters import TestedPanel, agrees
from correlations.selectors.tuned import MARK, is_tuned
from correlations.stats.ranking import NO_PAIR
from correlations.stats.worth import LEVEL, MARGINS, PASS_FROM
from metrics.scoring.external import External
from metrics.scoring.settings import with_settings
from metrics.templatetags.report import p_text, percent

WHOM = {"crowd": "a crowd", "skilled": "skilled raters", "experts": "experts"}  # whom a candidate would replace
ONE_OF = {"crowd": "a rater of a crowd", "skilled": "a skilled rater", "experts": "an expert"}
IN_PLACE_OF = "crowd"
LEAST_SAVED = 0.005  # of the ratings
SCALES = {
    "ratings": "Its scores are ratings on the raters' own scale, and taken as they are.",
    "bounds": "The lowest and the highest possible score were put on the ends of the raters' scale.",
    "line": "Its scores were put on the raters' scale by straight lines, each fitted to the ratings of other items.",
}


def saves(saved: float | None) -> bool:
    """Return whether a share of ratings is saved that is not written as 0 %."""
    return saved is not None and saved >= LEAST_SAVED


def saved_in_words(saved: float | None) -> str:
    """Return the share of ratings saved as a table's cell: where the scores help not at all, or harm, there is none."""
    return percent(saved) if saved is None or saves(saved) else "none"


@dataclass(frozen=True)
class Candidate:
    """A row in place of a rater, with the margin for those whom it would replace."""

    row: StudyRow
    index: int
    worth: RowWorth
    whom: str
    margin: MarginTest | None
    same_winning_rate: float  # of one and the same rating for every output of the row
    lead_p: float  # after Holm over its family, that it leads that rating by no more than the margin; 1 if undefined
    family: int  # rows that may stand in as this one may, itself included: judges, or metrics; equal scores once
    systems: Sequence[SystemPoint]
    human: CoefficientCeiling  # one rater against the others over single outputs, and the row in the rater's place
    symbol: str  # of that coefficient
    too_good: bool = False  # it agrees with the ratings more than is expected of a score that has not seen them

    @property
    def label(self) -> str:
        """Return the metric with its settings and its references, since rows of one metric may differ in these."""
        return f"{with_settings(self.row.label, self.row.signature)}{self._references}"

    @property
    def name_and_settings(self) -> tuple[str, str]:
        """Return the label in two parts: the name, which a table keeps whole, and its settings in brackets."""
        name, bracket, settings = with_settings(self.row.label, self.row.signature).partition(" (")
        return name, f"{bracket}{settings}"

    @property
    def short_label(self) -> str:
        return f"{self.row.label}{self._references}"

    @property
    def _references(self) -> str:
        return f" with {references_in_words(self.row)}" if reads_references(self.row) else ""

    @property
    def is_judge(self) -> bool:
        return is_imported(self.row)

    @property
    def family_in_words(self) -> str:
        """Return over how many rows the p of its lead is corrected; empty if it is the only one."""
        return f"{self.family:,} {'judges' if self.is_judge else 'metrics'}" if self.family > 1 else ""

    @property
    def lead_p_in_words(self) -> str:
        """Return the p of its lead over one rating for all."""
        return p_text(self.lead_p) + (f", corrected for {self.family_in_words}" if self.family > 1 else "")

    @property
    def same_passes(self) -> bool:
        """Return whether one and the same rating for every output passes, too, so that passing shows no judgement."""
        return self.same_winning_rate >= PASS_FROM

    @property
    def agrees_nowhere(self) -> bool:
        """Return whether it is not shown to agree output by output: a fitted line may turn its scores round."""
        if self.human.metric is None:
            return False
        return self.human.metric <= 0 or (self.human.metric_ends is not None and self.human.metric_ends[0] <= 0)

    @property
    def contradicts(self) -> bool:
        """Return whether its high scores are shown to go with the raters' low ratings."""
        return self.agrees_nowhere and self.human.metric_ends is not None and self.human.metric_ends[1] < 0

    @property
    def agrees_more(self) -> bool:
        """Return whether it is shown to agree more closely with the other raters than a rater in that place does."""
        return self.human.difference_ends is not None and self.human.difference_ends[0] > 0

    @property
    def tells_more(self) -> bool:
        """Return whether its points show judgement: it is clearly closer to the raters than one rating for all."""
        return self.lead_p <= LEVEL and not self.agrees_nowhere

    @property
    def qualifies(self) -> bool:
        """Return whether the row passes with enough raters, and shows judgement."""
        return self.passed and self.panel is not None and self.panel.passes and self.tells_more

    @property
    def may_have_seen(self) -> bool:
        """Return whether all that speaks against the row is that it is too good: made with the ratings, any is."""
        return self.qualifies and self.too_good

    @property
    def can(self) -> bool:
        """Return whether the row is shown to stand in."""
        return self.qualifies and not self.too_good

    @property
    def cannot(self) -> bool:
        """Return whether the row is shown not to stand in: it falls short of most raters by more than the margin."""
        return not self.passed and self.panel is not None and self.panel.fails

    @property
    def panel(self) -> TestedPanel | None:
        """Return the raters that it was tested against; None if it was not."""
        return None if self.margin is None else TestedPanel(self.stand_in, self.margin)

    @property
    def too_few(self) -> str:
        """Return why too few raters were tested for an answer, as the end of a sentence; empty if enough were."""
        return "" if self.panel is None else self.panel.too_few

    @property
    def tested_against(self) -> str:
        """Return who was tested, as a sentence; empty if it was not tested."""
        return "" if self.panel is None else self.panel.in_words

    @property
    def stands_in(self) -> str:
        """Return the answer as a table's cell."""
        if self.margin is None:
            return ""
        if self.can:
            return "yes"
        if self.may_have_seen:
            return "not testable: too good"
        if self.cannot:
            return "no"
        if describes_only(self.row):
            return "not a judge of quality"
        if self.too_few:
            return "not shown: too few raters"
        if self.passed and self.agrees_nowhere:
            return f"not shown: {self.disagreement}"
        if self.passed and self.same_passes:
            return f"not shown: one rating for all passes, too{self._order_in_words}"
        if self.passed and not self.tells_more:
            return "not shown to beat one rating"
        return "undecided"

    @property
    def _order_in_words(self) -> str:
        """Return how closely it orders outputs beside a rater, as the end of a table's cell; empty if not shown."""
        if self.agrees_more:
            return "; it orders outputs more closely than a rater"
        ends = self.human.difference_ends
        return "; it orders outputs less closely than a rater" if ends is not None and ends[1] < 0 else ""

    @property
    def passed(self) -> bool:
        return self.margin is not None and self.margin.passed

    @property
    def lead(self) -> float | None:
        """Return how much more often than one and the same rating the row is at least as close as a rater."""
        return self.worth.same_rating.lead

    @property
    def fitted(self) -> FittedScores | None:
        return self.worth.fitted

    @property
    def disagreement(self) -> str:
        """Return what is known of a row that is not shown to agree output by output, as part of a sentence."""
        if self.contradicts:
            return "output by output its high scores go with low ratings"
        return "it is not shown to agree output by output"

    @property
    def stand_in(self) -> StandIn:
        return self.worth.stand_in

    @property
    def advantage(self) -> float:
        return -1.0 if self.stand_in.advantage is None else self.stand_in.advantage

    @property
    def order(self) -> tuple[bool, float, float]:
        """Return what sorts rows: an agreement does not depend on the scale of the scores, as all else here does."""
        return self.qualifies, -2.0 if self.human.metric is None else self.human.metric, self.advantage

    @property
    def default_order(self) -> tuple[bool, bool]:
        """Return what puts judges before imported metrics, and these before others."""
        imported = self.row.metric == External.name
        return imported and self.stand_in.scale == "ratings", imported

    @property
    def scale(self) -> str:
        return SCALES[self.stand_in.scale]

    @property
    def nothing_to_save(self) -> bool:
        """Return whether every scored output is rated, so that the scores have nothing to add."""
        return bool(self.worth.means) and all(each.rated == each.scored for each in self.worth.means)

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
    imported_as: str = ""  # what a file of ratings calls the rater, for managers

    @property
    def agrees(self) -> bool:
        return agrees(self.tested)

    @property
    def beaten(self) -> bool:
        return self.p_corrected <= LEVEL


@dataclass(frozen=True)
class StandInReport:
    """What the page shows: all candidates, the best first, and the one that its answer is about."""

    result: StudyResult
    whom: str
    candidates: Sequence[Candidate]
    chosen: Candidate
    raters: Mapping[int, Rater]  # by place
    names: Mapping[int, str] = field(default_factory=dict)  # of imported raters by their ids, for managers

    @property
    def replaced(self) -> str:
        """Return whom a candidate would replace, as part of a sentence."""
        return ONE_OF[self.whom]

    @property
    def epsilon(self) -> float:
        return MARGINS[self.whom]

    @property
    def others(self) -> Sequence[Candidate]:
        return [candidate for candidate in self.candidates if candidate is not self.chosen]

    @property
    def lines(self) -> list[RaterLine]:
        """Return the tested raters of the chosen candidate, those it beats least clearly last."""
        margin = self.chosen.margin
        if margin is None:
            return []
        parts = zip(self.chosen.stand_in.raters, margin.p, margin.p_corrected, strict=True)
        lines = [
            RaterLine(self.raters.get(tested.rater), tested, p, p_corrected, self._name(tested.rater))
            for tested, p, p_corrected in parts
        ]
        return sorted(lines, key=lambda line: (line.p_corrected, -line.tested.advantage))

    @property
    def left_out(self) -> list[tuple[Rater | None, str, LeftOutRater]]:
        """Return each rater with too few outputs, and what a file of ratings calls the rater."""
        return [(self.raters.get(each.rater), self._name(each.rater), each) for each in self.chosen.stand_in.left_out]

    def _name(self, place: int) -> str:
        rater = self.raters.get(place)
        return "" if rater is None else self.names.get(rater.pk, "")

    @property
    def means(self) -> Sequence[HelpedMean]:
        return self.chosen.worth.means

    @property
    def all_rated(self) -> bool:
        """Return whether every scored output of the chosen candidate is rated, so that there is nothing to save."""
        return self.chosen.nothing_to_save


def stand_in_report(project: Project, result: StudyResult, whom: str, row: int | None) -> StandInReport | None:
    """Return the report for those whom a candidate would replace; None for unknown ones, or for an unknown row.

    Without a row it is about a judge on the raters' scale, else about imported scores, else about the best row.
    """
    if whom not in MARGINS:
        return None
    candidates = stand_in_candidates(result, whom)
    chosen = default_candidate(candidates)
    if row is not None:
        found = [entry for entry in candidates if entry.index == row]
        if not found:
            return None
        chosen = found[0]
    pks = {place: pk for pk, place in rater_places(project.pk).items()}
    stored = Rater.objects.in_bulk(pks.values())
    return StandInReport(
        result, whom, candidates, chosen, {place: stored[pk] for place, pk in pks.items() if pk in stored}
    )


def default_candidate(candidates: Sequence[Candidate]) -> Candidate:
    return max(candidates, key=lambda candidate: candidate.default_order)  # the first of equals


def stand_in_candidates(result: StudyResult, whom: str) -> list[Candidate]:
    """Return the rows as candidates, those that can stand in first, then those that agree most with the raters."""
    leads = _corrected_leads(result, whom)
    suspicious = [row for row, _ in too_good(result)]
    entries = [
        Candidate(
            row=row,
            index=index,
            worth=worth,
            whom=whom,
            margin=worth.stand_in.margins.get(whom),
            same_winning_rate=worth.same_rating.winning_rates.get(whom, 0.0),
            lead_p=lead_p,
            family=family,
            systems=levels.system.systems,
            human=ceiling.coefficients[result.lead.key],
            symbol=result.lead.symbol,
            too_good=row in suspicious,
        )
        for index, (row, worth, levels, ceiling, (lead_p, family)) in enumerate(
            zip(result.rows, result.worth, result.levels, result.ceilings, leads, strict=True)
        )
    ]
    return sorted(entries, key=lambda entry: entry.order, reverse=True)


def _corrected_leads(result: StudyResult, whom: str) -> list[tuple[float, int]]:
    """Return for each row the p of its lead after Holm, and over how many rows.

    Judges are one family and metrics another: that a metric was scored, too, says nothing of whether a judge was
    chosen because it came out well. Two imports of the same scores are one test.
    """
    families: dict[bool, dict[tuple[object, ...], float]] = {True: {}, False: {}}
    tests = []
    for row, worth in zip(result.rows, result.worth, strict=True):
        same, p = worth.same_rating, worth.same_rating.lead_p.get(whom)
        test = (p, same.lead, worth.stand_in.advantage, worth.stand_in.outputs)
        families[is_imported(row)].setdefault(test, 1.0 if p is None else p)
        tests.append((is_imported(row), test))
    adjusted = {
        kind: dict(zip(family, holm_adjusted(list(family.values())).tolist(), strict=True))
        for kind, family in families.items()
        if family
    }
    return [(adjusted[kind][test], len(adjusted[kind])) for kind, test in tests]


def answers(result: StudyResult) -> list[dict[str, str]]:
    """Return of each row whether it stands in, by whom it would replace; empty words where it is not tested."""
    found: list[dict[str, str]] = [{} for _ in result.rows]
    for whom in MARGINS:
        for candidate in stand_in_candidates(result, whom):
            found[candidate.index][whom] = candidate.stands_in
    return found


def ranking_sentence(result: StudyResult) -> str:
    """Return in one sentence which row orders most pairs of systems, item by item, as the raters do.

    The threshold for ties is that of other items, so that no row is favoured; its own if no other item has a pair.
    """
    rows = list(zip(result.rows, result.worth, strict=True))
    all_ranked = [(row.label, worth.ranking, is_tuned(result, row)) for row, worth in rows]
    elsewhere = [(each.held_out, label, each.chance, of) for label, each, of in all_ranked if each.held_out is not None]
    here = [(each.calibrated, label, each.chance, True) for label, each, _ in all_ranked if each.calibrated is not None]
    if not here:
        return f"Not known: {NO_PAIR}."
    accuracy, label, chance, chosen = max(elsewhere or here, key=lambda row: row[:2])
    tuned = f" ({MARK})" if chosen else ""
    if len(rows) == 1:
        which = f"{label} gets {accuracy:.0%}{tuned} of the pairs of systems right, item by item and with ties"
    else:
        which = f"{label} gets the most pairs of systems right, item by item and with ties: {accuracy:.0%}{tuned}"
    return f"{which}. Chance alone gives {chance or 0.0:.0%} with ties."
