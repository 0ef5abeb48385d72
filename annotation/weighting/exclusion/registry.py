"""All exclusion rules, in the order of the menu, and rules from data."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from annotation.weighting.exclusion.listed import LISTED_RULES
from annotation.weighting.exclusion.measured import MEASURED_RULES
from annotation.weighting.exclusion.rule import ExclusionRule, RuleError

RULES: dict[str, type[ExclusionRule]] = {rule.name: rule for rule in (*MEASURED_RULES, *LISTED_RULES)}


def rule_from_dict(data: Mapping[str, Any]) -> ExclusionRule:
    """Return the rule that a record describes.

    Raises
    ------
    RuleError
        Unknown rule or version, missing or unknown fields, or a value that is not accepted. The message and ``field``
        name the field.

    Examples
    --------
    >>> rule_from_dict({"rule": "min_seconds_per_rating", "version": 1, "seconds": 2})
    MinSecondsPerRating(seconds=2)
    >>> record = {"rule": "gold_accuracy_below", "version": 1, "action": "exclude", "accuracy": 0.6, "after": 5}
    >>> rule_from_dict(record).sentence
    'Exclude raters whose gold accuracy is below 0.6, after 5 gold answers.'
    """
    name = data.get("rule")
    if not isinstance(name, str) or name not in RULES:
        raise RuleError(f"exclusion rule: field 'rule' is {name!r}; accepted: {', '.join(RULES)}", field="rule")
    kind = RULES[name]
    if data.get("version") != kind.version:
        raise RuleError(
            f"exclusion rule {name!r}: field 'version' is {data.get('version')!r}; accepted: {kind.version}",
            field="version",
        )
    known = [field.name for field in fields(kind)]
    given = {key: value for key, value in data.items() if key not in {"rule", "version"}}
    wrong = sorted(set(known) ^ set(given))
    if wrong:
        problem = "missing" if wrong[0] in known else "unknown"
        accepted = ", ".join(["rule", "version", *known])
        raise RuleError(
            f"exclusion rule {name!r}: field {wrong[0]!r} is {problem}; accepted: {accepted}", field=wrong[0]
        )
    return kind(**given)


def rules_from_data(data: Sequence[Mapping[str, Any]]) -> list[ExclusionRule]:
    """Return the rules that records describe; an error names the record by its number, from 1."""
    rules = []
    for number, record in enumerate(data, start=1):
        try:
            rules.append(rule_from_dict(record))
        except RuleError as error:
            raise RuleError(f"rule {number} of {len(data)}: {error}", field=error.field, number=number) from error
    return rules
