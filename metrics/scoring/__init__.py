"""Metrics on tokens: no framework, no database. Numbers in, named results out.

Start with `metrics.scoring.bleu.corpus_bleu` and `metrics.scoring.delta_bleu.corpus_delta_bleu`. To score many systems,
subsets or metrics on the same texts, make one `metrics.scoring.metric.Workspace` of them and ask it for the statistics
of what `metrics.scoring.registry.get_metric` returns.
"""

# Part of every signature: raised whenever a score could change.
VERSION = "0.1.0"
