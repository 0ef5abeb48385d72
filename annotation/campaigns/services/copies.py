"""Create a campaign from another one or from a file. The error names everything that does not fit the data set."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.campaigns.design.files import draft_values, read_campaign_file
from annotation.campaigns.design.reading import DesignError
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.services.documents import campaign_export
from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.problems import refusal
from annotation.campaigns.services.rules import rules_register
from annotation.campaigns.services.validation import draft_problems
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.lists import find_list, responses_named
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, Dataset, Project, ResponseList, System, Target, User
from annotation.projects.services.audit import audit_record
from annotation.weighting.exclusion.registry import rules_from_data
from annotation.weighting.exclusion.rule import RuleError


@transaction.atomic
def campaign_clone(
    *, campaign: Campaign, name: str = "", dataset: Dataset | None = None, by: User | None = None
) -> Campaign:
    """Create a draft with the design of a campaign, but without the completion code, which raters know."""
    document = campaign_export(campaign)
    document["name"] = name.strip() or reserved_name(campaign.project, campaign.name)
    draft = _create(campaign.project, document, dataset or campaign.dataset, by)
    audit_record(
        verb="campaign.clone",
        summary=f"Drafted “{draft.name}” after “{campaign.name}”.",
        campaign=draft,
        by=by,
        data={"of": campaign.pk, "design_hash": campaign.design_hash},
    )
    return draft


@transaction.atomic
def campaign_import(
    *, project: Project, document: object, dataset: Dataset, name: str = "", by: User | None = None
) -> Campaign:
    """Create a draft from the file of an exported campaign."""
    try:
        read = read_campaign_file(document)
    except DesignError as error:
        raise refusal({path: [message] for path, message in error.problems.items()}) from error
    read["name"] = name.strip() or reserved_name(project, read["name"])
    draft = _create(project, read, dataset, by)
    audit_record(
        verb="campaign.import",
        summary=f"Drafted “{draft.name}” from a file.",
        campaign=draft,
        by=by,
        data={"dataset": read["dataset"]},
    )
    return draft


def parse_campaign_file(text: str | bytes) -> object:
    """Return the JSON of an exported file."""
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise AnnotationError.at("file", "Found bytes that are not UTF-8; accepted: an exported campaign.") from error
    except (ValueError, RecursionError) as error:  # also whole numbers of more digits than Python reads
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise AnnotationError.at("file", f"Found no JSON{line}; accepted: an exported campaign.") from error


def _create(project: Project, document: Mapping[str, Any], dataset: Dataset, by: User | None) -> Campaign:
    problems: dict[str, list[str]] = {}
    systems = list(System.objects.filter(dataset=dataset, name__in=document["systems"]))
    missing = sorted(set(document["systems"]) - {system.name for system in systems})
    criteria = [CriterionDraft(**criterion) for criterion in document["criteria"]]
    values = draft_values(document, problems)
    draft = CampaignDraft(**values, dataset=dataset, systems=systems, criteria=criteria)
    responses = _responses(document["response_list"], dataset, problems)
    if missing:
        known = ", ".join(dataset.systems.values_list("name", flat=True)[:50]) or "none"
        problems["systems"] = [
            f"The data set {dataset.name!r} has no system named {', '.join(map(repr, missing))}; it has: {known}."
        ]
    for path, messages in draft_problems(project, draft).items():
        if not (missing and path == "systems") and path != "response_list":
            problems.setdefault(path, []).extend(messages)
    try:
        rules = rules_from_data(document["rules"])
    except RuleError as error:
        problems["rules"] = [str(error)]
    listed = draft.target == Target.LISTED
    if listed and document["response_list"] is None:
        problems["response_list"] = ["Found none; accepted: the list of the responses to rate."]
    if not listed and document["response_list"] is not None:
        problems["response_list"] = ["Found a list; accepted: none, since the target is not “listed”."]
    if problems:
        raise refusal(problems)
    if responses:
        draft = replace(draft, response_list=_list_with(document["response_list"], dataset, responses, by))
    campaign = campaign_create(project=project, draft=draft, by=by)
    if rules:
        rules_register(campaign=campaign, records=[rule.to_dict() for rule in rules], by=by)
    return campaign


def _responses(listed: Mapping[str, Any] | None, dataset: Dataset, problems: dict[str, list[str]]) -> list[int]:
    """Return the ids of the responses of a file's list; those that the data set lacks are added to the problems."""
    if listed is None:
        return []
    names = [(item, key) for item, key in listed["responses"]]
    known = responses_named(dataset, names)
    if missing := [name for name in names if name not in known]:
        of_items = dataset.items.filter(external_id__in=[item for item, _ in missing])
        items = set(of_items.values_list("external_id", flat=True))
        lines = [f"{item}, text {key[:12]}…" if item in items else f"{item} (no such item)" for item, key in missing]
        more = f" and {len(missing) - 5:,} more" if len(missing) > 5 else ""
        lacks = f"The data set {dataset.name!r} lacks {len(missing):,} of the {len(names):,} responses of the list"
        problems["response_list"] = [f"{lacks} {listed['name']!r}: {'; '.join(lines[:5])}{more}."]
    return [known[name] for name in names if name in known]


def _list_with(listed: Mapping[str, Any], dataset: Dataset, responses: list[int], by: User | None) -> ResponseList:
    """Return the data set's list of this name with these responses; create it if there is none."""
    existing = find_list(dataset.response_lists.filter(name=listed["name"]), responses)
    return existing or response_list_create(
        dataset=dataset, name=listed["name"], responses=responses, origin=listed["origin"], by=by
    )
