"""The published tables that are computed again; a table says all about itself in its own file."""

from correlations.published import delta_bleu, dialogue_metrics, quality_estimation

TABLES = (delta_bleu.TABLE, quality_estimation.TABLE, dialogue_metrics.TABLE)
