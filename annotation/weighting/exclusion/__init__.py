"""Exclusion rules: data that says which ratings do not count, so that any release can be computed again.

A rule is a small record, ``{"rule": name, "version": 1, ...fields}``. The ratings themselves are never removed. Rules
that measure raters have an action, ``"exclude"`` or ``"flag"``. They apply while a campaign runs (``judge_raters``) and
when weights are computed (``apply_rules``).
"""
