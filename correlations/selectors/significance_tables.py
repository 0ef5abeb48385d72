"""Tables of a study's report for download: every two rows by every test, and clusters."""

from collections.abc import Callable, Mapping
from itertools import chain

from correlations.results.study import StudyResult
from correlations.selectors.significance import Contest, every_contest
from correlations.selectors.tables import Columns, Table, table_of
from correlations.selectors.tuned import tuned_marks

TEST: Columns = {
    "over": lambda shown, *_: shown.level,
    "test": lambda shown, *_: shown.method,
    "coefficient": lambda shown, *_: shown.coefficient.name,
    "draws": lambda shown, *_: shown.draws,
}


def table(result: StudyResult, name: str) -> Table | None:
    """Return the columns and rows of one table; None if there is none of that name."""
    return BUILDERS[name](result) if name in BUILDERS else None


def _significance(result: StudyResult) -> Table:
    contests = every_contest(result)
    marks = {(each.level, each.method): _marks(result, each) for each in contests}
    columns: Columns = {
        **TEST,
        "first": lambda _, pair: pair.first.label,
        "first_references": lambda _, pair: pair.first.subset_label,
        "first_tuned": lambda shown, pair: marks[shown.level, shown.method][result.rows.index(pair.first)],
        "second": lambda _, pair: pair.second.label,
        "second_references": lambda _, pair: pair.second.subset_label,
        "second_tuned": lambda shown, pair: marks[shown.level, shown.method][result.rows.index(pair.second)],
        "outputs_or_items": lambda _, pair: pair.of,
        "first_value": lambda _, pair: pair.first_value,
        "second_value": lambda _, pair: pair.second_value,
        "difference": lambda _, pair: pair.difference,
        "low": lambda _, pair: pair.low,
        "high": lambda _, pair: pair.high,
        "p": lambda _, pair: pair.p,
        "p_holm": lambda _, pair: pair.p_holm,
        "undefined_reason": lambda _, pair: pair.reason,
    }
    return table_of(columns, ((shown, pair) for shown in contests for pair in shown.pairs))


def _marks(result: StudyResult, shown: Contest) -> dict[int, str]:
    return tuned_marks(result, {each.index: each.value for each in shown.contestants})


def _clusters(result: StudyResult) -> Table:
    contests = every_contest(result)
    marks = {(each.level, each.method): _marks(result, each) for each in contests}
    columns: Columns = {
        **TEST,
        "metric": lambda _, each: each.row.label,
        "references": lambda _, each: each.row.subset_label,
        "tuned": lambda shown, each: marks[shown.level, shown.method][each.index],
        "value": lambda _, each: each.value,
        "cluster": lambda _, each: each.cluster,
        "first_rank": lambda _, each: each.first,
        "last_rank": lambda _, each: each.last,
        "significantly_closer_than": lambda _, each: each.wins,
    }
    return table_of(columns, chain.from_iterable(map(_with_contestants, contests)))


def _with_contestants(shown: Contest) -> list[tuple[object, object]]:
    return [(shown, each) for each in shown.contestants]


BUILDERS: Mapping[str, Callable[[StudyResult], Table]] = {"significance": _significance, "clusters": _clusters}
