"""The forecast of a dry run in sentences and table rows."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from django.db.models import QuerySet

from annotation.core.numbers import decimals
from annotation.dry_runs.specification import SETTINGS
from annotation.models import Campaign, DryRun, JobState

NEARLY_ALL = 0.995


@dataclass(frozen=True)
class ComparisonRow:
    """A row of a comparison."""

    label: str
    values: list[str]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Tile:
    label: str
    value: str
    hint: str = ""


class Answer(NamedTuple):
    question: str
    text: str
    mark: Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class DryRunReport:
    """The key numbers, a manager's questions with their answers, and notes on the forecast."""

    tiles: list[Tile] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def dry_runs_of(campaign: Campaign) -> QuerySet[DryRun]:
    """Return the dry runs of a campaign, newest first."""
    return DryRun.objects.filter(campaign=campaign).select_related("requested_by").order_by("-pk")


def dry_run_report(dry_run: DryRun) -> DryRunReport:
    result = dry_run.result
    report = DryRunReport()
    if dry_run.state != JobState.DONE or not result:
        return report
    report.answers.append(_problems_answer(result))
    report.answers.append(_slots_answer(result))
    if result["forecast"]:
        report.tiles.extend(_tiles(result))
        report.answers.extend([_cost_answer(result), _time_answer(result)])
    report.answers.extend(_certainty_answer(row) for row in result["certainty"])
    report.answers.append(_detection_answer(result))
    if result["test"]:
        report.answers.append(_test_answer(result["test"]))
    report.notes.extend(_notes(result))
    return report


def _tiles(result: dict[str, Any]) -> list[Tile]:
    cost, duration = result["forecast"]["cost"], result["forecast"]["duration"]
    detection, first = result["forecast"]["detection"], next(iter(result["certainty"]), None)
    tiles = []
    if result["paid"]:
        low, high = (money(cost[name], result["currency"]) for name in ("total_low", "total_high"))
        tiles.append(Tile("Cost", money(cost["total"], result["currency"]), f"95% between {low} and {high}"))
    if duration["hours"] is not None:
        between = f"8 of 10 between {hours(duration['hours_p10'])} and {hours(duration['hours_p90'])}"
        tiles.append(Tile("Time", hours(duration["hours_p50"]), between))
        raters = f"95% between {duration['raters_low']:.0f} and {duration['raters_high']:.0f}"
        tiles.append(Tile("Raters needed", f"{duration['raters']:.0f}", raters))
    if first and first["half_width"] is not None:
        tiles.append(Tile("Margin of error of weights", f"{first['half_width']:.2f}", f"target: {first['target']:.2f}"))
    if detection["spammers"]:
        caught = f"{detection['struck_spammers']} of {detection['spammers']}"
        tiles.append(
            Tile("Spammers caught", caught, f"false alarms: {detection['struck_honest']} of {detection['honest']}")
        )
    return tiles


# --- Questions and answers --------------------------------------------------------------------------------------------


def _problems_answer(result: dict[str, Any]) -> Answer:
    question = "Does the design work?"
    problems = result["findings"]
    screens = result["simulated"]["screens"]
    if not problems:
        answer = f"Yes: raters answered {screens:,} items on the real pages without a problem."
        return Answer(question, answer, "good")
    times = sum(problem["times"] for problem in problems)
    return Answer(question, f"Raters met a problem {_times(times)}; see the list below.", "bad")


def _slots_answer(result: dict[str, Any]) -> Answer:
    question = "Would every slot be filled?"
    part = result["simulated"]
    arrivals = f"{part['arrived']} raters came, {part['worked']} of them found work and {part['left']} left half-way"
    if part["filled"] >= part["places"]:
        return Answer(question, f"Yes. {arrivals}.", "good")
    share = part["filled"] / part["places"] if part["places"] else 0.0
    counted = f"{part['filled']:,} of {part['places']:,} slots ({percent(share)})"
    answer = f"No: {counted} would. {arrivals}. The campaign needs more raters, or more items for each rater."
    return Answer(question, answer, "bad")


