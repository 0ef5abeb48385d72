"""What the metrics of a leaderboard say of the best system, in sentences. What raters say, their results say."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotation.core.numbers import counted
from annotation.core.prose import enumerated
from annotation.results.selectors.leading import Leading, leading
from metrics.selectors.leaderboard_table import Column, Leaderboard
from metrics.selectors.run_items import ItemSet
from metrics.selectors.same_scores import Content, content_of, have_same_scores

NAMED = 3  # of systems in a list
CLAUSES = 2  # about systems that cannot be told apart
OPENINGS = ("All ", "Both ", "Each ", "Metrics ")  # of sentences, which begin small after a colon
ITEM_SETS = 3  # of which the best systems are named


def summary(board: Leaderboard) -> list[str]:
    """Return the sentences, apart for metrics over different items; none if there is nothing to compare."""
    metrics, same = _leading(board)
    if not metrics:
        return _as_sentences(_level(board))
    sets, apart = _by_items(metrics), [*same, *_as_sentences(_level(board)), *_not_compared(metrics)]
    if len(sets) == 1:
        return [*_of_metrics(metrics), *apart]
    sentences = []
    alike = Counter(of_set[0].items.words for of_set in sets)
    for of_set in sets[:ITEM_SETS]:
        first, *rest = _of_metrics(of_set)
        items = of_set[0].items
        told_by = f" ({items.chosen_by})" if alike[items.words] > 1 else ""
        sentences += [f"Over {items.words}{told_by}: {first}", *rest]
    if left := sum(map(len, sets[ITEM_SETS:])):
        sentences.append(f"{counted(left, 'more metric')} over other items: see the table.")
    return [*sentences, *apart, "Scores over different items are not compared with each other."]


def headline(board: Leaderboard) -> str:
    """Return a sentence of all metrics over the same items; nothing if there is nothing to compare.

    If metrics are over different items, it is about the items of most metrics; a single one over others is named, too.
    """
    metrics, same = _leading(board)
    if not metrics:
        return " ".join(_as_sentences(_level(board)))
    sets = _by_items(metrics)
    most = max(sets, key=len)
    verdict, is_one_of_several = _majority(most), len(sets) > 1
    if is_one_of_several:
        verdict = f"Over {most[0].items.words}: {_small(verdict)}"
    others = [column for of_set in sets if of_set is not most for column in of_set]
    if len(others) == 1:
        best = enumerated(others[0].best, NAMED)
        verdict += f" {others[0].name}, over {others[0].items.words}, puts {best} first, {_sure(others[0])}."
    left_out = _as_sentences([*_smoothed(board), *_level(board)])
    return " ".join([verdict, *same, *left_out, *_not_compared(_by_winner(most)[0][1])])


def lead(board: Leaderboard) -> str:
    """Return the shortest answer, of the metrics over the same items that are most; '' without any to compare."""
    metrics, _ = _leading(board)
    if not metrics:
        return " ".join(_as_sentences(_level(board)))
    sets = _by_items(metrics)
    most = max(sets, key=len)
    verdict = _majority(most, is_short=True).removesuffix(".")
    others = [column for of_set in sets if of_set is not most for column in of_set]
    if len(others) == 1:
        by, best = f"over {others[0].items.words} {others[0].name} puts", enumerated(others[0].best, NAMED)
        verdict += f"; {by} {best} first, {_sure(others[0])}"
    if len(sets) > 1:
        verdict = f"Over {most[0].items.words}: {_small(verdict)}"
    return f"{'; '.join([verdict, *_smoothed(board), *_level(board)])}."


def _sure(column: Column) -> str:
    if not column.is_tested:
        return "not tested"
    return "for certain" if replace(column, apart=[]).is_sure else "not for certain"


def _smoothed(board: Leaderboard) -> list[str]:
    """Say which metrics are not counted, since their best score is smoothed."""
    names = list(dict.fromkeys(column.name for column in board.columns if column.unmatched and not column.is_human))
    return [f"{enumerated(names, NAMED)}, smoothed, {'is' if len(names) == 1 else 'are'} not counted"] if names else []


def _level(board: Leaderboard) -> list[str]:
    """Say which metrics give each system that they score the same score; they put none first."""
    names: dict[int, list[str]] = {}
    named = Counter(column.name for column in board.columns)
    for column in board.columns:
        if column.level and column.judges_quality and not column.is_human:
            over = f" over {column.items.words}" if named[column.name] > 1 else ""
            names.setdefault(column.level, []).append(f"{column.name}{over}")
    return [
        f"{enumerated(of_level, NAMED)} {'gives' if len(of_level) == 1 else 'give'} "
        f"{'both' if level == 2 else f'all {level}'} systems the same score"
        for level, of_level in names.items()
    ]


def _as_sentences(clauses: Sequence[str]) -> list[str]:
    return [f"{clause}." for clause in clauses]


def _small(sentence: str) -> str:
    """Begin a sentence after others in small letters, unless it begins with a name."""
    return f"{sentence[0].lower()}{sentence[1:]}" if sentence.startswith(OPENINGS) else sentence


def beside_raters(board: Leaderboard) -> str:
    """Return how the system that most metrics put first stands by the raters; empty without raters or such a system.

    It is about the first campaign, and empty if the raters' criteria say different things of the system.
    """
    metrics, _ = _leading(board)
    if not metrics or not board.ratings:
        return ""
    (winner, agreeing), *rest = _by_winner(max(_by_items(metrics), key=len))
    if len(agreeing) == 1 < len(metrics) or any(len(columns) == len(agreeing) for _, columns in rest):
        return ""
    campaign = board.ratings[0]
    verdicts = [each.verdict for each in board.columns if each.ratings is campaign and each.verdict]
    stands = {_by_raters(winner, leading(verdict)) for verdict in verdicts}
    return stands.pop() if len(stands) == 1 else ""


def _by_raters(winner: str, raters: Leading) -> str:
    """Return how a system that metrics put first stands to the first by the raters."""
    among = ", among the systems that it shares items with" if raters.apart else ""
    if winner == raters.first and not raters.tied and not raters.ahead:
        return f"The raters put {winner} first, too{among}." if raters.behind else ""
    if winner in [raters.first, *raters.tied, *raters.ahead]:
        return f"By the raters {winner} may be first, too{among}."
    return f"The raters rate {raters.first} better than {winner}." if winner in raters.behind else ""


def _by_items(metrics: Sequence[Column]) -> list[list[Column]]:
    """Return the metrics that are over the same items together, those over most items first."""
    sets: dict[ItemSet, list[Column]] = {}
    for column in metrics:
        sets.setdefault(column.items, []).append(column)
    return sorted(sets.values(), key=lambda columns: -columns[0].items.scored)


def _leading(board: Leaderboard) -> tuple[list[Column], list[str]]:
    """Return the columns of metrics that say which system is best, and sentences on those that say the same again.

    Imports of the same scores under several names are one metric. There are none if there is a single system.
    """
    if len(board.rows) < 2:
        return [], []
    metrics: list[Column] = []
    names: dict[Content, list[str]] = {}
    for column in board.columns:
        if not column.leads or column.is_human:
            continue
        content = content_of(column.run.metric, column.run.parameters) if column.run else None
        if content is None or content not in names:
            metrics.append(column)
        if content is not None:
            names.setdefault(content, []).append(column.name)
    same = [have_same_scores(others, first) for first, *others in names.values() if others]
    return metrics, same


def _majority(metrics: Sequence[Column], *, is_short: bool = False) -> str:
    """Return which system most metrics put first, and how many of them tell it from every other system."""
    (winner, agreeing), *rest = _by_winner(metrics)
    if len(metrics) == 1:
        short = f"{metrics[0].name} puts {winner} first, {_sure(metrics[0])}."
        return short if is_short else " ".join(_of_metrics(metrics))
    if len(agreeing) == 1:
        return f"Each of {len(metrics)} metrics puts another system first."
    first = [system for system, columns in [(winner, agreeing), *rest] if len(columns) == len(agreeing)]
    if len(first) > 1:
        return f"Metrics disagree; {enumerated(first, NAMED)} are each first by {len(agreeing)} of {len(metrics)}."
    others = [column for _, columns in rest for column in columns]
    every = f"{len(agreeing)} of {len(metrics)}" if others else _all_of(len(metrics))
    but = (
        f" (all but {enumerated([column.name for column in others], NAMED)})"
        if 0 < len(others) < min(len(agreeing), NAMED)
        else ""
    )
    sure = sum(replace(column, apart=[]).is_sure for column in agreeing)
    if is_short:
        return f"{every} metrics{but} put {winner} first, {_for_certain(sure, len(agreeing))}."
    sure_ones = "none" if not sure else "each" if sure == len(agreeing) else f"{sure}"
    tell = f"{sure_ones} of them {'tell' if 1 < sure < len(agreeing) else 'tells'}"
    verdict = f"{every} metrics{but} put {winner} first; {tell} it from every other system"
    return f"{verdict} that it shares items with." if any(column.apart for column in agreeing) else f"{verdict}."


def _for_certain(sure: int, n: int) -> str:
    if sure == n:
        return "each for certain"
    return f"{sure} of them for certain" if sure else "none for certain"


def _all_of(n: int) -> str:
    return "Both" if n == 2 else f"All {n}"


def _not_compared(columns: Sequence[Column]) -> list[str]:
    """Say which best systems are not compared with which others; nothing if each pair is."""
    found = dict.fromkeys(
        tuple(sorted((best, name))) for column in columns for best in column.best for name in column.apart
    )
    pairs = [f"{first} and {second}" for first, second in found]
    if not pairs:
        return []
    if len(pairs) > NAMED:
        return [f"{len(pairs):,} pairs of systems share no items, or too few, and are not compared."]
    names = pairs[0] if len(pairs) == 1 else f"{'; '.join(pairs)}: these pairs"
    return [f"{names} share no items, or too few, and are not compared."]


def _by_winner(metrics: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Return the best systems with the metrics that put them first, the system of most metrics first."""
    by_winner: dict[str, list[Column]] = {}
    for column in metrics:
        by_winner.setdefault(enumerated(column.best, NAMED), []).append(column)
    return sorted(by_winner.items(), key=lambda each: -len(each[1]))


