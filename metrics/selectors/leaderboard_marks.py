"""What a leaderboard's columns say of the systems, and what of their marks needs a clause."""

from collections.abc import Iterable, Mapping

from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.results.selectors.leading import BEST, TIED
from annotation.results.selectors.verdicts import CriterionVerdict
from metrics.selectors.discouraged import GOOD
from metrics.selectors.leaderboard_table import Cell, Column, Leaderboard

NAMED = 4
CROSSED = (
    "A better number can be behind: each two systems are compared item by item, and some differences vary more than "
    "others."
)


def note_marks(column: Column, cells: Iterable[Cell]) -> None:
    """Note whether a column's best score is smoothed, whether all scores are equal, and what its tests say.

    They say whether no system is behind, and whether one is that has a better score than another.
    """
    scored = [cell for cell in cells if cell.score is not None]
    sign = 1 if column.higher_is_better else -1
    column.level = len(scored) if len(scored) > 1 and len({cell.score for cell in scored}) == 1 else 0
    column.unmatched = max(scored, key=lambda cell: sign * (cell.score or 0.0)).unmatched if scored else None
    if not column.is_tested:
        return
    column.is_open = len(scored) > 1 and all(cell.standing in (BEST, TIED) for cell in scored)
    tied, behind = ([sign * (cell.score or 0.0) for cell in scored if cell.standing == kind] for kind in (TIED, ""))
    column.is_crossed = bool(tied and behind) and max(behind) > min(tied)


def note_agreement(column: Column, verdict: CriterionVerdict | None, scores: Mapping[str, float | None]) -> None:
    """Note how many pairs a metric orders as the raters, of those that the raters tell apart for certain."""
    if verdict is None or column.is_human or not column.judges_quality:
        return
    sign = 1 if column.higher_is_better else -1
    of = {each.name: next((scores[name] for name in each.names if name in scores), None) for each in verdict.systems}
    differences = [
        sign * (better - worse)
        for pair in verdict.pairs
        if pair.is_certain
        for better, worse in [(of.get(pair.first), of.get(pair.second))]
        if better is not None and worse is not None
    ]
    column.agreed, column.certain_pairs = sum(difference > 0 for difference in differences), len(differences)


def open_note(board: Leaderboard) -> str:
    """Say by which columns each system may be the best; empty if by none."""
    tested = [column for column in board.columns if column.is_tested and column.judges_quality]
    names = list(dict.fromkeys(column.name for column in tested if column.is_open))
    if not names:
        return ""
    if all(column.is_open for column in tested):
        return "Any system may be the best by every column: none is shown to be worse."
    by = enumerated(
        [f"the {name[:1].lower()}{name[1:]}" if name.startswith("Raters") else name for name in names], NAMED
    )
    return f"Any system may be the best by {by}: none is shown to be worse."


def bad_note(board: Leaderboard) -> str:
    """Say how many metrics reward matches with references that raters found bad, and what to do; empty if none does."""
    n = len([column for column in board.columns if column.rewards_bad and column.judges_quality])
    if not n:
        return ""
    take, reward = ("takes", "rewards") if n == 1 else ("take", "reward")
    return (
        f"{counted(n, 'metric')} {take} all references, bad ones too (of negative weight or random) and {reward} an "
        f"output for matching them. A new score run with {GOOD} leaves these out."
    )


def smoothed_note(board: Leaderboard) -> str:
    """Say which metrics are not counted, since a factor of their best score is smoothed; empty if none."""
    smoothed = {column.name: column.unmatched for column in board.columns if column.unmatched}
    if not smoothed:
        return ""
    are, its = ("is", "its") if len(smoothed) == 1 else ("are", "their")
    orders = enumerated([f"{order}-gram" for order in sorted(set(smoothed.values()))])
    return (
        f"{enumerated(list(smoothed), NAMED)} {are} not counted among the metrics: no {orders} of {its} best system "
        "matches a reference, so without smoothing the score would be 0."
    )


def crossed_note(board: Leaderboard) -> str:
    """Explain a system that is behind with a better score than one that may be the best; empty if none is."""
    explained = bool(board.rank_note)  # of raters
    crossed = (column for column in board.columns if column.is_crossed and column.judges_quality)
    return CROSSED if any(not (explained and column.is_human) for column in crossed) else ""
