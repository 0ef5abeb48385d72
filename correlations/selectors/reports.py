"""A stored result as the tables, sentences and figures of its report."""

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from annotation.core.charts import Spec, Theme
from correlations.charts import ForestRow, forest_plot, observation_scatter, sweep_chart
from correlations.models import Study
from correlations.stats.coefficients.kendall import KENDALL
from correlations.stats.coefficients.spearman import SPEARMAN

NAN = float("nan")
SWEEPS = {
    "threshold": "References of lower weight",
    "unit_size": "Larger observation units",
    "order": "Longer n-grams",
}
SIGNIFICANT = 0.05
FEW_UNITS = 30
FEW_COMPARISONS = 30  # that a page can show
IN_COLOUR = 6  # lines of a figure that can be told apart
CLAMPED_WORTH_SAYING = 0.02  # share of (unit, system) cells


def best_row(result: dict[str, Any]) -> dict[str, Any] | None:
    """The row with the highest rho and its place, with the metrics not told apart from it, and those ahead of it on the
    items that both have; None where no rho is defined."""
    defined = [row | {"place": place} for place, row in enumerate(result["rows"]) if row["rho"]["value"] is not None]
    best = max(defined, key=lambda row: row["rho"]["value"], default=None)
    if best is None:
        return None
    beside = [entry for entry in _beside(best, result["comparisons"]) if entry["p_holm"] is not None]
    rivals = [_other(best, entry) for entry in beside if entry["p_holm"] >= SIGNIFICANT]
    ahead = [_other(best, entry) for entry in beside if entry["p_holm"] < SIGNIFICANT and _lead(best, entry) < 0]
    return best | {"rivals": rivals, "ahead": ahead}


def few_units(result: dict[str, Any]) -> int | None:
    """The number of units of all pairs, where it is so small that the coefficients hang on a handful; else None."""
    units = sum(pair["units"] for pair in result["pairs"])
    return units if units < FEW_UNITS else None


