"""Every field of a campaign and of its criteria. A new field is an entry here and a column of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from annotation.campaigns.design.quality import QualificationDesign, QualityDesign
from annotation.campaigns.design.questionnaire import Questionnaire
from annotation.campaigns.design.writing import Writing
from annotation.campaigns.fields.choices import Admission, CommentField, Scope, Target
from annotation.campaigns.fields.kinds import (
    Amount,
    Choice,
    Flag,
    Number,
    Object,
    Pairs,
    RandomSeed,
    Row,
    Rows,
    Text,
    Texts,
    Whole,
    entry,
    table_of,
)
from annotation.campaigns.presentations import PRESENTATIONS, Single
from annotation.campaigns.scales import SCALES, Likert, Scale
from annotation.rating.languages import BROWSER, LANGUAGES, language_label

if TYPE_CHECKING:
    from annotation.models import Dataset, ResponseList, System

DAY = 24 * 3600
MONTH = 30 * DAY
MANY = 10**9
LONG = 50_000
LONGEST_NAME = 120
MOST_RATINGS = 100  # of each unit
# The steps of a design.
WHAT, SCREEN, WORDS, RATERS, QUESTIONS, QUALITY = "what", "screen", "words", "raters", "questions", "quality"
RATED: dict[str, Any] = {"step": WHAT, "selects": True}
BESIDE: dict[str, Any] = {"step": SCREEN, "section": "Beside the questions"}
PER_RATER: dict[str, Any] = {"step": RATERS, "section": "How much one rater does"}
LEASE: dict[str, Any] = {"step": RATERS, "section": "Time for an answer", "low": 5, "high": MONTH}
PAYMENT: dict[str, Any] = {"step": RATERS, "section": "Payment"}
AT_END: dict[str, Any] = {"step": RATERS, "section": "At the end"}


@dataclass(frozen=True)
class CriterionDraft:
    """One question with its scale. The kind of scale decides which columns mean something: see ``stored``."""

    name: str = entry(
        Text,
        label="Name",
        help="For tables and files, such as <code>relevance</code>.",
        stated=True,
        longest=60,
        pattern="[A-Za-z0-9_-]+",
        written="letters, digits, hyphens and underscores",
    )
    question: str = entry(
        Text, label="Question", help="What the rater reads above the scale.", stated=True, longest=300
    )
    kind: str = entry(Choice, Likert.key, "Scale", options={key: kind.choice for key, kind in SCALES.items()})
    scale_min: int = entry(Whole, 1)
    scale_max: int = entry(Whole, 5)
    step: float = entry(Number, 1.0, help="Of a slider; 0 takes any number between its ends.")
    labels: Sequence[str] = entry(
        Texts, (), help="One per point, from the lowest; of a slider its two ends; or none.", shortest=0, longest=200
    )
    ties: bool = entry(Flag, False, help="Of a preference: may the two be called equal?")
    standard_source: str = entry(
        Text, "", help="Of a magnitude: the system or kind of reference that is the standard.", longest=120
    )
    standard_value: float | None = entry(Number, None, help="What the standard text counts as.", optional=True)
    scope: str = entry(
        Choice,
        Scope.WHOLE,
        "What it is about",
        "With turns, a dialogue's value is the mean over the turns of its system.",
        options=Scope.offers(),
    )

    def stored(self) -> CriterionDraft:
        """Return it with the columns that follow from others, or mean nothing for its kind, as they are stored."""
        columns = self.scale.stored() if self.kind in SCALES else {}
        return replace(self, **{"labels": list(self.labels), **columns})

    @property
    def scale(self) -> Scale:
        return SCALES[self.kind](self)

    @property
    def by_turn(self) -> bool:
        return self.scope == Scope.TURN


@dataclass(frozen=True)
class ListedResponses:
    """A list of responses in a file: each by its item's external id and the key of its text."""

    name: str = entry(Text, stated=True)
    responses: Any = entry(Pairs, stated=True, of="pairs: an item's external id and the key of a text")
    origin: Mapping[str, Any] = entry(Object, {})


