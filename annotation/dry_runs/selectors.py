"""What a dry run foretold, in sentences and rows for people to read."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from annotation.models import Campaign, DryRun, JobState

NEARLY_ALL = 0.995
LABELS = {
    "raters": "Raters who come",
    "arrivals_per_hour": "Arrivals an hour",
    "spam_share": "Spammers among them",
    "bias_sd": "Bias between raters",
    "noise": "Noise of an answer",
    "lapse": "Lapses of attention",
    "dropout": "Leave at a screen",
    "median_seconds": "Seconds a screen",
    "speed_sd": "Spread of speed",
    "target": "Half-width aimed at",
    "seed": "Seed",
}
SHARES = ("spam_share", "bias_sd", "noise", "lapse", "dropout")


@dataclass(frozen=True)
class Row:
    """One line of a comparison."""

    label: str
    values: list[str]
    of: str  # what it belongs to: "asked" or "found"

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Tile:
    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True)
class DryRunReport:
    """``verdicts``: the questions a manager has, each with its answer; ``notes``: what to keep in mind."""

    tiles: list[Tile] = field(default_factory=list)
    verdicts: list[tuple[str, str, str]] = field(default_factory=list)  # question, answer, good | bad | plain
    notes: list[str] = field(default_factory=list)


def dry_runs_of(campaign: Campaign) -> QuerySet[DryRun]:
    """Newest first."""
    return DryRun.objects.filter(campaign=campaign).select_related("requested_by").order_by("-pk")


def dry_run_report(dry_run: DryRun) -> DryRunReport:
    result = dry_run.result
    report = DryRunReport()
    if dry_run.state != JobState.DONE or not result:
        return report
    report.verdicts.append(_of_trouble(result))
    report.verdicts.append(_of_places(result))
    if result["forecast"]:
        report.tiles.extend(_tiles(result))
        report.verdicts.extend([_of_cost(result), _of_time(result)])
    report.verdicts.extend(_of_certainty(row) for row in result["certainty"])
    report.verdicts.append(_of_detection(result))
    if result["test"]:
        report.verdicts.append(_of_test(result["test"]))
    report.notes.extend(_notes(result))
    return report


def _tiles(result: dict[str, Any]) -> list[Tile]:
    cost, duration = result["forecast"]["cost"], result["forecast"]["duration"]
    detection, first = result["forecast"]["detection"], next(iter(result["certainty"]), None)
    tiles = []
    if result["paid"]:
        low, high = (money(cost[name], result["currency"]) for name in ("total_low", "total_high"))
        tiles.append(Tile("Cost", money(cost["total"], result["currency"]), f"95 % between {low} and {high}"))
    if duration["hours"] is not None:
        between = f"8 of 10 between {hours(duration['hours_p10'])} and {hours(duration['hours_p90'])}"
        tiles.append(Tile("Time", hours(duration["hours_p50"]), between))
        raters = f"95 % between {duration['raters_low']:.0f} and {duration['raters_high']:.0f}"
        tiles.append(Tile("Raters needed", f"{duration['raters']:.0f}", raters))
    if first and first["half_width"] is not None:
        tiles.append(Tile("Weights, give or take", f"{first['half_width']:.2f}", f"aimed at {first['target']:.2f}"))
    if detection["spammers"]:
        caught = f"{detection['struck_spammers']} of {detection['spammers']}"
        tiles.append(
            Tile("Spammers caught", caught, f"false alarms: {detection['struck_honest']} of {detection['honest']}")
        )
    return tiles


# --- Questions and answers --------------------------------------------------------------------------------------------


def _of_trouble(result: dict[str, Any]) -> tuple[str, str, str]:
    asked = "Does the design work?"
    found = result["findings"]
    screens = result["simulated"]["screens"]
    if not found:
        answer = f"Yes: {screens:,} screens were answered over the rater's own pages, and none of them went wrong."
        return asked, answer, "good"
    times = sum(one["times"] for one in found)
    return asked, f"Raters met trouble {_times(times)}; what it was stands below.", "bad"


def _of_places(result: dict[str, Any]) -> tuple[str, str, str]:
    asked = "Would every place be filled?"
    part = result["simulated"]
    came = f"{part['arrived']} raters came, {part['worked']} of them found work and {part['left']} left half-way"
    if part["filled"] >= part["places"]:
        return asked, f"Yes. {came}.", "good"
    share = part["filled"] / part["places"] if part["places"] else 0.0
    counted = f"{part['filled']:,} of {part['places']:,} places ({percent(share)})"
    answer = f"No: {counted} would. {came}. More raters, or more screens for each, would be needed."
    return asked, answer, "bad"


def _of_cost(result: dict[str, Any]) -> tuple[str, str, str]:
    asked = "What would it cost?"
    cost, currency = result["forecast"]["cost"], result["currency"]
    if not result["paid"]:
        return asked, f"No payment is set. Raters would answer {cost['screens']:,} screens in all.", "plain"
    low, high = money(cost["total_low"], currency), money(cost["total_high"], currency)
    hourly = cost["pay_per_hour"]
    earned = f" A rater would earn {money(f'{hourly:.2f}', currency)} an hour." if hourly else ""
    answer = (
        f"{money(cost['total'], currency)}: {money(cost['pay'], currency)} to raters for {cost['screens']:,} screens, "
        f"checks, training and tests among them, and {money(cost['fees'], currency)} in fees. Of 20 such campaigns 19 "
        f"would cost between {low} and {high}.{earned}"
    )
    return asked, answer, "plain"


def _of_time(result: dict[str, Any]) -> tuple[str, str, str]:
    asked = "How long would it take?"
    duration = result["forecast"]["duration"]
    if duration["hours"] is None:
        return asked, f"It would not end: {duration['reason']}.", "bad"
    answer = (
        f"{hours(duration['hours_p50'])}: half of {duration['n_replicates']} campaigns played on a virtual clock "
        f"took no longer, and eight of ten between {hours(duration['hours_p10'])} and {hours(duration['hours_p90'])}. "
        f"About {duration['raters']:.0f} raters would work {hours(duration['rater_hours'])} in all."
    )
    return asked, answer, "plain"


def _of_certainty(row: dict[str, Any]) -> tuple[str, str, str]:
    asked = f"How sure would the weights be? ({row['criterion']})"
    if row["half_width"] is None:
        return asked, f"That cannot be told: {row['reason']}.", "bad"
    k = f" It would take {row['needed']} ratings of each unit to get there." if row["needed"] else ""
    answer = f"Each weight, from −1 to +1, would be known to ± {row['half_width']:.2f} (95 %, in the mean)"
    enough = row["half_width"] <= row["target"]
    answer += f"; that is enough for ± {row['target']:.2f}." if enough else f", not to ± {row['target']:.2f}.{k}"
    if row["half_width_kept"] is not None and abs(row["half_width_kept"] - row["half_width"]) >= 0.005:
        answer += f" Without the raters whom the rules exclude: ± {row['half_width_kept']:.2f}."
    if row["recovery"] is not None:
        answer += (
            f" Mean ratings would follow the texts' true quality with a rank correlation of {_signed(row['recovery'])}"
        )
        kept = row["recovery_kept"]
        changed = kept is not None and abs(kept - row["recovery"]) >= 0.005
        answer += f", and {_signed(kept)} without excluded raters." if changed else "."
    return asked, answer, "good" if enough else "bad"


def _of_detection(result: dict[str, Any]) -> tuple[str, str, str]:
    asked = "Would the checks catch the spammers?"
    rules, found = result["rules"], (result["forecast"] or {}).get("detection")
    if rules["source"] == "none":
        why = "no checks are mixed in and no rules are registered" if not rules["checks"] else "no rules are registered"
        return asked, f"No: {why}, so nobody could be caught. {_damage(found)}", "bad"
    if not found or not found["spammers"]:
        return asked, "There were no spammers at work, so that cannot be told. " + _alarms(found), "plain"
    source = (
        f"By the campaign's own rules (version {rules['version']})"
        if rules["source"] == "registered"
        else "No rules are registered; by default ones"
    )
    low, high = percent(found["recall_low"]), percent(found["recall_high"])
    answer = (
        f"{source}, {found['struck_spammers']} of {found['spammers']} spammers would be struck "
        f"({percent(found['recall'])}, 95 % between {low} and {high}). {_alarms(found)}"
    )
    judged = [row["judged"] for row in rules["sentences"] if row["judged"] is not None]
    if judged and not max(judged):
        answer += " No rater answered as many checks as the rules wait for: mix in more, or let raters do more screens."
    return asked, answer, "good" if found["recall"] >= 0.5 else "bad"


def _damage(found: dict[str, Any] | None) -> str:
    n = found["spammers"] if found else 0
    return f"The answers of {n} spammer{'s' if n != 1 else ''} would count like any other." if n else ""


def _alarms(found: dict[str, Any] | None) -> str:
    if not found or not found["honest"]:
        return ""
    low, high = percent(found["false_alarms_low"]), percent(found["false_alarms_high"])
    return f"Of {found['honest']} honest raters {found['struck_honest']} would be struck by mistake ({low} to {high})."


def _of_test(test: dict[str, int]) -> tuple[str, str, str]:
    answer = (
        f"It would keep out {test['spammers_failed']} of {test['spammers']} spammers and {test['honest_failed']} of "
        f"{test['honest']} honest raters."
    )
    good = test["honest_failed"] <= test["honest"] / 4
    return "Whom would the qualification test keep out?", answer, "good" if good else "bad"


def _notes(result: dict[str, Any]) -> list[str]:
    notes, part = [], result["simulated"]
    if part["share"] < 1:
        notes.append(
            f"Only {percent(part['share'])} of the items were played through, with {part['raters']} raters; cost, time "
            "and raters needed are those of the whole campaign. Where raters met fewer screens than they would, rules "
            "that wait for many answers strike less often here."
        )
    if result["without_code"]:
        n = result["without_code"]
        notes.append(f"{n} rater{'s' if n != 1 else ''} did less than earns the completion code, and would ask why.")
    return notes


# --- Comparison -------------------------------------------------------------------------------------------------------


def comparison(runs: list[DryRun]) -> list[Row]:
    """Line by line what was asked and what was found."""
    asked = [
        Row(label, [specified(name, run.specification.get(name)) for run in runs], "asked")
        for name, label in LABELS.items()
    ]
    columns = [dict(_found(run.result)) for run in runs]
    labels = list(dict.fromkeys(label for column in columns for label in column))
    return asked + [Row(label, [column.get(label, "–") for column in columns], "found") for label in labels]


def _found(result: dict[str, Any]) -> list[tuple[str, str]]:
    if not result:
        return []
    part, told = result["simulated"], result["forecast"]
    rows = [
        ("Places of the campaign", f"{result['places']:,}"),
        ("Places filled", percent(part["filled"] / part["places"] if part["places"] else 0.0)),
        ("Raters who found work", f"{part['worked']} of {part['arrived']}"),
        ("Troubles met", str(sum(one["times"] for one in result["findings"]))),
    ]
    if told:
        cost, duration, detection = told["cost"], told["duration"], told["detection"]
        rows += [
            ("Screens", f"{cost['screens']:,}"),
            *_costs(cost, result["currency"] if result["paid"] else ""),
            ("Time, half take no longer", hours(duration["hours_p50"])),
            ("Time, nine of ten take no longer", hours(duration["hours_p90"])),
            ("Raters needed", "–" if duration["raters"] is None else f"{duration['raters']:.0f}"),
            ("Spammers caught", f"{detection['struck_spammers']} of {detection['spammers']}"),
            ("False alarms", f"{detection['struck_honest']} of {detection['honest']}"),
        ]
    for row in result["certainty"]:
        name = row["criterion"]
        rows.append((f"Half-width of weights: {name}", _two(row["half_width"])))
        rows.append((f"… without excluded raters: {name}", _two(row["half_width_kept"])))
        rows.append((f"Rank correlation with true quality: {name}", _signed(row["recovery"])))
    return rows


def _costs(cost: dict[str, Any], currency: str) -> list[tuple[str, str]]:
    if not currency:
        return []
    between = " to ".join(money(cost[name], currency) for name in ("total_low", "total_high"))
    return [("Cost", money(cost["total"], currency)), ("Cost, 95 %", between)]


def specified(name: str, value: float | int | None) -> str:
    """One number of a specification as it is asked for."""
    if value is None:
        return "–"
    if name in SHARES:
        return f"{100 * value:g} %"
    return f"{value:g}" if name != "seed" else str(value)


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
    """Whole percent; what is not all is never written as all, nor what is something as nothing."""
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
    return "–" if value is None else f"{value:.2f}".replace("-", "−")
