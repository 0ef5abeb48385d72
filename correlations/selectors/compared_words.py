"""Studies side by side as sentences, a chart, and tables for download."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.core.charts import Spec, Theme
from annotation.core.latex import escape
from annotation.core.numbers import counted, decimals, finite_or_none
from annotation.core.prose import enumerated
from correlations.charts.forest import ForestRow, forest_plot
from correlations.selectors.compared import ONE_DATASET, Compared, Line
from correlations.stats.intervals import NOWHERE, Interval
from correlations.stats.pooled import LEVEL, Pooled

MOST_DRAWN = 12  # rows of the chart
POOLED = "Pooled"


def headline(compared: Compared) -> str:
    """Return the answer in a sentence or two: who is first, and whether two studies differ."""
    parts = [_ranks(compared), _difference(compared) if compared.is_pair else ""]
    return " ".join(filter(None, parts)) or "These studies have no row in common: no metric has the same settings."


def lead_sentences(compared: Compared) -> str:
    """Return the answer as pages and reports lead with it: with what in it was chosen on these items."""
    return " ".join(filter(None, [headline(compared), compared.references_chosen]))


def _ranks(compared: Compared) -> str:
    ranked = compared.ranked
    if ranked is None:
        return ""
    n = len(compared.studies)
    over = counted(n, "data set") if compared.is_independent else counted(n, "study", "studies")
    best = min(range(len(ranked.lines)), key=lambda place: float(ranked.ranks.means[place]))
    mean, leads = float(ranked.ranks.means[best]), int(ranked.ranks.leads[best])
    averages = zip(ranked.lines, ranked.ranks.means.tolist(), strict=True)
    first = [compared.named(line) for line, average in averages if average == mean]
    if len(first) > 1:
        return f"Over {over} {' and '.join(first)} share the first rank on average ({decimals(mean, 1)})."
    leading = "all" if leads == n else "none" if not leads else f"{leads:,}"
    return f"Over {over} {first[0]} ranks first on average ({decimals(mean, 1)}); it leads on {leading} of them."


def pooled_sentence(compared: Compared) -> str:
    """Return the pooled values of the rows with the first rank on average, or of the only row; empty if none is."""
    lines = compared.shared
    if ranked := compared.ranked:
        averages = zip(ranked.lines, ranked.ranks.means.tolist(), strict=True)
        lines = [line for line, average in averages if average == float(ranked.ranks.means.min())]
    pooled = [
        f"{decimals(line.pooled.value)}{_interval_of(line.pooled)} for {compared.named(line)}"
        for line in lines
        if line.pooled is not None and line.pooled.reason is None
    ]
    if not pooled:
        return ""
    return f"Pooled over the data sets, {compared.coefficient.label} with the raters is {enumerated(pooled)}."


def _interval_of(pooled: Pooled) -> str:
    low, high = pooled.interval
    return "" if math.isnan(low) else f", 95% interval [{decimals(low)}, {decimals(high)}],"


def rank_note(compared: Compared) -> str:
    """Return how sure the order of average ranks is; empty if there are none."""
    ranked = compared.ranked
    if ranked is None:
        return ""
    if not compared.is_independent:
        return "The studies share items, so there is no test of the average ranks."
    ranks = ranked.ranks
    nearer = f"Average ranks nearer than {decimals(ranks.critical)} cannot be told apart (Nemenyi)."
    if math.isnan(ranks.pvalue):
        return nearer
    verdict = "the metrics differ" if ranks.pvalue <= LEVEL else "the order may be chance"
    n = counted(len(compared.studies), "data set")
    return f"{nearer} Friedman’s test: p {_p(ranks.pvalue)}, so {verdict}; over {n} the test is cautious."


def _difference(compared: Compared) -> str:
    lines = [line for line in compared.lines if line.difference is not None]
    tested = [line for line in lines if line.difference and not math.isnan(line.difference.interval.low)]
    if not lines:
        return "No row of one study is in the other, so nothing is compared."
    if not tested:
        return "Whether the two differ is not known: a study has no intervals over items."
    most = max(tested, key=lambda line: abs(line.apart))
    first, second = compared.names
    of = compared.named(most)
    largest = f"the largest difference is that of {of}: {decimals(most.apart, plus=True)} {_signed(most)}"
    n, rows = len(compared.different), counted(len(tested), "row")
    if not n:
        allowed = f"Of {rows} none differs between the two by more than the intervals allow"
    else:
        allowed = f"{n:,} of {rows} {'differs' if n == 1 else 'differ'} by more than the intervals allow"
    return f"{allowed}; {largest}, “{first}” less “{second}”."


def _signed(line: Line) -> str:
    ends = NOWHERE if line.difference is None else line.difference.interval
    return f"[{decimals(ends.low, plus=True)}, {decimals(ends.high, plus=True)}]"


def assumption(compared: Compared) -> str:
    """Return what differences and pooled values take for independent."""
    if compared.is_independent:
        return (
            "The studies are of different data sets, so their intervals are taken for independent. Raters who rated "
            "for several of them are not accounted for."
        )
    return (
        "Studies of one data set share items, so their coefficients go up and down together. Intervals of differences "
        "take them for independent and are wider than they need be: a difference within one may still be real. "
        f"There is no pooled value: {ONE_DATASET}."
    )


# --- A chart ----------------------------------------------------------------------------------------------------------


def figure(compared: Compared, *, theme: Theme) -> Spec | None:
    """Draw the rows that all studies have, with each study's coefficient if it is defined; None if there are none."""
    rows = []
    for line in compared.shared[:MOST_DRAWN]:
        for name, cell in zip(compared.names, line.cells, strict=True):
            if cell is not None and cell.value is not None:
                rows.append(_drawn(line, name, cell.value, cell.interval))
        if line.pooled is not None and line.pooled.reason is None:
            rows.append(_drawn(line, POOLED, line.pooled.value, line.pooled.interval))
    if not rows:
        return None
    title = f"{compared.coefficient.label} by study"
    return forest_plot(rows, title=title, series="Study", theme=theme)


