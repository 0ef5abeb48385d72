"""The studies that the demo shows, on the judgements of the seventh Dialog System Technology Challenge."""

from typing import Any

RELEASE, CAMPAIGNS = "dstc7-references", ["Output ratings"]
SYSTEMS = ["Baseline", "Constant", "TeamA", "TeamCE", "TeamD", "TeamG"]


def demo_study_specification() -> dict[str, Any]:
    """Six systems against references of four sources; the design is that of Galley et al. (2015), section 5.

    The rating is the mean of all criteria of the campaign: relevance and informativeness.
    """
    return {
        "release": RELEASE,
        "campaigns": CAMPAIGNS,
        "systems": SYSTEMS,
        "metrics": ["bleu", "sbleu", "delta_bleu"],
        "subsets": ["original", "w>0", "w>=0.6", "all"],
        "order": 2,
        "tokenize": "whitespace",
        "lowercase": True,
        "unit_size": 100,
        "assignments": 1000,
        "orientation": "both",
        "remainder": "keep",
        "sensitivity": True,
    }


def demo_parameter_study_specification() -> dict[str, Any]:
    """AM-FM's balance, dimensions and order, as in Figures 2 and 1 and Table 2 of D'Haro et al. (2019).

    Fewer resamples than usual, so that the demo is up in seconds. The demo's space has 50 dimensions, its language
    model bigrams.
    """
    return {
        "release": RELEASE,
        "campaigns": CAMPAIGNS,
        "systems": SYSTEMS,
        "metric": "am_fm",
        "sweeps": [
            {"parameter": "balance", "values": [step / 10 for step in range(11)]},
            {"parameter": "k", "values": [1, 2, 5, 10, 20, 30, 40, 50]},
            {"parameter": "order", "values": [1, 2]},
        ],
        "bootstrap": 200,
        "halves": 100,
    }
