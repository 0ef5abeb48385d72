"""A stored parameter study as the tables, sentences and figures of its report."""

from typing import Any

from annotation.core.charts import Spec, Theme
from correlations.charts import ParameterAxis, parameter_chart
from correlations.models import ParameterStudy
from correlations.selectors.reports import Table
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.parameters import best_place
from correlations.stats.system_level import USUAL
from metrics.scoring.registry import METRICS

NAN = float("nan")
LEVELS = {"system": "Over systems", "segment": "Over rated outputs"}
FEW_SYSTEMS = 10
DRIVEN = 0.2  # by how much one system may move a coefficient before it is said to drive it


def swept(study: ParameterStudy) -> list[dict[str, Any]]:
    """Each sweep with what a reader is told about it."""
    coefficient = study.specification["coefficient"]
    found = []
    for sweep in (study.result or {}).get("sweeps", []):
        points = sweep["points"]
        own, best = points[sweep["chosen"]], None if sweep["best"] is None else points[sweep["best"]]
        found.append(
            sweep
            | {
                "own": own,
                "best_point": best,
                "own_value": own["system"][coefficient]["value"],
                "best_value": best and best["system"][coefficient]["value"],
                "driver": _driver(sweep, own["system"][coefficient]["value"]),
                "has_ngrams": "ngrams" in own,
                "rows": [_marked(sweep, place) for place in range(len(points))],
                "without_rows": [_then(sweep, entry) for entry in sweep["without"]],
                "loss": sweep["halves"] and sweep["halves"]["chosen_on"] - sweep["halves"]["judged_on"],
                "split_best": sweep["splits"]
                and sweep["splits"]["best"] is not None
                and points[sweep["splits"]["best"]]["shown"],
            }
        )
    return found


def values_in_use(study: ParameterStudy) -> list[tuple[str, str]]:
    """Labels and values of the metric's parameters, but for trained models, which have names."""
    metric = study.specification["metric"]
    known = METRICS[metric["name"]].parameter_list() if metric["name"] in METRICS else ()
    return [
        (one.label, one.written(metric["parameters"][one.name]))
        for one in known
        if one.kind != "model" and one.name in metric["parameters"]
    ]


def _marked(sweep: dict[str, Any], place: int) -> dict[str, Any]:
    point: dict[str, Any] = sweep["points"][place]
    return point | {"is_own": place == sweep["chosen"], "is_best": place == sweep["best"]}


def _then(sweep: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    then = entry["best_then"]
    return entry | {"then": None if then is None else sweep["points"][then]["shown"]}


def _driver(sweep: dict[str, Any], value: float | None) -> dict[str, Any] | None:
    """The system whose absence moves the coefficient in use most, if it moves it far."""
    left: list[dict[str, Any]] = [entry for entry in sweep["without"] if entry["chosen"] is not None]
    if value is None or not left:
        return None
    most = max(left, key=lambda entry: abs(entry["chosen"] - value))
    return most if abs(most["chosen"] - value) >= DRIVEN else None


# --- Figures ----------------------------------------------------------------------------------------------------------


def figure(study: ParameterStudy, name: str, *, theme: Theme) -> Spec | None:
    """``k-system`` or ``k-segment``; None where there is no such figure."""
    parameter, _, level = name.rpartition("-")
    sweep = next((one for one in (study.result or {}).get("sweeps", []) if one["parameter"] == parameter), None)
    if sweep is None or level not in LEVELS:
        return None
    points = sweep["points"]
    coefficient = study.specification["coefficient"]
    axis = ParameterAxis(
        sweep["label"],
        [point["value"] for point in points],
        [point["shown"] for point in points],
        sweep["chosen"],
        best_place([_number(point[level][coefficient]["value"]) for point in points]),
    )
    labels = {key: COEFFICIENTS[key].label for key in dict.fromkeys((*USUAL, coefficient))}
    series = {shown: [_number(point[level][key]["value"]) for point in points] for key, shown in labels.items()}
    ends = [point[level]["pearson"]["interval"] or (NAN, NAN) for point in points]
    bands = {labels["pearson"]: ([low for low, _ in ends], [high for _, high in ends])}
    has_band = any(point[level]["pearson"]["interval"] for point in points)
    title = f"{sweep['label']}: {LEVELS[level].lower()}"
    return parameter_chart(axis, series, intervals=bands if has_band else None, title=title, theme=theme)


def _number(value: float | None) -> float:
    return NAN if value is None else value


# --- Tables for download ----------------------------------------------------------------------------------------------


def table(study: ParameterStudy, name: str) -> Table | None:
    """``k``, ``k-without`` or ``k-systems``; None where there is no such table."""
    for sweep in (study.result or {}).get("sweeps", []):
        for suffix, build in (("", _curve_table), ("-without", _without_table), ("-systems", _system_table)):
            if name == f"{sweep['parameter']}{suffix}":
                return build(sweep)
    return None


def _curve_table(sweep: dict[str, Any]) -> Table:
    columns = [
        "parameter", "value", "in_use", "best", "ngrams_of_order", "ngrams_up_to_order",
        *(f"{level}_{part}" for level in LEVELS for part in (
            "n", "pearson", "p", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high", "kendall",
            "kendall_low", "kendall_high", "undefined_reason",
        )),
        "most_influential_system", "pearson_without_it", "chosen_share_of_halves",
    ]  # fmt: skip
    shares = (sweep["halves"] or {}).get("shares", [None] * len(sweep["points"]))
    rows = (
        [
            sweep["parameter"], point["shown"], place == sweep["chosen"], place == sweep["best"],
            point.get("ngrams", {}).get("of_order"), point.get("ngrams", {}).get("up_to"),
            *(cell for level in LEVELS for cell in _cells(point[level])),
            (point["influential"] or {}).get("system"), (point["influential"] or {}).get("pearson"), shares[place],
        ]
        for place, point in enumerate(sweep["points"])
    )  # fmt: skip
    return columns, rows


def _cells(found: dict[str, Any]) -> list[Any]:
    pearson, spearman, kendall = ([found[name]["value"], *(found[name]["interval"] or (None, None))] for name in USUAL)
    return [found["n"], pearson[0], found["p"], *pearson[1:], *spearman, *kendall, found["reason"]]


def _without_table(sweep: dict[str, Any]) -> Table:
    columns = ("parameter", "without", "in_use", "at_best_of_all", "best_value_then", "coefficient_then")
    rows = (
        (sweep["parameter"], entry["system"], entry["chosen"], entry["best"], entry["then"], entry["best_then_value"])
        for entry in (_then(sweep, one) for one in sweep["without"])
    )
    return columns, rows


def _system_table(sweep: dict[str, Any]) -> Table:
    rows = (
        (sweep["parameter"], point["shown"], system["system"], score, system["rating"], system["rated"])
        for point in sweep["points"]
        for system, score in zip(sweep["systems"], point["scores"], strict=True)
    )
    return ("parameter", "value", "system", "score", "mean_rating", "rated_outputs"), rows