def _cost_answer(result: dict[str, Any]) -> Answer:
    question = "What would it cost?"
    cost, currency = result["forecast"]["cost"], result["currency"]
    if not result["paid"]:
        return Answer(question, f"No payment is set. Raters would answer {cost['screens']:,} items in all.", "plain")
    low, high = money(cost["total_low"], currency), money(cost["total_high"], currency)
    hourly = cost["pay_per_hour"]
    earned = f" A rater would earn {money(f'{hourly:.2f}', currency)} an hour." if hourly else ""
    answer = (
        f"{money(cost['total'], currency)}: {money(cost['pay'], currency)} to raters for {cost['screens']:,} items, "
        f"including checks, training and tests, and {money(cost['fees'], currency)} in fees. The cost is between "
        f"{low} and {high} with a probability of 95%.{earned}"
    )
    return Answer(question, answer, "plain")


def _time_answer(result: dict[str, Any]) -> Answer:
    question = "How long would it take?"
    duration = result["forecast"]["duration"]
    if duration["hours"] is None:
        return Answer(question, f"It would not end: {duration['reason']}.", "bad")
    answer = (
        f"{hours(duration['hours_p50'])}: the median of {duration['n_replicates']} simulated campaigns. Eight of ten "
        f"took between {hours(duration['hours_p10'])} and {hours(duration['hours_p90'])}. "
        f"About {duration['raters']:.0f} raters would work {hours(duration['rater_hours'])} in all."
    )
    return Answer(question, answer, "plain")


def _certainty_answer(row: dict[str, Any]) -> Answer:
    question = f"How certain would the weights be? ({row['criterion']})"
    if row["half_width"] is None:
        return Answer(question, f"Unknown: {row['reason']}.", "bad")
    k = f" That would take {row['needed']} ratings of each item." if row["needed"] else ""
    answer = f"Weights from −1 to +1 would have 95% intervals of ± {row['half_width']:.2f} on average"
    enough = row["half_width"] <= row["target"]
    answer += f"; the target of ± {row['target']:.2f} is met." if enough else f", not ± {row['target']:.2f}.{k}"
    if row["half_width_kept"] is not None and abs(row["half_width_kept"] - row["half_width"]) >= 0.005:
        answer += f" Without excluded raters: ± {row['half_width_kept']:.2f}."
    if row["recovery"] is not None:
        answer += (
            f" Mean ratings would have a rank correlation of {_signed(row['recovery'])} with the texts' true quality"
        )
        without_excluded = row["recovery_kept"]
        changed = without_excluded is not None and abs(without_excluded - row["recovery"]) >= 0.005
        answer += f", and {_signed(without_excluded)} without excluded raters." if changed else "."
    return Answer(question, answer, "good" if enough else "bad")


def _detection_answer(result: dict[str, Any]) -> Answer:
    question = "Would the checks catch the spammers?"
    rules, detection = result["rules"], (result["forecast"] or {}).get("detection")
    if rules["source"] == "none":
        why = "the campaign has no checks and no rules" if not rules["checks"] else "the campaign has no rules"
        return Answer(question, f"No: {why}. {_damage(detection)}", "bad")
    if not detection or not detection["spammers"]:
        return Answer(question, "Unknown: no spammers took part. " + _alarms(detection), "plain")
    source = (
        f"By the campaign's rules (version {rules['version']})"
        if rules["source"] == "registered"
        else "The campaign has no rules; by default rules"
    )
    low, high = percent(detection["recall_low"]), percent(detection["recall_high"])
    answer = (
        f"{source}, {detection['struck_spammers']} of {detection['spammers']} spammers would be excluded "
        f"({percent(detection['recall'])}, 95% between {low} and {high}). {_alarms(detection)}"
    )
    judged = [row["judged"] for row in rules["sentences"] if row["judged"] is not None]
    if judged and not max(judged):
        answer += " No rater answered enough checks for the rules: add more checks, or give raters more items."
    return Answer(question, answer, "good" if detection["recall"] >= 0.5 else "bad")


def _damage(detection: dict[str, Any] | None) -> str:
    n = detection["spammers"] if detection else 0
    return f"The answers of {n} spammer{'s' if n != 1 else ''} would count." if n else ""


def _alarms(detection: dict[str, Any] | None) -> str:
    if not detection or not detection["honest"]:
        return ""
    low, high = percent(detection["false_alarms_low"]), percent(detection["false_alarms_high"])
    excluded = f"{detection['struck_honest']} of {detection['honest']} honest raters"
    return f"{excluded} would be excluded by mistake ({low} to {high})."


