"""Forms for rules, row by row, and for decisions about raters."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_type_hints

from django import forms

from annotation.core.forms import Form, RefusableForm, StrictJSONField
from annotation.quality.services.decisions import LONGEST_REASON
from annotation.weighting.exclusion.registry import RULES, rule_from_dict
from annotation.weighting.exclusion.rule import ACTIONS, ExclusionRule, RuleError

ACTION_LABELS = {"exclude": "exclude the rater", "flag": "flag the rater for review"}
MOST_CHARACTERS = 20_000


class RuleForm(Form):
    """A rule with the fields of its kind; an error of the rule is shown at its field."""

    def __init__(self, *args: Any, kind: type[ExclusionRule], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        hints = get_type_hints(kind)
        for field in fields(kind):
            self.fields[field.name] = _field(field.name, hints[field.name], label=field.metadata["label"])
        self.fields["remove"] = forms.BooleanField(required=False, label="Remove this rule")

    @property
    def rule(self) -> str:
        """Return the kind's name: a template would call the class."""
        return self.kind.name

    @property
    def title(self) -> str:
        return self.kind.title

    @property
    def rule_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name != "remove"]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and not cleaned.get("remove"):
            try:
                self.record = rule_from_dict(self._data(cleaned)).to_dict()
            except RuleError as error:
                self.add_error(error.field if error.field in self.fields else None, str(error))
        return cleaned

    def _data(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        values = {field.name: cleaned[field.name] for field in fields(self.kind)}
        return {"rule": self.kind.name, "version": self.kind.version, **values}


class RulesForm:
    """All rules in order. Every button sends all of them; nothing is stored until they are registered."""

    def __init__(self, data: Mapping[str, Any] | None = None, *, records: Sequence[Mapping[str, Any]] = ()) -> None:
        self.rows: list[RuleForm] = []
        if data is None:
            for number, record in enumerate(records):
                self._add(number, str(record["rule"]), initial=_initial(record))
            return
        number = 0
        while name := data.get(f"rule-{number}"):
            self._add(number, name, data=data)
            number += 1

    def add(self, name: str, **values: Any) -> None:
        """Add a row with suggested values, or these, below the others."""
        initial = {**_initial(RULES[name].suggested if name in RULES else {}), **values}
        self._add(len(self.rows), name, initial=initial)

    def explain(self, kind: type[ExclusionRule], field: str, text: str) -> None:
        """Say at a field of each rule of a kind what is usual here."""
        for row in self.rows:
            if row.kind is kind:
                row.fields[field].help_text = text

    def drop_removed(self) -> bool:
        """Remove the marked rows; return whether there were any."""
        remaining = [row for row in self.rows if not row["remove"].value()]
        if len(remaining) == len(self.rows):
            return False
        self.rows = []  # numbered anew
        for number, row in enumerate(remaining):
            self._add(number, row.kind.name, initial={bound.name: bound.value() for bound in row.rule_fields})
        return True

    def is_valid(self) -> bool:
        valid = [row.is_valid() for row in self.rows]  # all rows, so that each shows its errors
        return all(valid)

    def records(self) -> list[dict[str, Any]]:
        """Return the rules of the rows without marked ones; after ``is_valid``."""
        return [row.record for row in self.rows if not row.cleaned_data.get("remove")]

    @property
    def numbered(self) -> list[tuple[int, RuleForm]]:
        return list(enumerate(self.rows))

    def _add(self, number: int, name: str, **options: Any) -> None:
        kind = RULES.get(name)
        if kind is not None:
            self.rows.append(RuleForm(kind=kind, prefix=f"r{number}", **options))


class DecisionForm(RefusableForm):
    """The reason why a rater is excluded, restored or flagged."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Stored permanently, with your name and the time.",
    )
    replace = forms.BooleanField(required=False, label="Reopen the rater's slots for others")


class RulesJsonForm(RefusableForm):
    """The rules as JSON."""

    rules = StrictJSONField(
        label="Rules as JSON",
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "font-monospace"}),
        help_text="A list of records, such as [{&quot;rule&quot;: &quot;gold_accuracy_below&quot;, "
        "&quot;version&quot;: 1, &quot;action&quot;: &quot;exclude&quot;, &quot;accuracy&quot;: 0.6, "
        "&quot;after&quot;: 5}].",
    )

    def arguments(self) -> dict[str, Any]:
        return {"records": self.cleaned_data["rules"]}


class IdentifiersField(forms.CharField):
    """Identifiers, separated by commas or line breaks."""

    def to_python(self, value: Any) -> tuple[str, ...]:  # type: ignore[override] # a list on purpose
        text = super().to_python(value) or ""
        parts = (piece.strip() for piece in text.replace("\n", ",").split(","))
        return tuple(dict.fromkeys(part for part in parts if part))


def _field(name: str, hint: type, *, label: str) -> forms.Field:
    if name == "action":
        return forms.ChoiceField(label=label, choices=[(action, ACTION_LABELS[action]) for action in ACTIONS])
    if hint is int:
        return forms.IntegerField(label=label, min_value=1, max_value=10**9)
    if hint is float:
        return forms.FloatField(label=label, widget=forms.NumberInput(attrs={"step": "any"}))
    return IdentifiersField(label=label, max_length=MOST_CHARACTERS, widget=forms.Textarea(attrs={"rows": 2}))


def _initial(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        for name, value in record.items()
        if name not in ("rule", "version")
    }


def addable_rules() -> list[tuple[str, str]]:
    """Return the name and title of each rule that can be added."""
    return [(rule.name, rule.title) for rule in RULES.values() if rule.offered]
