"""The settings of a dry run. The form shows percentages; the specification stores them from 0 to 1."""

from collections.abc import Callable
from typing import Any

from django import forms

from annotation.core.forms import RefusableForm
from annotation.dry_runs.specification import SETTINGS, DryRunSpecification, Setting


class DryRunForm(RefusableForm):
    def __init__(self, suggestion: DryRunSpecification, data: Any = None) -> None:
        super().__init__(data)
        values = suggestion.to_dict()
        for name, setting in sorted(SETTINGS.items(), key=lambda entry: not entry[1].is_main):
            self.fields[name] = self._field(setting, values[name])

    @staticmethod
    def _field(setting: Setting, value: float) -> forms.Field:
        factor = 100 if setting.is_percentage else 1
        text = str(value) if setting.is_whole else f"{round(factor * value, 6):g}"
        kind: Callable[..., forms.Field] = forms.IntegerField if setting.is_whole else forms.FloatField
        field = kind(
            label=f"{setting.label} (%)" if setting.is_percentage else setting.label,
            help_text=setting.help,
            min_value=setting.bounds.low * factor,
            max_value=setting.bounds.high * factor,
            initial=text,
        )
        if not setting.is_whole:
            field.widget.attrs["step"] = "any"
        return field

    @property
    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if SETTINGS[name].is_main]

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if not SETTINGS[name].is_main]

    @property
    def further_errors(self) -> bool:
        return any(field.errors for field in self.further)

    def arguments(self) -> dict[str, Any]:
        values = self.cleaned_data.items()
        return {
            "specification": {name: value / 100 if SETTINGS[name].is_percentage else value for name, value in values}
        }
