"""Designs to start from: those of the papers, and a plain one. Each is data, in the shape of an exported campaign."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.campaigns.design import wording

FIVE = ["Very bad", "Bad", "Acceptable", "Good", "Very good"]
CANNOT = ["I do not understand the conversation", "The text is in another language"]


@dataclass(frozen=True)
class Template:
    """``source`` is the paper whose procedure it follows; ``standard_kinds``: who may have written a standard text."""

    slug: str
    title: str
    summary: str
    facts: tuple[str, ...]
    design: Mapping[str, Any]
    source: str = ""
    address: str = ""
    standard_kinds: tuple[str, ...] = ()


def _likert(name: str, question: str, labels: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "question": question,
        "kind": "likert",
        "scale_min": 1,
        "scale_max": len(labels),
        "labels": labels,
    }


GALLEY = (
    "M. Galley, C. Brockett, A. Sordoni, Y. Ji, M. Auli, C. Quirk, M. Mitchell, J. Gao and B. Dolan. deltaBLEU: A "
    "Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets. ACL 2015, section 4."
)
GALLEY_AT = "https://aclanthology.org/P15-2073/"
HORI = "C. Hori and T. Hori. End-to-end Conversation Modeling Track in DSTC6. 2017, arXiv:1706.07440."
HORI_AT = "https://arxiv.org/abs/1706.07440"
NOVIKOVA = "Novikova, Dušek and Rieser. RankME: Reliable Human Ratings for Natural Language Generation. NAACL 2018."
NOVIKOVA_AT = "https://aclanthology.org/N18-2012/"
GRAHAM = (
    "Y. Graham, T. Baldwin, A. Moffat and J. Zobel. Continuous Measurement Scales in Human Evaluation of Machine "
    "Translation. 7th Linguistic Annotation Workshop, 2013."
)
GRAHAM_AT = "https://aclanthology.org/W13-2305/"

TEMPLATES = (
    Template(
        slug="delta-bleu-seeds",
        title="ΔBLEU: choosing seeds",
        summary="Which original responses are worth collecting references around? Keep those with a mean of 4 or more.",
        facts=("3 raters each", "5 points", "one response at a time", "original responses only"),
        source=GALLEY,
        address=GALLEY_AT,
        design={
            "target": "references",
            "reference_kinds": ["seed"],
            "presentation": "single",
            "criteria": [_likert("quality", "How good is this as a reply in the conversation?", FIVE)],
            "cannot_judge_reasons": CANNOT,
            "ratings_per_unit": 3,
            "instructions": wording.QUALITY_OF_A_REPLY,
            "consent": wording.CONSENT,
            "break_every_units": 50,
        },
    ),
    Template(
        slug="delta-bleu-references",
        title="ΔBLEU: weighing references",
        summary="Every reference, good or bad, gets a weight from −1 to +1 out of its ratings: what ΔBLEU needs.",
        facts=("5 raters each", "5 points", "one response at a time", "all references, no cut-off"),
        source=GALLEY,
        address=GALLEY_AT,
        design={
            "target": "references",
            "presentation": "single",
            "criteria": [_likert("quality", "How good is this as a reply in the conversation?", FIVE)],
            "cannot_judge_reasons": CANNOT,
            "ratings_per_unit": 5,
            "instructions": wording.QUALITY_OF_A_REPLY,
            "consent": wording.CONSENT,
            "break_every_units": 50,
        },
    ),
    Template(
        slug="delta-bleu-systems",
        title="ΔBLEU: pairs of systems",
        summary="Two systems' replies side by side, both rated, A and B drawn at random, all systems interleaved.",
        facts=("5 raters each", "5 points", "pairs, both rated", "relevance to context and message"),
        source=GALLEY,
        address=GALLEY_AT,
        design={
            "target": "outputs",
            "presentation": "pair",
            "criteria": [
                _likert(
                    "relevance",
                    "How relevant is this reply to the conversation and its last message?",
                    ["Not at all", "Hardly", "Somewhat", "Mostly", "Fully"],
                )
            ],
            "cannot_judge_reasons": CANNOT,
            "ratings_per_unit": 5,
            "instructions": wording.RELEVANCE_IN_PAIRS,
            "consent": wording.CONSENT,
            "break_every_units": 40,
        },
    ),
    Template(
        slug="dstc6-lists",
        title="DSTC6: all systems in a list",
        summary="Every system's reply to one conversation on one screen, so that each is rated in sight of the others.",
        facts=("10 raters each", "5 points", "lists of up to 25", "identical texts once"),
        source=HORI,
        address=HORI_AT,
        design={
            "target": "outputs",
            "presentation": "list",
            "criteria": [
                _likert(
                    "quality",
                    "How natural, informative and appropriate is this reply?",
                    ["Very poor", "Poor", "Acceptable", "Good", "Very good"],
                )
            ],
            "cannot_judge_reasons": CANNOT,
            "ratings_per_unit": 10,
            "instructions": wording.LIST_OF_REPLIES,
            "consent": wording.CONSENT,
            "lease_seconds": 1800,
            "break_every_units": 10,
        },
    ),
    Template(
        slug="rankme-pairs",
        title="Pairs for a meaning, 6 points",
        summary="Two texts that say what a meaning representation says, each rated on three questions.",
        facts=("3 raters each", "6 points, no middle", "pairs, both rated", "three criteria"),
        source=NOVIKOVA,
        address=NOVIKOVA_AT,
        design={
            "target": "outputs",
            "presentation": "pair",
            "criteria": [
                _likert("informativeness", "Does the text say all that was to be said, and nothing else?", wording.SIX),
                _likert("naturalness", "Could a native speaker have written the text?", wording.SIX),
                _likert("quality", "How good is the text overall: its grammar, its flow, its content?", wording.SIX),
            ],
            "ratings_per_unit": 3,
            "instructions": wording.MEANING_IN_PAIRS,
            "consent": wording.CONSENT,
            "break_every_units": 25,
        },
    ),
    Template(
        slug="rankme-magnitudes",
        title="RankME: magnitudes beside a standard",
        summary="All texts for one item beside a standard that counts as 100: how many times better or worse is each?",
        facts=("3 raters each", "any number above 0", "lists", "a person's text is the standard"),
        source=NOVIKOVA,
        address=NOVIKOVA_AT,
        standard_kinds=("human", "seed", "mined"),
        design={
            "target": "outputs",
            "presentation": "list",
            "criteria": [
                {
                    "name": "quality",
                    "question": "How good is this text, if the standard counts as 100?",
                    "kind": "magnitude",
                    "standard_source": "human",
                    "standard_value": 100,
                },
            ],
            "ratings_per_unit": 3,
            "instructions": wording.MAGNITUDES,
            "consent": wording.CONSENT,
            "lease_seconds": 1800,
            "break_every_units": 10,
        },
    ),
    Template(
        slug="direct-assessment",
        title="Direct assessment, 0 to 100",
        summary="One text, one slider; repeats and damaged texts mixed in tell whose scores can be trusted.",
        facts=("15 raters each", "slider from 0 to 100", "one response at a time", "one screen in four is a check"),
        source=GRAHAM,
        address=GRAHAM_AT,
        design={
            "target": "outputs",
            "presentation": "single",
            "criteria": [
                {
                    "name": "adequacy",
                    "question": "How far do you agree: this is a fitting reply?",
                    "kind": "slider",
                    "scale_min": 0,
                    "scale_max": 100,
                    "step": 1,
                    "labels": ["Not at all", "Perfectly"],
                },
            ],
            "ratings_per_unit": 15,
            "min_units_per_rater": 30,
            "instructions": wording.SLIDER,
            "consent": wording.CONSENT,
            "break_every_units": 50,
            "quality": {
                "every": 4,
                "mix": {"repeat": 1, "degraded": 1},
                "repeat_gap": 20,
                "degraded": {"count": 40, "operations": ["drop", "swap", "foreign"]},
            },
        },
    ),
)

BLANK = Template(
    slug="blank",
    title="A plain beginning",
    summary="One question on five points about every system output, one at a time; change whatever you like.",
    facts=("5 raters each", "5 points", "one response at a time"),
    design={
        "target": "outputs",
        "presentation": "single",
        "criteria": [_likert("quality", "How good is this reply?", FIVE)],
        "ratings_per_unit": 5,
        "instructions": "",
        "consent": "",
    },
)

ALL_TEMPLATES = (*TEMPLATES, BLANK)
