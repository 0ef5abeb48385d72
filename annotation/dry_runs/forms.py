"""The settings of a dry run. The form shows shares in percent; the specification stores them from 0 to 1."""

from collections.abc import Callable
from typing import Any

from django import forms

from annotation.core.forms import RefusableForm
from annotation.dry_runs.selectors import LABELS
from annotation.dry_runs.services.specification import FIELDS, Specification

PERCENT = ("spam_share", "bias_sd", "noise", "lapse", "dropout")
WHOLE = ("raters", "seed")
HELP = {
    "raters": "They arrive at random times.",
    "arrivals_per_hour": "On average.",
    "median_seconds": "The median of honest raters; spammers take 0.4 of an honest rater's time.",
    "spam_share": "Half of them answer at random, half always the same.",
    "bias_sd": "How far raters differ in strictness, as a standard deviation in percent of the scale.",
    "noise": "How far the answers of one rater scatter, as a standard deviation in percent of the scale.",
    "lapse": "How often an honest rater answers at random.",
    "dropout": "How often a rater closes the window for good instead of answering.",
    "speed_sd": "Standard deviation of log time between raters; at 0.4 slow raters take twice as long.",
    "target": "Of a weight's 95 % interval, on weights from −1 to +1: the certainty you need.",
    "seed": "The same settings and random seed give the same dry run.",
}
MAIN = ("raters", "arrivals_per_hour", "median_seconds", "spam_share")
UNITS = dict.fromkeys(PERCENT, " (%)")


class DryRunForm(RefusableForm):
    def __init__(self, suggestion: Specification, data: Any = None) -> None:
        start = suggestion.to_dict()
        shown = {name: round(100 * value, 6) if name in PERCENT else value for name, value in start.items()}
        super().__init__(
            data, initial={name: f"{value:g}" if name not in WHOLE else value for name, value in shown.items()}
        )
        for name in [*MAIN, *(name for name in FIELDS if name not in MAIN)]:
            self.fields[name] = self._field(name)

    @staticmethod
    def _field(name: str) -> forms.Field:
        bounds, factor = FIELDS[name], 100 if name in PERCENT else 1
        kind: Callable[..., forms.Field] = forms.IntegerField if name in WHOLE else forms.FloatField
        field = kind(
            label=LABELS[name] + UNITS.get(name, ""),
            help_text=HELP[name],
            min_value=bounds.low * factor if name not in WHOLE else int(bounds.low),
            max_value=bounds.high * factor if name not in WHOLE else int(bounds.high),
        )
        if name not in WHOLE:
            field.widget.attrs["step"] = "any"
        return field

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in MAIN]

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in MAIN]

    @property
    def further_errors(self) -> bool:
        return any(name in self.errors for name in self.fields if name not in MAIN)

    def specification(self) -> dict[str, Any]:
        """Return the settings of a valid form."""
        return {name: value / 100 if name in PERCENT else value for name, value in self.cleaned_data.items()}
