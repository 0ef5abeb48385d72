"""The colour of each metric: the same on every page and in every chart.

The colours were chosen together, so that any two differ clearly in both themes (docs/runs.md says how much) and each is
dark or light enough for small text on the surface of its theme. Charts with a line for each metric give each a mark
and a dash as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from metrics.scoring.registry import METRICS

THEMES = ("light", "dark")
# By label: on a light surface, on a dark one. A hue is the same or a neighbour in both.
OF_METRICS: dict[str, tuple[str, str]] = {
    "BLEU": ("#1c77b8", "#c2e8fe"),
    "sBLEU": ("#2e8456", "#15ba81"),
    "ΔBLEU": ("#71440b", "#e6af68"),
    "iBLEU": ("#244eb5", "#9dbaf5"),
    "chrF": ("#970e75", "#a48091"),
    "TER": ("#177f8e", "#0ec7de"),
    "ROUGE-L": ("#8a6e08", "#efcc1d"),
    "METEOR": ("#cd3976", "#e55aa9"),
    "CIDEr": ("#8c4a47", "#e05b4a"),
    "Embedding average": ("#ad5622", "#cc7200"),
    "Vector extrema": ("#9f50ca", "#e6dafe"),
    "Greedy matching": ("#4e2e26", "#b08d7b"),
    "Sentence embeddings": ("#3c2e0f", "#a48b08"),
    "AM": ("#69072e", "#f67c8e"),
    "FM": ("#2b3852", "#838aab"),
    "AM-FM": ("#970c02", "#f6946d"),
    "Length": ("#d33a3e", "#ecc3b8"),
    "distinct-n": ("#23370e", "#88916f"),
    "Ent-n": ("#0a3831", "#88e1d0"),
    "Self-BLEU": ("#106118", "#489923"),
    "Scored elsewhere": ("#555306", "#dbfd56"),
    "Quality estimate": ("#472b4f", "#a66cdc"),
}
# For scores made elsewhere and metrics of other packages: one of these, by name. The start gives the most usual names
# (COMET, BLEURT, BERTScore, judges) different ones.
START = "218"
OF_OTHERS: tuple[tuple[str, str], ...] = (
    ("#7e5e71", "#f1adce"),
    ("#717553", "#bccaa8"),
    ("#696f8f", "#4f84fe"),
    ("#866c52", "#fee8c6"),
    ("#216559", "#689694"),
    ("#0a5063", "#26a1d8"),
    ("#4b1197", "#cfa4fd"),
    ("#4f8207", "#76ed78"),
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
