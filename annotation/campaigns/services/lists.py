"""Lists of responses, and campaigns that ask about them: to rate again what a weight, or a seed, is not sure of."""

from dataclasses import replace

from django.db import transaction

from annotation.campaigns.fields.table import CAMPAIGN
from annotation.campaigns.services import campaign_create, draft_of, free_name
from annotation.campaigns.services.documents import rules_document
from annotation.campaigns.services.rules import rules_register
from annotation.core.errors import AnnotationError
from annotation.datasets.services.lists import response_list_create, response_list_delete
from annotation.models import Campaign, ResponseList, Target, User
from annotation.projects.services.audit import audit_record

__all__ = ["campaign_for_list", "response_list_create", "response_list_delete"]


@transaction.atomic
def campaign_for_list(
    *,
    response_list: ResponseList,
    like: Campaign,
    ratings_per_unit: int,
    name: str = "",
    by: User | None = None,
) -> Campaign:
    """A draft that asks about the list what ``like`` asks: its criteria, scale, words, payment, checks and rules.

    Nothing that says which responses ``like`` asks about is taken over, nor its completion code. Its seed is: with the
    same responses the same screens come in the same order, to other raters.
    """
    if like.project_id != response_list.project_id:
        raise AnnotationError.at("like", f"Campaign {like.name!r} is not one of this project.")
    if like.presentation_kind.compares_systems:
        raise AnnotationError.at(
            "like",
            f"“{like.name}” compares pairs of systems, and a list names responses; accepted: a campaign that shows "
            "them singly or as lists.",
        )
    left = {name: field.default for name, field in CAMPAIGN.items() if field.selects or not field.exported}
    draft = replace(
        replace(draft_of(like), **left),
        name=name.strip() or free_name(response_list.project, response_list.name),
        dataset=response_list.dataset,
        target=Target.LISTED,
        response_list=response_list,
        ratings_per_unit=ratings_per_unit,
    )
    made = campaign_create(project=response_list.project, draft=draft, by=by)
    if rules := rules_document(like):
        rules_register(campaign=made, records=rules, by=by)
    audit_record(
        verb="campaign.for_list",
        summary=f"Drafted “{made.name}” after “{like.name}”, to rate the list “{response_list.name}”.",
        campaign=made,
        by=by,
        data={"list": response_list.pk, "like": like.pk},
    )
    return made