def _of_metrics(metrics: Sequence[Column]) -> Iterator[str]:
    """Say which metrics put which system first, those that agree together, and which cannot tell it from others."""
    (winner, agreeing), *others = _by_winner(metrics)
    clauses = [f"{_they(agreeing, 'puts', 'put')} {winner} first"]
    if others:
        (second, its_metrics), *rest = others
        more = "".join(f", {_labels(columns)} {name}" for name, columns in rest)
        clauses.append(f"{_they(its_metrics, 'puts', 'put')} {second} first{more}")
    yield f"{'; '.join(clauses)}."
    alike: dict[tuple[str, str], list[Column]] = {}
    for column in metrics:
        if column.tied:
            best = "it" if not others else enumerated(column.best, NAMED)
            on = " on the items that both have" if column.has_gaps else ""
            alike.setdefault((best, enumerated(column.tied, NAMED) + on), []).append(column)
    if len(alike) > CLAUSES:
        unsure = [column for column in metrics if column.tied]
        yield f"{_labels(unsure)} cannot tell their best system from others, which the table marks."
    elif alike:
        clauses = [f"{_labels(columns)} cannot tell {best} from {tied}" for (best, tied), columns in alike.items()]
        yield f"{'; '.join(clauses)}."
    if beaten := [column for column in metrics if column.is_beaten]:
        yield f"By {_labels(beaten)} another system is better on the items that both have."
    if untested := [column for column in metrics if not column.is_tested]:
        yield f"Differences by {_labels(untested)} are not tested."


def _labels(columns: Sequence[Column]) -> str:
    return enumerated([column.name for column in columns], NAMED + 1)


def _they(columns: Sequence[Column], singular: str, plural: str) -> str:
    """Return the metrics as the subject of a sentence, with the verb that fits."""
    return f"{_labels(columns)} {singular if len(columns) == 1 else plural}"
