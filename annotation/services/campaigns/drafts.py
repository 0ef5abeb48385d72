"""A campaign as it is decided on: plain values, and how they are read from and written to the tables."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from annotation.design import QualificationDesign, QualityDesign
from annotation.models import (
    Admission,
    Campaign,
    CommentField,
    Criterion,
    Dataset,
    PresentationKind,
    ResponseList,
    ScaleKind,
    System,
    Target,
)
from annotation.services.campaign_documents import settled


@dataclass(frozen=True)
class CriterionDraft:
    """One question with its scale; ``labels`` is empty or holds one per point, of a slider its two ends.

    What a kind of scale does not have, it does not keep: see ``stored``.
    """

    name: str
    question: str
    scale_min: int = 1
    scale_max: int = 5
    labels: Sequence[str] = ()
    kind: str = ScaleKind.LIKERT
    step: float = 1.0
    ties: bool = False
    standard_source: str = ""
    standard_value: float | None = None

    def stored(self) -> "CriterionDraft":
        """With the columns that follow from the others, or mean nothing for its kind, set to what is stored."""
        plain = replace(self, labels=list(self.labels))
        if self.kind != ScaleKind.SLIDER:
            plain = replace(plain, step=1.0)
        if self.kind != ScaleKind.PREFERENCE:
            plain = replace(plain, ties=False)
        if self.kind != ScaleKind.MAGNITUDE:
            plain = replace(plain, standard_source="", standard_value=None)
        if self.kind == ScaleKind.MAGNITUDE:
            return replace(plain, scale_min=0, scale_max=1, labels=[])
        if self.kind == ScaleKind.PREFERENCE:
            return replace(plain, scale_min=-self.scale_max)
        return plain


@dataclass(frozen=True)
class CampaignDraft:
    """Everything a manager decides about a campaign before its launch."""

    dataset: Dataset
    name: str
    criteria: Sequence[CriterionDraft]
    target: str = Target.OUTPUTS
    systems: Sequence[System] = field(default_factory=tuple)
    response_list: ResponseList | None = None
    reference_kinds: Sequence[str] = ()
    pairs: Sequence[Sequence[str]] = ()
    split: str = ""
    item_limit: int | None = None
    presentation: str = PresentationKind.SINGLE
    comment: str = CommentField.OFF
    cannot_judge_reasons: Sequence[str] = ()
    instructions: str = ""
    consent: str = ""
    rater_language: str = ""
    ratings_per_unit: int = 5
    min_units_per_rater: int = 0
    max_units_per_rater: int | None = None
    seconds_between_units: int = 0
    break_every_units: int = 0
    lease_seconds: int = 600
    lease_min_seconds: int | None = None
    lease_max_seconds: int | None = None
    admission: str = Admission.OPEN
    payment_per_unit: Decimal = Decimal(0)
    payment_currency: str = "GBP"
    payment_fee_percent: Decimal = Decimal(0)
    completion_code: str = ""
    qualification: Mapping[str, Any] = field(default_factory=dict)
    quality: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 20150726


RELATED = ("criteria", "systems")
COLUMNS = tuple(one.name for one in fields(CampaignDraft) if one.name not in RELATED)
DESIGNS: dict[str, type[QualityDesign] | type[QualificationDesign]] = {
    "quality": QualityDesign,
    "qualification": QualificationDesign,
}
LISTS = ("reference_kinds", "cannot_judge_reasons")


def draft_of(campaign: Campaign) -> CampaignDraft:
    """The draft that would make the campaign what it is."""
    values = {name: getattr(campaign, name) for name in COLUMNS}
    criteria = [criterion_draft_of(criterion) for criterion in campaign.criteria.all()]
    return CampaignDraft(**values, criteria=criteria, systems=list(campaign.systems.all()))


def criterion_draft_of(criterion: Criterion) -> CriterionDraft:
    return CriterionDraft(**{one.name: getattr(criterion, one.name) for one in fields(CriterionDraft)})


def write_columns(campaign: Campaign, draft: CampaignDraft) -> None:
    """Onto the instance; nothing is saved."""
    for name in COLUMNS:
        value = getattr(draft, name)
        if name in LISTS:
            value = list(value)
        elif name == "pairs":
            value = [list(pair) for pair in value]
        elif name in DESIGNS:
            value = settled(DESIGNS[name], value)  # in one form, so that equal designs have equal hashes
        setattr(campaign, name, value)


def criteria_rows(campaign: Campaign, criteria: Sequence[CriterionDraft]) -> list[Criterion]:
    return [
        Criterion(campaign=campaign, position=position, **asdict(criterion.stored()))
        for position, criterion in enumerate(criteria)
    ]


def changed_fields(before: CampaignDraft, after: CampaignDraft) -> list[str]:
    """Names of what differs, as the audit log tells it."""
    found = [name for name in COLUMNS if _plain(getattr(before, name)) != _plain(getattr(after, name))]
    if [one.stored() for one in before.criteria] != [one.stored() for one in after.criteria]:
        found.append("criteria")
    if {one.pk for one in before.systems} != {one.pk for one in after.systems}:
        found.append("systems")
    return found


def _plain(value: object) -> object:
    """Lists and tuples of equal content are the same decision."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value
