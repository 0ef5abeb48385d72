"""Campaigns that rate a list of responses, such as references with an uncertain weight."""

from dataclasses import replace

from django.db import transaction

from annotation.campaigns.fields.table import CAMPAIGN
from annotation.campaigns.services.documents import rules_document
from annotation.campaigns.services.drafts import draft_of
from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, ResponseList, Target, User
from annotation.projects.services.audit import audit_record


@transaction.atomic
def campaign_for_list(
    *, response_list: ResponseList, like: Campaign, ratings_per_unit: int, name: str = "", by: User | None = None
) -> Campaign:
    """Create a draft that rates the list with the design and rules of ``like``, also its random seed.

    Its choice of responses and its completion code are not copied.
    """
    if like.project_id != response_list.project_id:
        raise AnnotationError.at("like", f"Campaign {like.name!r} is not one of this project.")
    if like.presentation_kind.compares_systems:
        refused = f"“{like.name}” compares pairs of systems, and a list names responses"
        raise AnnotationError.at("like", f"{refused}; accepted: a campaign that shows them singly or as lists.")
    not_copied = {name: field.default for name, field in CAMPAIGN.items() if field.selects or not field.exported}
    draft = replace(
        replace(draft_of(like), **not_copied),
        name=name.strip() or reserved_name(response_list.project, response_list.name),
        dataset=response_list.dataset,
        target=Target.LISTED,
        response_list=response_list,
        ratings_per_unit=ratings_per_unit,
    )
    campaign = campaign_create(project=response_list.project, draft=draft, by=by)
    if rules := rules_document(like):
        rules_register(campaign=campaign, records=rules, by=by)
    audit_record(
        verb="campaign.for_list",
        summary=f"Drafted “{campaign.name}” after “{like.name}”, to rate the list “{response_list.name}”.",
        campaign=campaign,
        by=by,
        data={"list": response_list.pk, "like": like.pk},
    )
    return campaign
