"""A row in place of each kind of rater at once: for whom it is shown to stand in, for whom not, and what is open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from correlations.results.study import StudyResult
from correlations.selectors.worth import WHOM, Candidate, default_candidate, stand_in_candidates
from correlations.stats.worth import MARGINS


@dataclass(frozen=True)
class KindsOfRaters:
    """One row as a candidate for each kind of rater that it was tested for; without a kind if it was not tested."""

    any_candidate: Candidate  # what does not depend on the kind is read from this one
    by_kind: Mapping[str, Candidate]

    @property
    def able(self) -> list[str]:
        """Return for whom the row is shown to stand in."""
        return [kind for kind, candidate in self.by_kind.items() if candidate.can]

    @property
    def unable(self) -> list[str]:
        """Return for whom the row is shown not to stand in."""
        return [kind for kind, candidate in self.by_kind.items() if candidate.cannot]

    @property
    def open(self) -> list[str]:
        """Return for whom neither is shown."""
        settled = {*self.able, *self.unable}
        return [kind for kind in self.by_kind if kind not in settled]

    @property
    def for_all(self) -> bool:
        return bool(self.by_kind) and self.able == list(self.by_kind)

    @property
    def for_none(self) -> bool:
        return bool(self.by_kind) and self.unable == list(self.by_kind)

    @property
    def may_have_seen(self) -> bool:
        """Return whether all that speaks against the row, for some kind, is that it is too good."""
        return any(candidate.may_have_seen for candidate in self.by_kind.values())

    @property
    def able_in_words(self) -> str:
        """Return for whom the row is shown to stand in, as a table's cell; empty if for no one."""
        if self.for_all and len(self.by_kind) > 1:
            return "for all three kinds"
        return f"for {', '.join(WHOM[kind] for kind in self.able)}" if self.able else ""


def kinds_by_row(result: StudyResult) -> list[KindsOfRaters]:
    """Return each row of the study, in its order."""
    found: list[dict[str, Candidate]] = [{} for _ in result.rows]
    for kind in MARGINS:
        for candidate in stand_in_candidates(result, kind):
            found[candidate.index][kind] = candidate
    return [
        KindsOfRaters(
            next((each for each in kinds.values() if each.margin is not None), next(iter(kinds.values()))),
            {kind: each for kind, each in kinds.items() if each.margin is not None},
        )
        for kinds in found
    ]


def leading_row(rows: Sequence[KindsOfRaters], result: StudyResult) -> KindsOfRaters:
    """Return the row that an answer is about if none is chosen: a judge on the raters' scale before others."""
    (first, *_) = MARGINS
    return rows[default_candidate(stand_in_candidates(result, first)).index]


def leading_judge(rows: Sequence[KindsOfRaters], result: StudyResult) -> KindsOfRaters:
    """Return the row that the front page is about: a judge that can stand in for some kind, before others."""
    able = [row.any_candidate for row in rows if row.any_candidate.is_judge and row.able]
    return rows[default_candidate(able).index] if able else leading_row(rows, result)
