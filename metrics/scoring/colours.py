"""The colour of each metric: the same on every page and in every chart.

The colours were chosen together, so that any two differ clearly in both themes (docs/runs.md says how much) and each is
dark or light enough for small text on the surface of its theme. A metric has the same hue in both, so that it is known
again in the other. Charts with a line for each metric give each a mark and a dash as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from metrics.scoring.registry import METRICS

THEMES = ("light", "dark")
# By label: on a light surface, on a dark one.
OF_METRICS: dict[str, tuple[str, str]] = {
    "BLEU": ("#1c77b8", "#1292e1"),
    "sBLEU": ("#2e8456", "#67d193"),
    "ΔBLEU": ("#71440b", "#f5b36f"),
    "iBLEU": ("#244eb5", "#7b85e5"),
    "chrF": ("#970e75", "#f769cc"),
    "TER": ("#177f8e", "#2ea5b7"),
    "ROUGE-L": ("#8a6e08", "#ffdb6e"),
    "METEOR": ("#cd3976", "#e94882"),
    "CIDEr": ("#8c4a47", "#ffbfb7"),
    "Embedding average": ("#ad5622", "#e67f3d"),
    "Vector extrema": ("#9f50ca", "#ae69cf"),
    "Greedy matching": ("#4e2e26", "#aa8981"),
    "Sentence embeddings": ("#3c2e0f", "#f0ddbc"),
    "AM": ("#69072e", "#f18ea6"),
    "FM": ("#2b3852", "#9db9f1"),
    "AM-FM": ("#970c02", "#f64226"),
    "Length": ("#d33a3e", "#ff8673"),
    "distinct-n": ("#23370e", "#cae4ab"),
    "Ent-n": ("#0a3831", "#92b9b2"),
    "Self-BLEU": ("#106118", "#459946"),
    "Scored elsewhere": ("#555306", "#afa84c"),
    "Quality estimate": ("#472b4f", "#f4d1fd"),
}
# For scores made elsewhere and metrics of other packages: one of these, by name. The start gives the most usual names
# (COMET, BLEURT, BERTScore, judges) different ones.
START = "218"
OF_OTHERS: tuple[tuple[str, str], ...] = (
    ("#7e5e71", "#ae799a"),
    ("#717553", "#8c9070"),
    ("#696f8f", "#e3e7fc"),
    ("#866c52", "#a57f51"),
    ("#216559", "#bbf7eb"),
    ("#0a5063", "#70d5f6"),
    ("#4b1197", "#d79afe"),
    ("#4f8207", "#8dc646"),
)


def metric_colour(label: str, theme: str) -> str:
    """Return the colour of a metric by its label, with or without what tells two variants of it apart.

    Scorers of imported scores and metrics of other packages get one by their name.

    Examples
    --------
    >>> metric_colour("ΔBLEU (galley2015)", "light") == metric_colour("ΔBLEU", "light")
    True
    """
    if theme not in THEMES:
        raise ValueError(f"theme: found {theme!r}; accepted: {', '.join(THEMES)}")
    name = label.partition(" (")[0]
    colours = OF_METRICS.get(name) or _of_other(name)
    return colours[THEMES.index(theme)]


def _of_other(name: str) -> tuple[str, str]:
    return OF_OTHERS[crc32(f"{START}{name.casefold()}".encode()) // 7 % len(OF_OTHERS)]


def metric_colours(labels: Iterable[str], theme: str) -> dict[str, str]:
    """Return the colour of each metric of a chart, by label."""
    return {label: metric_colour(label, theme) for label in labels}


def colour_of(name: str, theme: str) -> str:
    """Return the colour of a metric by its name in the registry."""
    return metric_colour(METRICS[name].label if name in METRICS else name, theme)
