"""Designs to start from, each for an aim. Each is data, in the shape of an exported campaign."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.campaigns.design import wording
from annotation.campaigns.design.naming import AS_SHOWN

FIVE = ["Very bad", "Bad", "Acceptable", "Good", "Very good"]
CANNOT_JUDGE = ["I do not understand the conversation", "The text is in another language"]


class Paper(NamedTuple):
    short: str
    citation: str
    url: str


GALLEY = Paper(
    "Galley et al., ACL 2015, section 4",
    "M. Galley, C. Brockett, A. Sordoni, Y. Ji, M. Auli, C. Quirk, M. Mitchell, J. Gao and B. Dolan. deltaBLEU: A "
    "Discriminative Metric for Generation Tasks with Intrinsically Diverse Targets. ACL 2015, section 4.",
    "https://aclanthology.org/P15-2073/",
)
HORI = Paper(
    "Hori and Hori, 2017",
    "C. Hori and T. Hori. End-to-end Conversation Modeling Track in DSTC6. 2017, arXiv:1706.07440.",
    "https://arxiv.org/abs/1706.07440",
)
NOVIKOVA = Paper(
    "Novikova et al., NAACL 2018",
    "Novikova, Dušek and Rieser. RankME: Reliable Human Ratings for Natural Language Generation. NAACL 2018.",
    "https://aclanthology.org/N18-2012/",
)
GRAHAM = Paper(
    "Graham et al., 2013",
    "Y. Graham, T. Baldwin, A. Moffat and J. Zobel. Continuous Measurement Scales in Human Evaluation of Machine "
    "Translation. 7th Linguistic Annotation Workshop, 2013.",
    "https://aclanthology.org/W13-2305/",
)


@dataclass(frozen=True)
class Template:
    """A design with its description.

    Attributes
    ----------
    aim : what a manager wants to know, as a question or an order.
    name : the name of a campaign that is given none; raters see it, so it says nothing of the aim.
    summary, facts : what a rater does, in a sentence and in a few words each.
    standard_kinds : the kinds of source that may be its standard text.
    example : the texts of its example project.
    """

    slug: str
    aim: str
    name: str
    summary: str
    facts: tuple[str, ...]
    design: Mapping[str, Any]
    paper: Paper | None = None
    standard_kinds: tuple[str, ...] = ()
    example: str = "conversations"

    @property
    def picture(self) -> str:
        """The template that draws what a rater sees."""
        return f"annotation/campaigns/aims/{self.slug}.html"


def _template(slug: str, aim: str, name: str, summary: str, facts: tuple[str, ...], **design: Any) -> Template:
    """Return a template that asks for consent and rates outputs, unless ``design`` says otherwise."""
    described = {key: design.pop(key) for key in ("paper", "standard_kinds", "example") if key in design}
    facts = (f"{design['ratings_per_unit']} raters each", *facts)
    target = design.pop("target", "outputs")
    design = {"target": target, "consent": wording.consent(target), **design}
    return Template(slug, aim, name, summary, facts, design, **described)


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

TEMPLATES = (  # the commonest aims first
    _template(
        "delta-bleu-systems",
        "Which of my systems is better?",
        AS_SHOWN["pair"],
        "Raters see two systems’ replies side by side, in random order and without names, and rate both.",
        ("5 points", "pairs, both rated", "relevance", "for two or three systems"),
        paper=GALLEY,
        presentation="pair",
        criteria=[RELEVANCE],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=5,
        instructions=wording.RELEVANCE_IN_PAIRS,
        break_every_units=40,
    ),
    _template(
        "delta-bleu-references",
        "Weigh references for ΔBLEU",
        AS_SHOWN["single"],
        "Raters judge every reference, good or bad. Its ratings become a weight from −1 to +1, which ΔBLEU reads.",
        ("5 points", "one reference at a time", "all references, no cut-off"),
        paper=GALLEY,
        target="references",
        presentation="single",
        criteria=[QUALITY],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=5,
        instructions=wording.QUALITY_OF_A_REPLY,
        break_every_units=50,
    ),
    _template(
        "rankme-pairs",
        "Is the output faithful to the meaning?",
        "Texts for the same facts",
        "Raters see what was to be said and two texts that say it: is all of it there, does it read well, is it good?",
        ("6 points, no middle", "pairs, both rated", "three questions"),
        paper=NOVIKOVA,
        example="meanings",
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
        "delta-bleu-seeds",
        "Which conversations are worth collecting references for?",
        "Original replies",
        "Raters judge the original reply to each message. Keep those with a mean of 4 or more.",
        ("5 points", "one reply at a time", "original replies only"),
        paper=GALLEY,
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
        "dstc6-lists",
        "Compare many systems at once",
        AS_SHOWN["list"],
        "Raters see every system’s reply to a conversation in one list and rate each in sight of the others.",
        ("5 points", "lists of up to 25", "for four systems or more"),
        paper=HORI,
        presentation="list",
        criteria=[NATURAL],
        cannot_judge_reasons=CANNOT_JUDGE,
        ratings_per_unit=10,
        instructions=wording.LIST_OF_REPLIES,
        lease_seconds=1800,
        break_every_units=10,
    ),
    _template(
        "direct-assessment",
        "How good is each text, from 0 to 100?",
        "Replies from 0 to 100",
        "Raters move one slider for one text. Repeats and damaged texts mixed in tell whose scores can be trusted.",
        ("slider from 0 to 100", "one text at a time", "one item in four is a check"),
        paper=GRAHAM,
        presentation="single",
        criteria=[
            {
                "name": "adequacy",
                "question": "How far do you agree: this text fits?",
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
    _template(
        "rankme-magnitudes",
        "How many times better is one text than another?",
        "Texts beside a standard",
        "Raters see a standard text that counts as 100 and give every other text a number in comparison.",
        ("any number above 0", "lists", "a person’s text is the standard"),
        paper=NOVIKOVA,
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
)

BLANK = Template(
    "blank",
    "Ask my own question",
    "Replies",
    "Begin with one question on five points about every system’s output, and change whatever you like.",
    ("5 raters each", "5 points", "one response at a time"),
    {
        "target": "outputs",
        "presentation": "single",
        "criteria": [_points("quality", "How good is this reply?", FIVE)],
        "ratings_per_unit": 5,
    },
)
ALL_TEMPLATES = (*TEMPLATES, BLANK)