@dataclass(frozen=True, kw_only=True)
class CampaignDraft:
    """Everything that a manager decides about a campaign before its launch, in the order of its file."""

    name: str = entry(
        Text, label="Name", help="Raters see it, too.", step=WHAT, longest=LONGEST_NAME, stated=True, frozen=False
    )
    dataset: Dataset = entry(Object, label="Data set", step=WHAT, related=True)
    target: str = entry(Choice, Target.OUTPUTS, "What is rated", **RATED, options=Target.offers(), stated=True)
    systems: Sequence[System] = entry(
        Texts, (), "Systems", "Names, where the target is “chosen”.", **RATED, related=True
    )
    response_list: ResponseList | None = entry(
        Row,
        None,
        "List of responses",
        "Where the target is “listed”.",
        **RATED,
        of=ListedResponses,
        optional=True,
        related=True,
    )
    reference_kinds: Sequence[str] = entry(
        Texts, (), "References that came as", "None marked means all of them.", **RATED, is_set=True
    )
    pairs: Sequence[Sequence[str]] = entry(
        Pairs,
        (),
        "Pairs of systems",
        "None marked means every pair.",
        step=SCREEN,
        of="pairs of system names",
        selects=True,
    )
    split: str = entry(Text, "", "Items of the split", **RATED, longest=40)
    item_limit: int | None = entry(
        Whole,
        None,
        "Only the first so many items",
        "Conversations or meanings, with all their responses. Empty means all.",
        **RATED,
        low=1,
        high=MANY,
        optional=True,
    )
    presentation: str = entry(
        Choice,
        Single.key,
        "How it is shown",
        step=SCREEN,
        options={key: kind.choice for key, kind in PRESENTATIONS.items()},
        stated=True,
    )
    criteria: Sequence[CriterionDraft] = entry(
        Rows, label="What is asked", step=SCREEN, of=CriterionDraft, what="criteria", stated=True, related=True
    )
    writing: Mapping[str, Any] = entry(
        Object,
        {},
        "What raters write",
        "A reference or a correction, with its lengths, language and policies.",
        step=SCREEN,
        design=Writing,
    )
    comment: str = entry(Choice, CommentField.OFF, "A field for comments", **BESIDE, options=CommentField.offers())
    cannot_judge_reasons: Sequence[str] = entry(
        Texts,
        (),
        "Reasons for not judging",
        "A line for each. With at least one, “I cannot judge this” beside every response opens them.",
        **BESIDE,
        most=10,
        longest=80,
    )
    instructions: str = entry(
        Text,
        "",
        "Instructions",
        "Markdown. Raters read it before they start, and with one key while they rate.",
        step=WORDS,
        longest=LONG,
        lines=16,
    )
    consent: str = entry(
        Text,
        "",
        "Consent text",
        "Markdown. If there is any, a rater must agree before the first item.",
        step=WORDS,
        longest=LONG,
        lines=12,
        if_empty="None: raters are not asked for consent.",
    )
    rater_language: str = entry(
        Choice,
        BROWSER,
        "Language of buttons and messages",
        "Your own texts stay as you write them.",
        step=WORDS,
        options={code: language_label(code) for code in (BROWSER, *LANGUAGES)},
    )
    ratings_per_unit: int = entry(
        Whole,
        5,
        "Ratings of each response",
        "By so many different raters. With pairs or lists: of each pair or list.",
        step=RATERS,
        low=1,
        high=MOST_RATINGS,
        stated=True,
    )
    min_units_per_rater: int = entry(
        Whole,
        0,
        "At least",
        "Responses (or pairs, or lists). Who stops before gets no completion code.",
        **PER_RATER,
        low=0,
        high=MANY,
    )
    max_units_per_rater: int | None = entry(
        Whole,
        None,
        "At most",
        "Responses (or pairs, or lists) by one rater; empty means no limit.",
        **PER_RATER,
        low=1,
        high=MANY,
        optional=True,
    )
    seconds_between_units: int = entry(
        Whole,
        0,
        "Seconds between two answers",
        "From one response handed out to the next; 0 asks for none.",
        **PER_RATER,
        low=0,
        high=DAY,
    )
    break_every_units: int = entry(
        Whole, 0, "Suggest a break every", "So many responses; 0 is never.", **PER_RATER, low=0, high=10_000
    )
    lease_seconds: int = entry(
        Whole,
        600,
        "Seconds for an answer",
        "A response that is not answered by then goes to another rater. A late answer is kept and paid all the same.",
        **LEASE,
    )
    lease_min_seconds: int | None = entry(
        Whole,
        None,
        "Adjust it to the raters: at least",
        "Seconds. If filled, the time follows how long raters really take, within these two bounds. Leave both empty "
        "to keep it as it is above.",
        **LEASE,
        optional=True,
    )
    lease_max_seconds: int | None = entry(Whole, None, "and at most", "Seconds.", **LEASE, optional=True)
    admission: str = entry(
        Choice,
        Admission.OPEN,
        "Who may take part by the link",
        "Recruitment services have links of their own.",
        step=RATERS,
        options=Admission.offers(),
    )
    payment_per_unit: Decimal = entry(
        Amount,
        Decimal(0),
        "Payment for each answer",
        "Checks among the work are paid like it.",
        **PAYMENT,
        path=("payment", "per_unit"),
        high=999_999,
        digits=4,
    )
    payment_currency: str = entry(
        Text,
        "GBP",
        "Currency",
        "Such as GBP, EUR, USD.",
        **PAYMENT,
        path=("payment", "currency"),
        longest=3,
        pattern="[A-Z]{3}",
        written="three capital letters as in ISO 4217, such as GBP",
    )
    payment_fee_percent: Decimal = entry(
        Amount,
        Decimal(0),
        "Fee of the provider, in percent",
        **PAYMENT,
        path=("payment", "fee_percent"),
        high=999,
        digits=2,
    )
    completion_code: str = entry(  # worth money, so it stays out of files and copies
        Text,
        "",
        "Completion code",
        "Shown at the end to those who came by the link and did enough.",
        **AT_END,
        longest=60,
        exported=False,
        frozen=False,
        confidential=True,
    )
    questions: Mapping[str, Any] = entry(
        Object,
        {},
        "Questions to raters",
        "About themselves, asked once: when, and the questions.",
        step=QUESTIONS,
        design=Questionnaire,
    )
    qualification: Mapping[str, Any] = entry(
        Object,
        {},
        "Qualification",
        "Training, test, pass mark, attempts.",
        step=QUALITY,
        design=QualificationDesign,
        confidential=True,
    )
    quality: Mapping[str, Any] = entry(
        Object,
        {},
        "Checks",
        "Checks mixed in, and the items they show.",
        step=QUALITY,
        design=QualityDesign,
        confidential=True,
    )
    seed: int = entry(
        RandomSeed,
        20150726,
        "Seed of the random numbers",
        "Who meets what, and in which order, can be repeated with the same number.",
        **BESIDE,
    )


CAMPAIGN = table_of(CampaignDraft)
CRITERION = table_of(CriterionDraft)
