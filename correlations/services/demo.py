"""The studies that the demo shows, on the judgements of the seventh Dialog System Technology Challenge."""

import csv
import io
from typing import Any

import numpy as np
from django.db.models import Avg

from annotation.models import Dataset, ResponseSource, User
from annotation.rating.selectors.ratings import current_ratings
from metrics.models import ScoreRun
from metrics.scoring.external import External
from metrics.services.score_imports import score_file_import
from metrics.services.score_options import ImportOptions

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
    }


def demo_sensitivity_study_specification() -> dict[str, Any]:
    """The same study with how many raters it needed, which takes longer than all the rest."""
    return demo_study_specification() | {"sensitivity": True}


JUDGE_STUDY = "Can a judge stand in for raters on DSTC7?"
SENSITIVITY_STUDY = "How many raters did DSTC7 need?"
JUDGE = "Simulated judge"
JUDGE_NOISE = 0.5  # points, before its ratings are rounded
JUDGE_NOTE = (
    "Made up, to show what scores of a judge can answer: the mean rating of each output with noise added, rounded to "
    "whole points. No language model was asked."
)


def demo_judge(*, dataset: Dataset, by: User) -> ScoreRun:
    """Import the ratings of a simulated judge, from 1 to 5, for the outputs of the compared systems, if not there."""
    imported = ScoreRun.objects.filter(dataset=dataset, metric=External.name, parameters__scorer=JUDGE).first()
    if imported:
        return imported
    campaigns = dataset.campaigns.filter(name__in=CAMPAIGNS)
    means = dict(current_ratings(campaigns).values_list("response_id").annotate(Avg("value")).order_by("response_id"))
    sources = ResponseSource.objects.filter(system__dataset=dataset, system__name__in=SYSTEMS, response_id__in=means)
    names = sources.order_by("system__name", "item__position")
    rows = list(names.values_list("system__name", "item__external_id", "response_id"))
    rng = np.random.default_rng(20150726)
    noisy = np.array([means[response] for *_, response in rows]) + rng.normal(scale=JUDGE_NOISE, size=len(rows))
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["system", "item", "score"])
    for (system, item, _), rating in zip(rows, np.clip(np.rint(noisy), 1, 5).tolist(), strict=True):
        writer.writerow([system, item, rating])
    ((run, _),) = score_file_import(
        dataset=dataset,
        by=by,
        filename="simulated-judge.csv",
        content=file.getvalue().encode(),
        options=ImportOptions(name=JUDGE, lowest=1, highest=5, note=JUDGE_NOTE),
    )
    return run


def demo_judge_study_specification(judge: ScoreRun) -> dict[str, Any]:
    """The judge beside metrics, one of which judges no quality, over the same outputs."""
    return {
        "release": RELEASE,
        "campaigns": CAMPAIGNS,
        "systems": SYSTEMS,
        "metrics": [{"run": judge.number}, "delta_bleu", "bleu", "chrf", "length"],
        "subsets": ["all"],
        "assignments": 200,
        "bootstrap": 200,
        "sweeps": False,
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
