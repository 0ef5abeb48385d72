"""Metrics of texts: no framework, no database.

Start with `metrics.scoring.bleu.corpus_bleu` and `metrics.scoring.delta_bleu.corpus_delta_bleu`; for many systems,
subsets or metrics on the same texts, with `metrics.scoring.metric.Workspace` and `metrics.scoring.registry.get_metric`.
"""

# Part of every signature: raised whenever a score could change.
VERSION = "0.1.0"
