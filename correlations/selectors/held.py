"""How often ranges over resampled raters hold the truth in simulations, which docs/methods.md has with their error."""

RESAMPLES = "80 %"  # of items and raters, for a coefficient over units
DRAWS = "73 %"  # of items, and of raters of outputs and references
RESAMPLES_NOTE = f"Simulated, such a range holds the truth in {RESAMPLES} of studies, not in 95 %."
DRAWS_NOTE = f"Simulated, such a range holds the truth in {DRAWS} of studies, not in 95 %."