def _test_answer(test: dict[str, int]) -> Answer:
    answer = (
        f"{test['spammers_failed']} of {test['spammers']} spammers and {test['honest_failed']} of "
        f"{test['honest']} honest raters would fail it."
    )
    good = test["honest_failed"] <= test["honest"] / 4
    return Answer("Who would fail the qualification test?", answer, "good" if good else "bad")


def _notes(result: dict[str, Any]) -> list[str]:
    notes, part = [], result["simulated"]
    if part["share"] < 1:
        notes.append(
            f"Only {percent(part['share'])} of the items were simulated, with {part['raters']} raters. Cost, time and "
            "the number of raters are for the whole campaign. Rules that need many answers exclude fewer raters here."
        )
    if result["without_code"]:
        n = result["without_code"]
        notes.append(f"{n} rater{'s' if n != 1 else ''} did too little for the completion code.")
    return notes


# --- Comparison -------------------------------------------------------------------------------------------------------


def settings_rows(run: DryRun) -> list[tuple[str, str]]:
    return [(setting.label, setting.text(run.specification.get(name))) for name, setting in SETTINGS.items()]


def comparison(runs: list[DryRun]) -> tuple[list[ComparisonRow], list[ComparisonRow]]:
    """Return the settings of the dry runs and their results, row by row."""
    if not runs:
        return [], []
    settings = [
        ComparisonRow(rows[0][0], [value for _, value in rows])
        for rows in zip(*(settings_rows(run) for run in runs), strict=True)
    ]
    columns = [dict(_result_rows(run.result)) for run in runs]
    labels = list(dict.fromkeys(label for column in columns for label in column))
    return settings, [ComparisonRow(label, [column.get(label, "–") for column in columns]) for label in labels]


def _result_rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    if not result:
        return []
    part, forecast = result["simulated"], result["forecast"]
    rows = [
        ("Slots of the campaign", f"{result['places']:,}"),
        ("Slots filled", percent(part["filled"] / part["places"] if part["places"] else 0.0)),
        ("Raters who found work", f"{part['worked']} of {part['arrived']}"),
        ("Problems", str(sum(problem["times"] for problem in result["findings"]))),
    ]
    if forecast:
        cost, duration, detection = forecast["cost"], forecast["duration"], forecast["detection"]
        rows += [
            ("Items answered", f"{cost['screens']:,}"),
            *_costs(cost, result["currency"] if result["paid"] else ""),
            ("Time, half take no longer", hours(duration["hours_p50"])),
            ("Time, nine of ten take no longer", hours(duration["hours_p90"])),
            ("Raters needed", "–" if duration["raters"] is None else f"{duration['raters']:.0f}"),
            ("Spammers caught", f"{detection['struck_spammers']} of {detection['spammers']}"),
            ("False alarms", f"{detection['struck_honest']} of {detection['honest']}"),
        ]
    for row in result["certainty"]:
        name = row["criterion"]
        rows.append((f"Margin of error of weights: {name}", _two(row["half_width"])))
        rows.append((f"… without excluded raters: {name}", _two(row["half_width_kept"])))
        rows.append((f"Rank correlation with true quality: {name}", _signed(row["recovery"])))
    return rows


def _costs(cost: dict[str, Any], currency: str) -> list[tuple[str, str]]:
    if not currency:
        return []
    between = " to ".join(money(cost[name], currency) for name in ("total_low", "total_high"))
    return [("Cost", money(cost["total"], currency)), ("Cost, 95%", between)]


# --- Words ------------------------------------------------------------------------------------------------------------


def money(amount: str, currency: str) -> str:
    return f"{float(amount):,.2f} {currency}"


def hours(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 1.5:
        return f"{60 * value:.0f} min"
    return f"{value:.1f} h" if value < 48 else f"{value / 24:.1f} days"


def percent(share: float | None) -> str:
    """Return whole percent; only zero is shown as 0 %, and only one as 100 %."""
    if share is None:
        return "–"
    if 0 < share < 1 - NEARLY_ALL:
        return "<1 %"
    return ">99 %" if NEARLY_ALL < share < 1 else f"{100 * share:.0f} %"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else decimals(value)
