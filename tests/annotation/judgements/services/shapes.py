"""Rating files in every shape, for the example data set."""

import json
from typing import Any

from annotation.core.errors import ImportRefused
from annotation.judgements.services.content import RatingContent
from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.imports import campaign_import
from annotation.judgements.services.options import RatingOptions
from annotation.models import Campaign, Dataset

WIDE = """\
item,system,ann,bob,cleo
1,SystemA,5,4,5
1,SystemB,2,1,
3,SystemA,NA,4,4.5
"""
WIDE_BY_CRITERION = """\
item,system,ann:relevance,ann:fluency,bob:relevance,bob:fluency
1,SystemA,5,4,4,4
1,SystemB,2,1,,3
"""
MEDIANS = """\
item,system,median,n
1,SystemA,5,3
1,SystemB,2,2
3,SystemA,4.5,4
"""
# The columns are those that the README of the WMT21 human evaluation lists (wmt-conference/wmt21-news-systems,
# humaneval/newstest2021-EX_and_XY); the third and last rows are checks.
APPRAISE_DOCUMENTS = """\
engdeu1001,SystemA,1,TGT,eng,deu,87,chats,False,1624000000.5,1624000012.75
engdeu1001,SystemB,1,TGT,eng,deu,12,chats,False,1624000012.75,1624000020.0
engdeu1001,SystemB,1,BAD,eng,deu,3,chats,False,1624000020.0,1624000024.0
engdeu1001,SystemA,1,TGT,eng,deu,70,chats,True,1624000024.0,1624000030.0
engdeu1002,SystemA,2,TGT,eng,deu,40,chats,False,1624000100.0,1624000110.0
engdeu1002,SystemB,2,TGT,eng,deu,40,chats,False,1624000100.0,1624000110.0
engdeu1002,SystemA,1,CHK,eng,deu,90,chats,False,1624000110.0,1624000113.0
engdeu1002,SystemA,1,REF,eng,deu,99,chats,False,1624000113.0,1624000115.0
"""


def annotation(number: int, by: Any, **options: Any) -> dict[str, Any]:
    """Return an annotation as in Label Studio's guide (labelstud.io/guide/task_format), for a rating task."""
    results = [
        {"from_name": name, "to_name": "txt", "id": f"r{number}{name}", "type": kind, "value": {kind: value}}
        for name, (kind, value) in options.pop("answers", {}).items()
    ]
    return {
        "id": number,
        "result": results,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2021-03-09T22:16:08.728353Z",
        "updated_at": "2021-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
        "result_count": 0,
        "task": 1,
        "completed_by": by,
        **options,
    }


def tasks() -> list[dict[str, Any]]:
    return [
        {
            "id": 11,
            "project": 83,
            "data": {"item_id": 1, "model": "SystemA", "prompt": "Then you saw the goal!"},
            "annotations": [
                annotation(1001, 10, answers={"quality": ("rating", 4), "fluent": ("choices", ["5 – very"])}),
                annotation(1002, {"id": 12, "email": "bo@example.org"}, answers={"quality": ("rating", 5)}),
                annotation(1003, 13, was_cancelled=True),
            ],
            "predictions": [{"model_version": "1", "result": [{"type": "rating", "value": {"rating": 1}}]}],
        },
        {
            "id": 12,
            "project": 83,
            "data": {"item_id": 3, "model": "SystemB", "prompt": "What am I doing wrong?"},
            "annotations": [
                annotation(1004, 10, answers={"quality": ("number", 1.5), "why": ("textarea", ["It only repeats."])}),
                annotation(1005, 12, answers={"why": ("textarea", ["No idea."])}),
            ],
        },
    ]


def label_studio(exported: list[dict[str, Any]] | None = None) -> str:
    return json.dumps(tasks() if exported is None else exported, indent=1)


def read(content: str, kind: str = "csv", **options: Any) -> RatingContent:
    return read_ratings(content.encode(), filename=f"r.{kind}", file_format=kind, options=RatingOptions(**options))


def stored(dataset: Dataset, content: str, kind: str = "csv", name: str = "J", **options: Any) -> tuple[Campaign, dict]:
    ratings = read(content, kind, **options)
    return campaign_import(dataset=dataset, name=name, by=None, content=ratings, filename=f"r.{kind}")


def refused(content: str, kind: str = "csv", **options: Any) -> list[tuple[int | None, str, str]]:
    try:
        read(content, kind, **options)
    except ImportRefused as refusal:
        return [(row["line"], row["field"], row["accepted"]) for row in refusal.rows]
    return []
