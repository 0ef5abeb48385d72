"""Designs to start from: those of papers, and a plain one. Each is data, in the shape of an exported campaign."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.campaigns.design import wording

FIVE = ["Very bad", "Bad", "Acceptable", "Good", "Very good"]
CANNOT_JUDGE = ["I do not understand the conversation", "The text is in another language"]


class Paper(NamedTuple):
    citation: str
    url: str


GALLEY = Paper(
    "M. Galley, C. Brockett, A. Sordoni, Y. Ji, M. Auli, C. Quirk, M. Mitchell, J. Gao and B. Dolan. deltaBLEU: A "
    "Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets. ACL 2015, section 4.",
    "https://aclanthology.org/P15-2073/",
)
HORI = Paper(
    "C. Hori and T. Hori. End-to-end Conversation Modeling Track in DSTC6. 2017, arXiv:1706.07440.",
    "https://arxiv.org/abs/1706.07440",
)
NOVIKOVA = Paper(
    "Novikova, Dušek and Rieser. RankME: Reliable Human Ratings for Natural Language Generation. NAACL 2018.",
    "https://aclanthology.org/N18-2012/",
)
GRAHAM = Paper(
    "Y. Graham, T. Baldwin, A. Moffat and J. Zobel. Continuous Measurement Scales in Human Evaluation of Machine "
    "Translation. 7th Linguistic Annotation Workshop, 2013.",
    "https://aclanthology.org/W13-2305/",
)


@dataclass(frozen=True)
class Template:
    """A design with its description. ``standard_kinds``: the kinds of source that may be its standard text."""

    slug: str
    title: str
    summary: str
    facts: tuple[str, ...]
    design: Mapping[str, Any]
    paper: Paper | None = None
    standard_kinds: tuple[str, ...] = ()


def _template(slug: str, title: str, summary: str, facts: tuple[str, ...], paper: Paper, **design: Any) -> Template:
    """Return the template of a paper: it asks for consent and rates outputs, unless ``design`` says otherwise."""
    standard_kinds = design.pop("standard_kinds", ())
    facts = (f"{design['ratings_per_unit']} raters each", *facts)
    design = {"target": "outputs", "consent": wording.CONSENT, **design}
    return Template(slug, title, summary, facts, design, paper, standard_kinds)


def _points(name: str, question: str, labels: list[str]) -> dict[str, Any]:
    scale = {"kind": "likert", "scale_min": 1, "scale_max": len(labels), "labels": labels}
    return {"name": name, "question": question, **scale}


QUALITY = _points("quality", "How good is this as a reply in the conversation?", FIVE)
RELEVANCE = _points(
    "relevance",
    "How relevant is this reply to the conversation and its last message?",
    ["Not at all", "Hardly", "Somewhat", "Mostly", "Fully"],
)
NATURAL = _points(
    "quality",
    "How natural, informative and appropriate is this reply?",
    ["Very poor", "Poor", "Acceptable", "Good", "Very good"],
)

TEMPLATES = (
    _template(
        "delta-bleu-seeds",
        "ΔBLEU: choosing seeds",
        "Which original responses are worth collecting references around? Keep those with a mean of 4 or more.",
        ("5 points", "one response at a time", "original responses only"),
        GALLEY,
        target="references",
        reference_kinds=["seed"],
        presentation="single",
        criteria=[QUALITY],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=3,
        instructions=wording.QUALITY_OF_A_REPLY,
        break_every_units=50,
    ),
    _template(
        "delta-bleu-references",
        "ΔBLEU: weighing references",
        "Every reference, good or bad, gets a weight from −1 to +1 out of its ratings: what ΔBLEU needs.",
        ("5 points", "one response at a time", "all references, no cut-off"),
        GALLEY,
        target="references",
        presentation="single",
        criteria=[QUALITY],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=5,
        instructions=wording.QUALITY_OF_A_REPLY,
        break_every_units=50,
    ),
    _template(
        "delta-bleu-systems",
        "ΔBLEU: pairs of systems",
        "Two systems' replies side by side, both rated, A and B drawn at random, all systems interleaved.",
        ("5 points", "pairs, both rated", "relevance to context and message"),
        GALLEY,
        presentation="pair",
        criteria=[RELEVANCE],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=5,
        instructions=wording.RELEVANCE_IN_PAIRS,
        break_every_units=40,
    ),
    _template(
        "dstc6-lists",
        "DSTC6: all systems in a list",
        "Every system's reply to one conversation on one screen, so that each is rated in sight of the others.",
        ("5 points", "lists of up to 25", "identical texts once"),
        HORI,
        presentation="list",
        criteria=[NATURAL],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=10,
        instructions=wording.LIST_OF_REPLIES,
        lease_seconds=1800,
        break_every_units=10,
    ),
    _template(
        "rankme-pairs",
        "Two texts that express one meaning, 6 points",
        "Two texts generated from one meaning representation, side by side, each rated on three questions.",
        ("6 points, no middle", "pairs, both rated", "three criteria"),
        NOVIKOVA,
        presentation="pair",
        criteria=[
            _points("informativeness", "Does the text say all that was to be said, and nothing else?", wording.SIX),
            _points("naturalness", "Could a native speaker have written the text?", wording.SIX),
            _points("quality", "How good is the text overall: its grammar, its flow, its content?", wording.SIX),
        ],
        ratings_per_unit=3,
        instructions=wording.MEANING_IN_PAIRS,
        break_every_units=25,
    ),
    _template(
        "rankme-magnitudes",
        "RankME: magnitudes beside a standard",
        "All texts for one item beside a standard that counts as 100: how many times better or worse is each?",
        ("any number above 0", "lists", "a person's text is the standard"),
        NOVIKOVA,
        standard_kinds=("human", "seed", "mined"),
        presentation="list",
        criteria=[
            {
                "name": "quality",
                "question": "How good is this text, if the standard counts as 100?",
                "kind": "magnitude",
                "standard_source": "human",
                "standard_value": 100,
            }
        ],
        ratings_per_unit=3,
        instructions=wording.MAGNITUDES,
        lease_seconds=1800,
        break_every_units=10,
    ),
    _template(
        "direct-assessment",
        "Direct assessment, 0 to 100",
        "One text, one slider; repeats and damaged texts mixed in tell whose scores can be trusted.",
        ("slider from 0 to 100", "one response at a time", "one screen in four is a check"),
        GRAHAM,
        presentation="single",
        criteria=[
            {
                "name": "adequacy",
                "question": "How far do you agree: this is a fitting reply?",
                "kind": "slider",
                "scale_min": 0,
                "scale_max": 100,
                "step": 1,
                "labels": ["Not at all", "Perfectly"],
            }
        ],
        ratings_per_unit=15,
        min_units_per_rater=30,
        instructions=wording.SLIDER,
        break_every_units=50,
        quality={
            "every": 4,
            "mix": {"repeat": 1, "degraded": 1},
            "repeat_gap": 20,
            "degraded": {"count": 40, "operations": ["drop", "swap", "foreign"]},
        },
    ),
)

BLANK = Template(
    "blank",
    "A plain beginning",
    "One question on five points about every system output, one at a time; change whatever you like.",
    ("5 raters each", "5 points", "one response at a time"),
    {
        "target": "outputs",
        "presentation": "single",
        "criteria": [_points("quality", "How good is this reply?", FIVE)],
        "ratings_per_unit": 5,
    },
)
ALL_TEMPLATES = (*TEMPLATES, BLANK)
