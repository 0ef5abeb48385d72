"""What was changed on a running campaign beyond its frozen design: a chain that nobody can rewrite unseen.

The hash of an amendment is the SHA-256, in hexadecimal, of the hash before it (of the design, for the first one)
followed by the amendment as canonical JSON: ``{"data":…,"kind":…,"number":…}`` in UTF-8, keys sorted, no spaces. Names
stand in the data, never this database's ids.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from annotation.canonical import canonical_json
from annotation.errors import AnnotationError
from annotation.models import Amendment, AmendmentKind, Campaign, CampaignState, User
from annotation.services.gate import campaign_alone


def amendable_lock(*, campaign: Campaign, act: str) -> Campaign:
    """Inside a transaction: the campaign, with requests and answers under way finished and new ones waiting."""
    campaign = campaign_alone(campaign.pk)
    amendable_check(campaign, act=act)
    return campaign


def amendable_check(campaign: Campaign, *, act: str) -> None:
    if campaign.imported:
        raise AnnotationError(f"The judgements of this campaign were collected elsewhere: it cannot {act}.")
    if campaign.state not in (CampaignState.RUNNING, CampaignState.PAUSED):
        raise AnnotationError(
            f"The campaign is {campaign.get_state_display().lower()}; to {act} it must be running or paused."
        )


def amendment_append(*, campaign: Campaign, kind: AmendmentKind, data: Mapping[str, Any], by: User | None) -> Amendment:
    """Inside the transaction of the change, under ``amendable_lock``."""
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


def first_broken_amendment(campaign: Campaign) -> Amendment | None:
    """The first one that does not follow from what stands before it; None where the chain holds."""
    before = campaign.design_hash
    for expected, amendment in enumerate(campaign.amendments.order_by("number"), start=1):
        known = amendment_hash(before, number=expected, kind=amendment.kind, data=amendment.data)
        if amendment.hash != known:
            return amendment
        before = amendment.hash
    return None
