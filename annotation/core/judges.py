"""Columns that hold a metric's or a judge's scores beside those of people, by their names."""

import re
from collections.abc import Sequence

MODELS = frozenset(["gpt", "chatgpt", "llm", "claude", "gemini", "llama", "mistral", "mixtral", "qwen", "deepseek"])
JUDGES = frozenset(["judge", "llmjudge", "autojudge", "model", "machine", "bot", "ai"])
METRICS = frozenset(
    ["auto", "automatic", "metric", "score", "bleu", "chrf", "ter", "rouge", "meteor", "bertscore", "bleurt", "comet"]
)
ANY_SCORES = frozenset(["auto", "automatic", "metric", "score"])  # words that name no metric
_WORD = re.compile(r"[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def judge_columns(names: Sequence[str]) -> list[str]:
    """Return the names that look like a judge's, in their order.

    Where all names alike hold such a word, as in ``judge_1`` and ``judge_2``, it says nothing of any of them.

    >>> judge_columns(["Maria", "Tom", "gpt_judge"]), judge_columns(["judge_1", "judge_2"])
    (['gpt_judge'], [])
    """
    people = list(names)
    for words in (MODELS, JUDGES, METRICS):
        people = [name for name in people if not words & _words(name)] or people
    return [name for name in names if name not in people]


def looks_like_judge(name: str) -> bool:
    """Return whether a name holds a word for a judge or a language model.

    >>> looks_like_judge("gpt4_quality"), looks_like_judge("COMET-22")
    (True, False)
    """
    return bool((MODELS | JUDGES) & _words(name))


def looks_like_metric(name: str) -> bool:
    """Return whether a name holds that of a metric, and no word for a judge.

    >>> looks_like_metric("BLEU-4"), looks_like_metric("judge_score"), looks_like_metric("score")
    (True, False, False)
    """
    return bool((METRICS - ANY_SCORES) & _words(name)) and not looks_like_judge(name)


def _words(name: str) -> set[str]:
    return set(_WORD.findall(_CAMEL.sub(" ", name).lower()))
