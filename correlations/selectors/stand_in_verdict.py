"""Whether a row can stand in for each kind of rater at once, in one sentence, and what that rests on.

One builder for the page, the study's page, the front page, the report and the command.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.core.numbers import counted, decimals, in_brackets
from annotation.core.prose import capitalised, enumerated
from correlations.results.common import Ends
from correlations.selectors.points import Point
from correlations.selectors.stand_in_kinds import KindsOfRaters
from correlations.selectors.stand_in_systems import SystemBias
from correlations.selectors.worth import ONE_OF, WHOM, Candidate
from correlations.stats.worth import LEVEL, MARGINS
from metrics.templatetags.report import p_text

THEMSELVES = "they agree with each other"
TOO_GOOD = "agrees with these ratings more closely than is expected of a score that has not seen them"


@dataclass(frozen=True)
class Verdict:
    """``word`` is what a page sets in bold; it may be empty, since the answer may be another for each kind of rater."""

    word: str
    text: str

    def __str__(self) -> str:
        return f"{self.word} {self.text}".strip()


def verdict(row: KindsOfRaters, label: str, whom: str = "") -> Verdict:
    """Return the answer for every kind of rater, that of the chosen kind first; ``whom`` is empty if none is chosen."""
    if not row.by_kind:
        return Verdict("These ratings cannot tell.", f"{label} is not tested: {row.any_candidate.stand_in.reason}.")
    if row.may_have_seen:
        return Verdict("Not testable:", f"{label} {TOO_GOOD}.")
    if too_few := row.any_candidate.too_few:
        return Verdict("Undecided", f"for {label}: {too_few}.")
    groups = [(row.able, _can, "it can"), (row.open, _open, "that is not shown"), (row.unable, _cannot, "it cannot")]
    groups.sort(key=lambda group: whom not in group[0])  # stable: the others keep their order
    (first, leading, _), *others = [group for group in groups if group[0]]
    clauses = [leading(label, first), *(f"for {_one_of(kinds, 'or')} {short}" for kinds, _, short in others)]
    word = ""
    if row.for_all or whom in row.able:
        word = "Yes,"
    elif row.for_none or whom in row.unable:
        word = "No,"
    return Verdict(word, f"{'; '.join(clauses)}.")


def _can(label: str, kinds: Sequence[str]) -> str:
    return f"{label} can stand in for {_one_of(kinds, 'and')}"


def _open(label: str, kinds: Sequence[str]) -> str:
    return f"It is not shown that {label} can stand in for {_one_of(kinds, 'or')}"


def _cannot(label: str, kinds: Sequence[str]) -> str:
    return f"{label} cannot stand in for {_one_of(kinds, 'or')}"


def _one_of(kinds: Sequence[str], conjunction: str) -> str:
    if len(kinds) == len(ONE_OF):
        return "a rater"
    return _joined([ONE_OF[kind] for kind in kinds], conjunction)


def _joined(names: Sequence[str], conjunction: str) -> str:
    if conjunction == "and" or len(names) == 1:
        return enumerated(names)
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


def ordering(row: KindsOfRaters) -> str:
    """Return whether it orders outputs as a rater does, whatever its points are; empty if that is not known."""
    candidate = row.any_candidate
    human = candidate.human
    if not row.by_kind or row.may_have_seen or human.metric is None or human.one_rater is None:
        return ""
    against = f"{candidate.symbol} {decimals(human.metric)} against {decimals(human.one_rater)}"
    if candidate.agrees_nowhere:
        return f"Nor is it shown to order outputs as raters do ({candidate.symbol} = {decimals(human.metric)})."
    if human.difference_ends is None:
        return (
            f"Whether its order of outputs agrees with the raters as closely as {THEMSELVES} is not known ({against})."
        )
    how = "about as closely as"
    if candidate.agrees_more:
        how = "more closely than"
    elif human.difference_ends[1] < 0:
        how = "less closely than"
    return f"Its order of outputs agrees with these raters {how} {THEMSELVES} ({against})."


def basis(row: KindsOfRaters) -> list[Point]:
    """Return what the answer rests on: who was tested, the test, and what one rating for every output would reach."""
    candidate = row.any_candidate
    panel = candidate.panel
    if panel is None:
        return []
    if candidate.too_few:
        return [Point("Raters", panel.in_words)] if panel.n_strangers else []
    return [
        Point("Raters", panel.in_words),
        Point("The test", f"{_beats(row)}. To beat one, it must lie about as close to the others as that rater does."),
        Point("Is passing hard?", f"{capitalised(_constant(row))}. {_lead(row)}"),
    ]


def basis_in_short(row: KindsOfRaters) -> str:
    """Return the same without numbers of each kind, for pages that lead to the answer."""
    candidate = row.any_candidate
    if candidate.panel is None or candidate.too_few:
        return ""
    text = f"{_beats(row)}; {_constant(row)}"
    if candidate.agrees_nowhere:
        text += f", and {candidate.disagreement}"
    elif candidate.lead is not None:
        text += f" (lead over it {decimals(candidate.lead)})"
    return " ".join(filter(None, [f"{text}.", _agreements(candidate), candidate.panel.in_words]))


def _agreements(candidate: Candidate) -> str:
    """Return the agreement of the row and of a rater with the other raters; empty if one is not known."""
    human = candidate.human
    if human.metric is None or human.one_rater is None:
        return ""
    of_row, of_rater = estimated(human.metric, human.metric_ends), estimated(human.one_rater, human.one_rater_ends)
    return f"{candidate.symbol} with the other raters, output by output: its own {of_row}, a rater’s {of_rater}."


def estimated(value: float, ends: Ends | None) -> str:
    return f"{decimals(value)}{in_brackets(ends)}"


def _beats(row: KindsOfRaters) -> str:
    """Return how many raters it beats, by the margins if these differ."""
    beaten = {kind: each.margin.beaten for kind, each in row.by_kind.items() if each.margin is not None}
    raters = counted(len(row.any_candidate.stand_in.raters), "rater")
    if len(set(beaten.values())) == 1:
        return f"It beats {next(iter(beaten.values())):,} of {raters}"
    by_kind = enumerated([f"{n:,} (as for {WHOM[kind]})" for kind, n in beaten.items()])
    return f"It beats {by_kind} of {raters}"


def _constant(row: KindsOfRaters) -> str:
    """Return whether passing shows anything, since one rating for all may pass, too."""
    passing = [kind for kind, each in row.by_kind.items() if each.same_passes]
    mean = row.any_candidate.worth.same_rating.rating
    rating = "one and the same rating for every output"
    if mean is not None:
        rating += f" (the mean, {decimals(mean)})"
    if not passing:
        return f"{rating} does not pass the test"
    too = ", too" if any(each.passed for each in row.by_kind.values()) else ""
    if len(passing) == len(row.by_kind):
        return f"{rating} passes the test{too}"
    return f"{rating} passes the test{too}, for {_joined([WHOM[kind] for kind in passing], 'and')}"


def _lead(row: KindsOfRaters) -> str:
    """Return whether it is closer to the raters than that rating, and for whom by more than the margin."""
    candidate = row.any_candidate
    same = candidate.worth.same_rating
    if candidate.agrees_nowhere:
        return f"{capitalised(candidate.disagreement)}."
    if candidate.lead is None:
        return "How much closer to the raters it is than that rating is not known."
    shown = f"{candidate.row.label} is closer to the raters than that on {same.closer:,} outputs, farther on "
    shown += f"{same.farther:,}"
    if candidate.lead <= 0:
        return f"{shown}: no lead."
    more = [each for each in row.by_kind.values() if each.lead_p <= LEVEL]
    rest = [each for each in row.by_kind.values() if each.lead_p > LEVEL]
    family = candidate.family_in_words
    ends = f"; each p is corrected for {family}." if family else "."
    shown += f": a lead of {decimals(candidate.lead)} of the outputs,"
    if not more:
        return f"{shown} not shown to be more than the margin for {_margins(rest, 'or')}{ends}"
    against = f", not for {_margins(rest, 'or')}" if rest else ""
    return f"{shown} shown to be more than the margin for {_margins(more, 'and')}{against}{ends}"


def _margins(candidates: Sequence[Candidate], conjunction: str) -> str:
    return _joined(
        [f"{WHOM[each.whom]} ({decimals(MARGINS[each.whom])}; {p_text(each.lead_p)})" for each in candidates],
        conjunction,
    )


def bias(row: KindsOfRaters) -> str:
    """Return by how much a judge differs from the raters by system; empty if nothing was tested."""
    return SystemBias.of(row.any_candidate).in_words(may_compare=bool(row.able)) if row.by_kind else ""


def bias_in_short(row: KindsOfRaters) -> str:
    return SystemBias.of(row.any_candidate).in_short if row.by_kind else ""


def others_able(rows: Sequence[KindsOfRaters]) -> list[str]:
    """Return the rows that can stand in, each with the raters for whom; rows of one metric may differ in settings."""
    able = (f"{row.any_candidate.short_label} ({row.able_in_words})" for row in rows if row.able)
    return list(dict.fromkeys(able))
