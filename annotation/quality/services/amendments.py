"""Changes to a running campaign beyond its frozen design: a chain in which every rewrite shows.

The hash of an amendment is the SHA-256, in hexadecimal, of the hash before it (of the design, for the first one)
followed by the amendment as canonical JSON: ``{"data":…,"kind":…,"number":…}`` in UTF-8, keys sorted, no spaces. The
data hold names, never this database's ids.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.campaigns.services.gate import campaign_alone
from annotation.core.canonical import canonical_json
from annotation.core.errors import AnnotationError
from annotation.models import Amendment, AmendmentKind, Campaign, CampaignState, User


def amendable_lock(*, campaign: Campaign, act: str) -> Campaign:
    """Return the campaign locked: running requests and answers have finished, new ones wait. Needs a transaction."""
    campaign = campaign_alone(campaign.pk)
    amendable_check(campaign, act=act)
    return campaign


def amendable_check(campaign: Campaign, *, act: str) -> None:
    if campaign.imported:
        raise AnnotationError(f"The ratings of this campaign were imported: it cannot {act}.")
    if campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED):
        raise AnnotationError(
            f"The campaign is {campaign.get_state_display().lower()}; to {act} it must be running or paused."
        )


def amendment_append(*, campaign: Campaign, kind: AmendmentKind, data: Mapping[str, Any], by: User | None) -> Amendment:
    """Append an amendment, inside the transaction of the change and under ``amendable_lock``."""
    last = campaign.amendments.order_by("-number").first()
    number = last.number + 1 if last else 1
    before = last.hash if last else campaign.design_hash
    return Amendment.objects.create(
        campaign=campaign,
        number=number,
        kind=kind,
        data=dict(data),
        hash=amendment_hash(before, number=number, kind=kind, data=data),
        made_by=by,
    )


def amendment_hash(before: str, *, number: int, kind: str, data: Mapping[str, Any]) -> str:
    written = {"data": dict(data), "kind": str(kind), "number": number}
    return hashlib.sha256(before.encode() + canonical_json(written)).hexdigest()


@dataclass(frozen=True)
class ChainCheck:
    """The number of amendments, and the first that does not match; None if all match."""

    n: int
    broken: int | None = None
    is_missing: bool = False

    @property
    def sentence(self) -> str:
        if self.is_missing:
            return f"The record was changed: amendment {self.broken} is missing."
        if self.broken is not None:
            return f"The record was changed: the hash of amendment {self.broken} does not follow from the entry before."
        if self.n == 0:
            return "The record is intact: there are no amendments."
        if self.n == 1:
            return "The record is intact: 1 amendment, its hash follows from the design's."
        return f"The record is intact: {self.n:,} amendments, each hash follows from the one before."


def chain_check(campaign: Campaign) -> ChainCheck:
    """Compute each amendment's hash again, from the design's on, and compare it with the stored one."""
    entries, before = list(campaign.amendments.order_by("number")), campaign.design_hash
    for expected, amendment in enumerate(entries, start=1):
        if amendment.number != expected:
            return ChainCheck(len(entries), expected, is_missing=True)
        if amendment.hash != amendment_hash(before, number=expected, kind=amendment.kind, data=amendment.data):
            return ChainCheck(len(entries), expected)
        before = amendment.hash
    return ChainCheck(len(entries))
