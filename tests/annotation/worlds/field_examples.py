"""A value for each field of a campaign, by its kind."""

from decimal import Decimal
from typing import Any

from annotation.campaigns.fields.kinds import Amount, Choice, Field, Flag, Number, Object, Pairs, Text, Texts, Whole


def example(field: Field) -> Any:
    """Return an accepted value that is not the default."""
    match field:
        case Choice():
            return list(field.options)[-1]
        case Text():
            return "x"
        case Texts():
            return ["x"]
        case Whole():
            return field.low if field.default in (None, field.high) else field.default + 1
        case Amount():
            return Decimal("1.5")
        case Number():
            return 1.5
        case Flag():
            return not field.default
        case Pairs():
            return [["x", "y"]]
        case Object():
            return {"x": 1}
    raise AssertionError(f"No example of {field.name}.")