def _drawn(line: Line, study: str, value: float, interval: Interval) -> ForestRow:
    references = "" if line.references == "none" else line.references
    return ForestRow(line.short, references, study, value, honest=(interval.low, interval.high))


# --- Tables -----------------------------------------------------------------------------------------------------------

COLUMNS = (
    *("metric", "references", "study", "study_name", "data_set", "value", "low", "high", "observations", "items"),
    *("systems", "undefined_reason", "difference", "difference_low", "difference_high"),
    *("pooled", "pooled_low", "pooled_high", "heterogeneity", "heterogeneity_p", "average_rank", "studies_led"),
    "tuned",
)


def table_rows(compared: Compared) -> Iterator[Sequence[object]]:
    """Yield a row for each metric with its references and each study, with what holds of all studies repeated."""
    for line in compared.lines:
        of_line = _of_line(compared, line)
        for study, cell in zip(compared.studies, line.cells, strict=True):
            if cell is None:
                continue
            yield (
                *(line.label, line.references, study.pk, study.name, study.dataset.slug, cell.value),
                *map(finite_or_none, cell.interval),
                *(cell.observations, cell.row.items, len(cell.row.systems), cell.reason),
                *of_line,
            )


def _of_line(compared: Compared, line: Line) -> tuple[object, ...]:
    difference: tuple[float | None, ...] = (None,) * 3
    if line.difference is not None:
        difference = tuple(map(finite_or_none, (line.difference.value, *line.difference.interval)))
    pooled: tuple[float | None, ...] = (None,) * 5
    if line.pooled is not None:
        each = line.pooled
        pooled = tuple(map(finite_or_none, (each.value, *each.interval, each.heterogeneity, each.pvalue)))
    rank = compared.ranked.of(line) if compared.ranked else None
    return (*difference, *pooled, *(rank or (None, None)), compared.mark(line))


