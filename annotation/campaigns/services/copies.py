"""A campaign from another one, of this project or from a file; whatever does not fit its data set is named."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.campaigns.design.files import FileProblems, draft_values, read_campaign_file
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.problems import refusal
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.validation import draft_problems
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.lists import responses_named
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, Dataset, Project, ResponseList, System, Target, User
from annotation.projects.services.audit import audit_record
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import RuleError

SUFFIX = " (copy)"


@transaction.atomic
def campaign_clone(
    *, campaign: Campaign, name: str = "", dataset: Dataset | None = None, by: User | None = None
) -> Campaign:
    """A draft with the design of a campaign in any state; of another data set of the project, if one is given.

    The completion code is left out: whoever knows it from the first campaign could claim the second.
    """
    document = campaign_export(campaign)
    document["name"] = name.strip() or free_name(campaign.project, campaign.name)
    made = _create(campaign.project, document, dataset or campaign.dataset, by)
    audit_record(
        verb="campaign.clone",
        summary=f"Drafted “{made.name}” after “{campaign.name}”.",
        campaign=made,
        by=by,
        data={"of": campaign.pk, "design_hash": campaign.design_hash},
    )
    return made


@transaction.atomic
def campaign_import(
    *, project: Project, document: object, dataset: Dataset, name: str = "", by: User | None = None
) -> Campaign:
    """A draft from the file that another campaign was exported to."""
    try:
        read = read_campaign_file(document)
    except FileProblems as error:
        raise refusal({path: [message] for path, message in error.problems.items()}) from error
    read["name"] = name.strip() or free_name(project, read["name"])
    made = _create(project, read, dataset, by)
    audit_record(
        verb="campaign.import",
        summary=f"Drafted “{made.name}” from a file.",
        campaign=made,
        by=by,
        data={"dataset": read["dataset"]},
    )
    return made


def campaign_read(text: str | bytes) -> object:
    """The JSON of an exported file."""
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise AnnotationError.at("file", "Found bytes that are not UTF-8; accepted: an exported campaign.") from error
    except (json.JSONDecodeError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise AnnotationError.at("file", f"Found no JSON{where}; accepted: an exported campaign.") from error


def free_name(project: Project, wanted: str) -> str:
    """The name, or where it is taken the name with a number."""
    taken = set(Campaign.objects.filter(project=project, name__startswith=wanted[:100]).values_list("name", flat=True))
    if wanted not in taken:
        return wanted
    number, base = 2, wanted.removesuffix(SUFFIX)
    while (name := f"{base[: 112 - len(str(number))]} ({number})") in taken:
        number += 1
    return name


def _create(project: Project, document: Mapping[str, Any], dataset: Dataset, by: User | None) -> Campaign:
    found: dict[str, list[str]] = {}
    systems = list(System.objects.filter(dataset=dataset, name__in=document["systems"]))
    missing = sorted(set(document["systems"]) - {system.name for system in systems})
    responses = _responses(document["response_list"], dataset, found)
    draft = _draft(document, dataset, systems, found)
    if missing:
        known = ", ".join(dataset.systems.values_list("name", flat=True)[:50]) or "none"
        found["systems"] = [
            f"The data set {dataset.name!r} has no system named {', '.join(map(repr, missing))}; it has: {known}."
        ]
    for path, messages in draft_problems(project, draft).items():
        if not (missing and path == "systems") and path != "response_list":
            found.setdefault(path, []).extend(messages)
    try:
        rules = rules_from_data(document["rules"])
    except RuleError as error:
        found["rules"] = [str(error)]
    if document["response_list"] is None and draft.target == Target.LISTED:
        found["response_list"] = ["Found none; accepted: the list of the responses that are to be rated."]
    if document["response_list"] is not None and draft.target != Target.LISTED:
        found["response_list"] = ["Found a list; accepted: none, as it is no list that is rated."]
    if found:
        raise refusal(found)
    if responses:
        draft = replace(draft, response_list=_listed(document["response_list"], dataset, responses, by))
    campaign = campaign_create(project=project, draft=draft, by=by)
    if rules:
        rules_register(campaign=campaign, records=[rule.to_dict() for rule in rules], by=by)
    return campaign


def _responses(wanted: Mapping[str, Any] | None, dataset: Dataset, found: dict[str, list[str]]) -> list[int]:
    """The ids of the responses that a file's list names; whichever the data set lacks is told."""
    if wanted is None:
        return []
    names = [(item, key) for item, key in wanted["responses"]]
    known = responses_named(dataset, names)
    missing = [name for name in names if name not in known]
    if missing:
        items = set(
            dataset.items.filter(external_id__in=[item for item, _ in missing]).values_list("external_id", flat=True)
        )
        told = [f"{item} (no such item)" if item not in items else f"{item}, text {key[:12]}…" for item, key in missing]
        more = f" and {len(missing) - 5:,} more" if len(missing) > 5 else ""
        lacks = f"The data set {dataset.name!r} lacks {len(missing):,} of the {len(names):,} responses of the list"
        found["response_list"] = [f"{lacks} {wanted['name']!r}: {'; '.join(told[:5])}{more}."]
    return [known[name] for name in names if name in known]


def _listed(wanted: Mapping[str, Any], dataset: Dataset, responses: list[int], by: User | None) -> ResponseList:
    """The list as the data set has it already, under this name and with these responses, or a new one."""
    for one in dataset.response_lists.filter(name=wanted["name"]):
        if set(one.responses.order_by().values_list("pk", flat=True)) == set(responses):
            return one
    return response_list_create(
        dataset=dataset, name=wanted["name"], responses=responses, origin=wanted["origin"], by=by
    )


def _draft(
    document: Mapping[str, Any], dataset: Dataset, systems: list[System], problems: dict[str, list[str]]
) -> CampaignDraft:
    criteria = [CriterionDraft(**criterion) for criterion in document["criteria"]]
    values = draft_values(document, problems)
    return CampaignDraft(**values, dataset=dataset, systems=systems, criteria=criteria)
