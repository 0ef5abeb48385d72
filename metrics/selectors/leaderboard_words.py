"""What a leaderboard says of the best system, in sentences."""

from collections import Counter
from collections.abc import Sequence

from metrics.selectors.leaderboard import Column, Leaderboard

NAMED = 3  # of systems in a list


def listed(names: Sequence[str], most: int = NAMED) -> str:
    """Return names as prose.

    Examples
    --------
    >>> listed(["BLEU"]), listed(["BLEU", "chrF"]), listed(["a", "b", "c", "d", "e"])
    ('BLEU', 'BLEU and chrF', 'a, b and 3 more')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def summary(board: Leaderboard) -> list[str]:
    """Return the sentences; none if there is nothing to compare."""
    leading = [column for column in board.columns if column.leads]
    metrics = [column for column in leading if not column.is_human]
    if len(board.rows) < 2 or not metrics:
        return []
    return [*map(_of_raters, (column for column in leading if column.is_human)), *_of_metrics(metrics)]


def _of_metrics(metrics: Sequence[Column]) -> list[str]:
    """Say which system most metrics put first, then what qualifies that, then which metrics put others first."""
    counts = Counter(name for column in metrics for name in column.best)
    top = max(counts, key=lambda name: counts[name])
    first = [column for column in metrics if column.best == [top]]
    sentences = []
    named = top
    if clear := [column for column in first if not column.tied]:
        untested = "" if any(column.is_tested for column in clear) else "; the differences are not tested"
        sentences.append(f"{_they(clear, 'puts', 'put')} {named} first{untested}.")
        named = "it"
    if unclear := [column for column in first if column.tied]:
        rivals = _names(unclear, "tied")
        sentences.append(f"{_they(unclear, 'puts', 'put')} {named} first, but cannot tell it from {listed(rivals)}.")
    others = [column for column in metrics if column not in first]
    if near := [column for column in others if top in (*column.tied, *column.best)]:
        winners = [name for name in _names(near, "best") if name != top]
        sentences.append(f"{_they(near, '', '')}cannot tell {top} from {listed(winners)}.")
    if far := [column for column in others if column not in near]:
        sentences.append(_of_others(far))
    return sentences


def _of_others(columns: Sequence[Column]) -> str:
    """Say which metrics put which system first: “TER puts A first, FM and AM-FM B.”"""
    by_winner: dict[str, list[Column]] = {}
    for column in columns:
        by_winner.setdefault(listed(column.best), []).append(column)
    (winner, first), *rest = by_winner.items()
    others = "".join(f", {listed([column.label for column in each], NAMED + 1)} {name}" for name, each in rest)
    return f"{_they(first, 'puts', 'put')} {winner} first{others}."


def _of_raters(column: Column) -> str:
    who = column.label if column.ratings is None or column.label == "Raters" else f"Raters of “{column.ratings.name}”"
    best = listed(column.best)
    but = f", but {best} cannot be told from {listed(column.tied)} by their ratings" if column.tied else ""
    return f"{who} put {best} first{but}."


def _names(columns: Sequence[Column], which: str) -> list[str]:
    return list(dict.fromkeys(name for column in columns for name in getattr(column, which)))


def _they(columns: Sequence[Column], singular: str, plural: str) -> str:
    """Return the metrics as the subject of a sentence, with the verb that fits."""
    labels = [column.label for column in columns]
    both = " both" if len(labels) == 2 else ""
    verb = singular if len(labels) == 1 else plural
    return f"{listed(labels, NAMED + 1)}{both} {verb}".rstrip() + ("" if verb else " ")