def plain(compared: Compared) -> dict[str, Any]:
    """Return everything for JSON."""
    ranks = compared.ranked.ranks if compared.ranked else None
    return {
        "coefficient": compared.coefficient.key,
        "sentence": headline(compared),
        "assumption": assumption(compared),
        "independent": compared.is_independent,
        "studies": [
            {"id": study.pk, "name": study.name, "data_set": study.dataset.slug, "signature": study.signature}
            for study in compared.studies
        ],
        "rows": [_plain_line(compared, line) for line in compared.lines],
        "ranks": None
        if ranks is None
        else {
            "p": finite_or_none(ranks.pvalue) if compared.is_independent else None,
            "critical_difference": finite_or_none(ranks.critical) if compared.is_independent else None,
        },
        "settings": [
            {"name": setting.name, "values": list(setting.values), "differs": setting.differs}
            for setting in compared.settings
        ],
    }


def _plain_line(compared: Compared, line: Line) -> dict[str, Any]:
    cells = [
        None
        if cell is None
        else {
            "value": cell.value,
            "interval": _ends(cell.interval),
            "observations": cell.observations,
            "items": cell.row.items,
            "systems": len(cell.row.systems),
            "reason": cell.reason,
        }
        for cell in line.cells
    ]
    rank = compared.ranked.of(line) if compared.ranked else None
    return {
        "metric": line.label,
        "references": line.references,
        "signature": line.signature,
        "of_studies": cells,
        "difference": None
        if line.difference is None
        else {"value": finite_or_none(line.difference.value), "interval": _ends(line.difference.interval)},
        "pooled": None if line.pooled is None else _plain_pooled(line.pooled),
        "average_rank": rank and rank[0],
        "studies_led": rank and rank[1],
    }


def _plain_pooled(pooled: Pooled) -> dict[str, Any]:
    return {
        "value": finite_or_none(pooled.value),
        "interval": _ends(pooled.interval),
        "heterogeneity": finite_or_none(pooled.heterogeneity),
        "heterogeneity_p": finite_or_none(pooled.pvalue),
        "reason": pooled.reason or pooled.interval_reason or "",
    }


def _ends(interval: Interval) -> list[float] | None:
    return None if math.isnan(interval.low) or math.isnan(interval.high) else list(interval)


def latex_table(compared: Compared) -> str:
    """Return the table for booktabs: a column per study, the difference or the pooled value, and average ranks."""
    names = [*compared.names, *(["Difference"] if compared.is_pair else []), *([POOLED] if compared.pools else [])]
    names += ["Rank"] if compared.ranked else []
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * len(names)}}}",
        rf"% {compared.coefficient.name} with 95% intervals over items",
        r"\toprule",
        " & ".join(map(escape, ["Metric", "References", *names])) + r" \\",
        r"\midrule",
    ]
    for line in compared.shared:
        cells = ["–" if cell is None else _latex(cell.value, cell.interval) for cell in line.cells]
        if compared.is_pair:
            difference = line.difference
            cells.append("–" if difference is None else _latex(difference.value, difference.interval))
        if compared.pools:
            pooled = line.pooled
            cells.append("–" if pooled is None else _latex(pooled.value, pooled.interval))
        if compared.ranked:
            rank = compared.ranked.of(line)
            cells.append("--" if rank is None else decimals(rank[0], 1))
        lines.append(" & ".join([escape(line.label), escape(line.references), *map(escape, cells)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex(value: float | None, interval: Interval) -> str:
    if value is None or math.isnan(value):
        return "–"
    if math.isnan(interval.low):
        return decimals(value, 3)
    return f"{decimals(value, 3)} [{decimals(interval.low, 3)}, {decimals(interval.high, 3)}]"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {decimals(value, 3)}"
