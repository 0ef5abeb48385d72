"""One text scored by a request."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient
from sacrebleu import sentence_chrf, sentence_ter

from annotation.core.turns import SLOW_METRICS
from metrics.scoring.delta_bleu import sentence_delta_bleu
from metrics.scoring.registry import METRICS
from metrics.selectors.playground_scores import BUSY, SLOW_AT_ONCE
from tests.api.conftest import World

Api = Callable[..., APIClient]
WHERE = "/api/v1/projects/lab/scored-texts/"
HYPOTHESIS = "i do not know what you mean"
REFERENCES = [{"text": "i know what you mean", "weight": 0.3}, {"text": "i do not know", "weight": -0.6}]
TEXTS = [str(reference["text"]) for reference in REFERENCES]


def scored(client: APIClient, metric: str, code: int = 200, **body: Any) -> Any:
    given = {"metric": metric, "hypothesis": HYPOTHESIS, "references": REFERENCES} | body
    answer = client.post(WHERE, given, format="json")
    assert answer.status_code == code, answer.content
    return answer.json()


@pytest.fixture
def viewer(world: World, api: Api) -> APIClient:
    return api(world.people["viewer"])


def test_weighted_references_give_a_score_and_the_account_of_each_n_gram(viewer: APIClient) -> None:
    answer = scored(viewer, "delta_bleu", parameters={"max_order": 2, "tokenize": "whitespace"})
    assert answer["score"] == sentence_delta_bleu(HYPOTHESIS, TEXTS, [0.3, -0.6], tokenize="whitespace")
    assert answer["signature"].startswith("delta_bleu|order:2|sem:galley2015|tok:whitespace|lc:no|smooth:none|weights:")
    account = answer["account"]
    for order in account["orders"]:
        adds = [ngram["adds"] for ngram in account["ngrams"] if ngram["order"] == order["order"]]
        assert sum(adds) == pytest.approx(order["numerator"])
    assert [reference["weight"] for reference in account["references"]] == [0.3, -0.6]


def test_each_reference_alone_is_scored_as_sacrebleu_does(viewer: APIClient) -> None:
    chrf, ter = scored(viewer, "chrf"), scored(viewer, "ter")
    for index, text in enumerate(TEXTS):
        alone = [answer["account"]["references"][index] for answer in (chrf, ter)]
        assert alone[0]["score_alone"] == pytest.approx(sentence_chrf(HYPOTHESIS, [text]).score / 100)
        assert alone[1]["score_alone"] == pytest.approx(sentence_ter(HYPOTHESIS, [text]).score / 100)
        assert alone[1]["values"]["Words"] == len(text.split())
    assert (chrf["account"]["rule"], chrf["score"]) == ("best", chrf["account"]["references"][0]["score_alone"])
    assert (ter["better"], ter["account"]["rule"]) == ("lower", "parts")


def test_every_metric_answers_with_a_score_or_a_reason(viewer: APIClient) -> None:
    """Those that need no model and no program; CIDEr has no score of one text."""
    for name, metric in METRICS.items():
        if metric.slow or metric.group == "external" or any(p.kind == "model" for p in metric.parameter_list()):
            continue
        answer = scored(viewer, name, message="what ?")
        assert (answer["score"] is None) == bool(answer["undefined_reason"]), name


def test_what_is_too_large_missing_or_unknown_is_refused_at_its_field(viewer: APIClient) -> None:
    long, line = "word " * 1500, [{"text": "a b", "weight": 1}]
    refused = {
        "metric": scored(viewer, "blue", 400),
        "max_order": scored(viewer, "bleu", 400, parameters={"max_order": 9}),
        "hypothesis": scored(viewer, "bleu", 400, hypothesis="x" * 20_001),
        "references": scored(viewer, "bleu", 400, hypothesis=long, references=[{"text": long}]),
        "message": scored(viewer, "ibleu", 400),
        "references.0.weight": scored(viewer, "bleu", 400, references=[{"text": "a", "weight": 2}]),
        "text": scored(viewer, "bleu", 400, text="a"),
    }
    for field, answer in refused.items():
        assert list(answer["fields"]) == [field], answer
    assert "3,000 words" in refused["references"]["detail"]
    assert "one" in scored(viewer, "bleu", 400, references=[])["detail"]
    assert list(scored(viewer, "bleu", 400, references=line * 21)["fields"]) == ["references"]
    assert (
        "tries shifts" in scored(viewer, "ter", 400, hypothesis="w " * 400, references=[{"text": "v " * 400}])["detail"]
    )
    assert "no LSA space yet" in scored(viewer, "am", 400)["detail"]


def test_programs_are_started_for_few_at_once_and_their_failure_is_a_reason(
    viewer: APIClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """METEOR starts a Java program; another process holds its places in the database."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexit 3\n")
    java.chmod(0o755)
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_java", lambda: str(java))
    monkeypatch.setattr("metrics.scoring.meteor_jar.find_jar", lambda: tmp_path)
    answer = scored(viewer, "meteor")
    assert answer["score"] is None
    assert "status 3" in answer["undefined_reason"]
    others = connection.copy()
    try:
        with others.cursor() as cursor:
            for place in range(SLOW_AT_ONCE):
                cursor.execute("SELECT pg_advisory_lock(%s, %s)", [SLOW_METRICS, place])
        busy = viewer.post(WHERE, {"metric": "meteor", "hypothesis": "a", "references": REFERENCES}, format="json")
        assert (busy.status_code, busy["Retry-After"], busy.json()["detail"]) == (429, "30", BUSY)
    finally:
        others.close()