def _beside(row: dict[str, Any], comparisons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Comparisons of this row with others of the same references."""
    return [
        entry
        for entry in comparisons
        if entry["subset_label"] == row["subset_label"] and row["label"] in (entry["first"], entry["second"])
    ]


def _other(row: dict[str, Any], entry: dict[str, Any]) -> str:
    label: str = entry["second"] if entry["first"] == row["label"] else entry["first"]
    return label


def _lead(row: dict[str, Any], entry: dict[str, Any]) -> float:
    """By how much the row's rho is the higher one, over the items that both have."""
    difference: float = entry["difference"]
    return difference if entry["first"] == row["label"] else -difference


def comparisons_worth_showing(result: dict[str, Any]) -> list[dict[str, Any]]:
    """All of them where they are few; else those with the best metric of each choice of references."""
    every: list[dict[str, Any]] = result["comparisons"]
    if len(every) <= FEW_COMPARISONS:
        return every
    best: dict[str, tuple[float, str]] = {}
    for row in result["rows"]:
        if row["rho"]["value"] is not None:
            found = row["rho"]["value"], row["label"]
            best[row["subset_label"]] = max(best.get(row["subset_label"], found), found, key=itemgetter(0))
    if alone := best.get("none"):  # reads no references, and stands beside each choice of them
        best = {label: max(found, alone) for label, found in best.items()}
    leaders = {label: leader for label, (_, leader) in best.items()}
    return [entry for entry in every if leaders.get(entry["subset_label"]) in (entry["first"], entry["second"])]


def metrics_in_colour(result: dict[str, Any]) -> list[str]:
    """Labels of the metrics closest to the raters, whatever their references, closest first."""
    best: dict[str, float] = {}
    for row in result["rows"]:
        rho = row["rho"]["value"]
        best[row["label"]] = max(best.get(row["label"], -math.inf), -math.inf if rho is None else rho)
    return sorted(best, key=lambda label: -best[label])[:IN_COLOUR]


def clamped_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows in which clamping explains something, with the systems it hits most, worst first."""
    found = []
    for place, row in enumerate(result["rows"]):
        if row["clamped"]["share"] >= CLAMPED_WORTH_SAYING:
            systems = sorted(row["clamped"]["systems"], key=lambda entry: -entry["share"])
            found.append(row | {"place": place, "worst": systems[:3]})
    return sorted(found, key=lambda row: -row["clamped"]["share"])


def has_sweep(result: dict[str, Any], name: str) -> bool:
    """Whether a sweep has a point to draw."""
    series = result["sweeps"].get(name, {}).get("series", [])
    return any(point["rho"]["value"] is not None for entry in series for point in entry["points"])


# --- Figures ---------------------------------------------------------------------------------------------------------


def figure(study: Study, name: str, *, theme: Theme) -> Spec | None:
    """The specification of one figure; None where there is no figure of that name."""
    result = study.result or {}
    if name == "forest":
        return forest_plot(_forest_rows(result), theme=theme)
    if name in result.get("sweeps", {}):
        return _sweep_figure(result["sweeps"][name], name, theme, metrics_in_colour(result))
    rows = {f"row-{place}": place for place in range(len(result.get("rows", [])))}
    return _scatter(result, rows[name], theme) if name in rows else None


def _forest_rows(result: dict[str, Any]) -> list[ForestRow]:
    return [
        ForestRow(
            metric=row["label"],
            subset=row["subset_label"],
            coefficient=entry.label,
            mean=_number(row[entry.short]["value"]),
            honest=_ends(row[entry.short].get("over_items")),
            paper=_ends(row[entry.short].get("paper")),
            reason=row[entry.short]["reason"],
        )
        for row in result["rows"]
        for entry in (SPEARMAN, KENDALL)
    ]


def _sweep_figure(sweep: dict[str, Any], kind: str, theme: Theme, best: list[str]) -> Spec:
    series = {
        entry["label"]: [_number(point["rho"]["value"]) for point in entry["points"]] for entry in sweep["series"]
    }
    in_colour = None
    if len(series) > IN_COLOUR:
        named = {label.split(" (")[0] for label in best}  # two orders of one metric are one line of the order sweep
        in_colour = [label for label in series if label in best or label in named][:IN_COLOUR]
    return sweep_chart(
        sweep["points"], series, kind=kind, coefficient=SPEARMAN.label, theme=theme, in_colour=in_colour,  # type: ignore[arg-type] # a key of SWEEPS
    )  # fmt: skip


def _scatter(result: dict[str, Any], place: int, theme: Theme) -> Spec | None:
    row, seen = result["rows"][place], result["observations"]
    human, metric = ([_number(value) for value in seen[side][place]] for side in ("human", "metric"))
    if all(map(math.isnan, metric)):
        return None
    names = [f"{pair['a']} – {pair['b']}" for pair in result["pairs"]]
    return observation_scatter(
        human,
        metric,
        metric_name=f"{row['label']} ({row['subset_label']})",
        pairs=[names[pair] for pair in seen["pair"]],
        subtitle="One assignment of items to units",
        theme=theme,
    )


def _number(value: float | None) -> float:
    return NAN if value is None else value


def _ends(interval: Sequence[float] | None) -> tuple[float, float]:
    return (NAN, NAN) if interval is None else (interval[0], interval[1])


# --- Tables for download ---------------------------------------------------------------------------------------------

Table = tuple[Sequence[str], Iterator[Sequence[Any]]]


def table(study: Study, name: str) -> Table | None:
    """Columns and rows of one table of the report; None where there is none of that name."""
    result = study.result or {}
    builders = {
        "correlations": _correlation_table,
        "sweeps": _sweep_table,
        "comparisons": _comparison_table,
        "systems": _system_table,
        "dropped": _dropped_table,
        "pairs": _pair_table,
        "observations": _observation_table,
    }
    if name in SWEEPS and name in result.get("sweeps", {}):
        return _sweep_table({"sweeps": {name: result["sweeps"][name]}})
    return builders[name](result) if name in builders and result else None


COEFFICIENT_PARTS = (
    "", "_paper_low", "_paper_high", "_items_low", "_items_high", "_items_raters_low", "_items_raters_high",
    "_assignment_spread", "_undefined_reason",
)  # fmt: skip


def _coefficient_cells(found: dict[str, Any]) -> list[Any]:
    ends = [
        end
        for name in ("paper", "over_items", "over_items_and_raters")
        for end in (found.get(name) or (None, None))
    ]  # fmt: skip
    return [found["value"], *ends, found.get("assignment_spread"), found["reason"]]


def _correlation_table(result: dict[str, Any]) -> Table:
    columns = [
        "metric", "references",
        *(f"rho{part}" for part in COEFFICIENT_PARTS), *(f"tau{part}" for part in COEFFICIENT_PARTS),
        "observations", "items", "items_per_unit", "items_left_out", "items_share",
        "clamped_cells", "clamped_share", "clamped_systems", "signature",
    ]  # fmt: skip
    rows = (
        [
            row["label"], row["subset_label"], *_coefficient_cells(row["rho"]), *_coefficient_cells(row["tau"]),
            row["n_observations"], row["items"], row["items_per_unit"], row["dropped"]["count"],
            row["items"] / result["items"]["used"],
            row["clamped"]["cells"], row["clamped"]["share"],
            {entry["system"]: entry["share"] for entry in row["clamped"]["systems"]},
            row["signature"],
        ]
        for row in result["rows"]
    )  # fmt: skip
    return columns, rows


def _sweep_table(result: dict[str, Any]) -> Table:
    columns = (
        "sweep", "point", "metric", "references", "rho", "rho_undefined_reason", "observations", "items",
        "clamped_share",
    )  # fmt: skip
    rows = (
        (
            name, value, series["label"], sweep["references"], point["rho"]["value"], point["rho"]["reason"],
            point["n_observations"], point["items"], point["clamped_share"],
        )
        for name, sweep in result["sweeps"].items()
        for series in sweep["series"]
        for value, point in zip(sweep["points"], series["points"], strict=True)
    )  # fmt: skip
    return columns, rows


def _comparison_table(result: dict[str, Any]) -> Table:
    columns = (
        "references", "first", "second", "items", "items_of_study", "first_rho", "second_rho", "rho_difference", "low",
        "high", "p", "p_holm", "undefined_reason",
    )  # fmt: skip
    rows = (
        (
            entry["subset_label"], entry["first"], entry["second"],
            *(entry.get(key) for key in ("items", "of", "first_rho", "second_rho")),  # older results lack these
            entry["difference"], *(entry["interval"] or (None, None)), entry["p"], entry["p_holm"], entry["reason"],
        )
        for entry in result["comparisons"]
    )  # fmt: skip
    return columns, rows


def _system_table(result: dict[str, Any]) -> Table:
    columns = ("metric", "references", "system", "score", "mean_rating", "rated_items", "clamped_share", "run")
    rows = (
        (
            row["label"], row["subset_label"], entry["system"], entry["score"], entry["rating"], entry["rated_items"],
            entry["clamped_share"], row["run"],
        )
        for row in result["rows"]
        for entry in row["systems"]
    )  # fmt: skip
    return columns, rows


def _dropped_table(result: dict[str, Any]) -> Table:
    whole = (("", "", entry["reason"], item) for entry in result["items"]["dropped"] for item in entry["items"])
    by_row = (
        (row["label"], row["subset_label"], row["dropped"]["reason"], item)
        for row in result["rows"]
        for item in row["dropped"]["items"]
    )
    return ("metric", "references", "reason", "item"), (entry for part in (whole, by_row) for entry in part)


def _pair_table(result: dict[str, Any]) -> Table:
    rows = ((pair["a"], pair["b"], pair["items"], pair["units"]) for pair in result["pairs"])
    return ("a", "b", "items", "units"), rows


def _observation_table(result: dict[str, Any]) -> Table:
    seen = result["observations"]
    rows = (
        (
            row["label"], row["subset_label"], result["pairs"][pair]["a"], result["pairs"][pair]["b"],
            seen["human"][place][unit], seen["metric"][place][unit],
        )
        for place, row in enumerate(result["rows"])
        for unit, pair in enumerate(seen["pair"])
    )  # fmt: skip
    return ("metric", "references", "a", "b", "rating_difference", "metric_difference"), rows
