"""The study that the demo shows: deltaBLEU on the judgements of the seventh Dialog System Technology Challenge."""

from typing import Any


def demo_study_specification() -> dict[str, Any]:
    """Six systems against references of four sources; the design is that of Galley et al. (2015), section 5.

    The rating is the mean of all criteria of the campaign: relevance and informativeness.
    """
    return {
        "release": "dstc7-references",
        "campaigns": ["Output ratings"],
        "systems": ["Baseline", "Constant", "TeamA", "TeamCE", "TeamD", "TeamG"],
        "metrics": ["bleu", "sbleu", "delta_bleu"],
        "subsets": ["original", "w>0", "w>=0.6", "all"],
        "order": 2,
        "tokenize": "whitespace",
        "lowercase": True,
        "unit_size": 100,
        "assignments": 1000,
        "orientation": "both",
        "remainder": "keep",
    }
