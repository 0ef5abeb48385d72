"""Form fields made from the table of a campaign's fields."""

from decimal import Decimal
from typing import Any

from django import forms

from annotation.campaigns.fields.kinds import Amount, Choice, Field, Flag, Number, Text, Texts, Whole


class LinesField(forms.CharField):
    """A list of texts, written as lines."""

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> list[str]:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class AmountField(forms.DecimalField):
    """An amount, shown without the zeros at its end."""

    def prepare_value(self, value: Any) -> Any:
        return f"{value.normalize():f}" if isinstance(value, Decimal) else value


def words(field: Field) -> dict[str, Any]:
    """Return a field's label and help, as a form takes them."""
    return {"label": field.label, "help_text": field.help}


def textarea(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


def form_field(field: Field, **changes: Any) -> forms.Field | None:
    """Return the form's field for an entry of the table, with ``changes`` to its arguments; None if it has none."""
    options: dict[str, Any] = {
        **words(field),
        "required": field.default != "" and not field.optional,
        **changes,
    }
    match field:
        case Choice(options=choices):
            return forms.ChoiceField(choices=list(choices.items()), **options)
        case Text(lines=1):
            return forms.CharField(max_length=field.longest, **options)
        case Text(lines=rows):
            return forms.CharField(max_length=field.longest, widget=textarea(rows), **options)
        case Texts():
            return LinesField(widget=textarea(3), **{**options, "required": False})
        case Whole(low=low, high=high):
            return forms.IntegerField(min_value=low, max_value=high, **options)
        case Amount(high=high, digits=digits):
            return AmountField(min_value=0, max_value=high, decimal_places=digits, **options)
        case Number():
            return forms.FloatField(**options)
        case Flag():
            return forms.BooleanField(**{**options, "required": False})
    return None
