"""Files with a judgement in each row: a column or a row for each criterion; as a table or as JSON Lines."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial

from annotation.core.near_names import nearest
from annotation.core.problems import Problems, listed
from annotation.core.progress import Beat
from annotation.core.rows import Oddities, Table, beating, check_header, read_jsonl, square, unknown_name
from annotation.datasets.services.content import check_text
from annotation.judgements.services.content import Cells, RatingContent, check_criteria
from annotation.judgements.services.options import OTHER_NAMES, OWN_COLUMNS, RatingOptions

COLUMNS = tuple(name for name in OWN_COLUMNS if name != "n")
JSON_NAMES = (*COLUMNS[:-2], "ratings")
SENT = "sent"  # another name of "time"


def rename_header(table: Table, options: RatingOptions) -> None:
    """Give columns Assay's names, by the options or by custom."""
    names = {theirs: ours for ours, theirs in options.columns.items()}
    if "time" not in options.columns and "time" not in table.header:
        names.setdefault(SENT, "time")
    table.header = [names.get(name, name) for name in table.header]


def table_rows(table: Table, options: RatingOptions, problems: Problems) -> tuple[RatingContent, Iterable[Cells]]:
    rename_header(table, options)
    is_long = "criterion" in table.header and "value" in table.header
    others = [name for name in table.header if name not in COLUMNS]
    if options.criteria and not is_long:
        check_header(table, problems, required=["rater", "item", *options.criteria], known=None, synonyms=OTHER_NAMES)
        criteria = options.criteria
    else:
        known = COLUMNS if is_long else None
        check_header(table, problems, required=["rater", "item"], known=known, synonyms=OTHER_NAMES)
        criteria = [] if is_long else others
    check_names_a_response(table, problems)
    if not is_long and not criteria:
        accepted = "a column for each criterion, or the columns criterion and value"
        problems.add(table.header_line, "criteria", "none", accepted)
    problems.refuse()
    square(table, problems)
    read = RatingContent(criteria, rows=len(table.rows), oddities=table.oddities)
    rows = _cells(table, criteria)
    return (read, _joined(list(rows), read, options, problems)) if is_long else (read, rows)


def _cells(table: Table, criteria: list[str]) -> Iterator[Cells]:
    for line, cells in table.each():
        named = dict(zip(table.header, cells, strict=True))
        yield Cells(line, named, {name: named[name] for name in criteria})


def check_names_a_response(table: Table, problems: Problems) -> None:
    if "system" not in table.header and "text" not in table.header:
        near = [(name, nearest(name, ["system", "text"], OTHER_NAMES)) for name in table.header]
        hint = next((f" (did you mean the column {name}?)" for name, meant in near if meant), "")
        accepted = f"a column named system, or one named text{hint}"
        problems.add(table.header_line, "system", "no such column", accepted)


def _joined(rows: list[Cells], read: RatingContent, options: RatingOptions, problems: Problems) -> list[Cells]:
    """Join rows of one criterion each: the n-th value of each criterion belongs to the n-th judgement."""
    names = dict.fromkeys(row.fields["criterion"].strip() for row in rows)
    read.criteria = options.criteria or [name for name in names if name]
    check_criteria(read.criteria, problems)
    judgements: dict[tuple[str, ...], list[Cells]] = defaultdict(list)
    n_values: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        criterion = row.fields["criterion"].strip()
        if criterion not in read.criteria:
            problems.add(row.line, "criterion", criterion, f"one of {listed(read.criteria)}")
            continue
        key = tuple(row.fields.get(name, "") for name in ("rater", "item", "system", "text"))
        same, number = judgements[key], n_values[criterion, *key]
        if number == len(same):
            same.append(Cells(row.line, row.fields, {}))
        same[number].values[criterion] = row.fields["value"]
        n_values[criterion, *key] += 1
    joined = [judgement for same in judgements.values() for judgement in same]
    for judgement in joined:
        for missing in [name for name in read.criteria if name not in judgement.values]:
            accepted = f"a value for each of {listed(read.criteria)} in every judgement (this one begins here)"
            problems.add(judgement.line, missing, "no row", accepted)
    return [judgement for judgement in joined if len(judgement.values) == len(read.criteria)]


def jsonl_rows(
    content: bytes, options: RatingOptions, problems: Problems, beat: Beat
) -> tuple[RatingContent, list[Cells]]:
    theirs = {ours: options.columns.get(ours, ours) for ours in COLUMNS}
    oddities, rows = Oddities(), []
    criteria = list(options.criteria)
    known = {options.columns.get(name, name): name for name in JSON_NAMES}
    for line, value in beating(read_jsonl(content, problems, oddities), beat):
        if theirs["time"] not in value and SENT in value:
            value[theirs["time"]] = value.pop(SENT)
        for name in value:
            if name not in known:
                accepted = partial(unknown_name, name, list(known), OTHER_NAMES, among="only")
                problems.add(line, name, "an unknown field", accepted)
        ratings = value.get("ratings")
        if not isinstance(ratings, dict) or not ratings:
            problems.add(line, "ratings", ratings, 'an object, such as {"relevance": 4}')
            continue
        criteria = criteria or list(ratings)
        if sorted(ratings) != sorted(criteria) and not (options.criteria and set(criteria) <= set(ratings)):
            problems.add(line, "ratings", listed(ratings), f"the criteria {listed(criteria)}")
            continue
        fields = {
            name: check_text(value.get(theirs[name]), line, name, problems)
            for name in ("rater", "item", "system", "text", "time", "shown")
        }
        seconds = value.get(theirs["seconds"])
        fields["seconds"] = "" if seconds is None else str(seconds)
        rows.append(Cells(line, fields, {name: ratings[name] for name in criteria}))
    return RatingContent(criteria, rows=len(rows), oddities=oddities), rows
