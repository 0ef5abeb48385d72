"""The rules of ``annotation.normalisation``, where the imports' other parts are found."""

from annotation.normalisation import DEFAULT_RULE, RULE_CHOICES, RULES, normalise, text_key

__all__ = ["DEFAULT_RULE", "RULES", "RULE_CHOICES", "normalise", "text_key"]
