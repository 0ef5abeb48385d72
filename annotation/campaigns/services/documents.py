"""A campaign's design as plain JSON without ids, which is exported, cloned and compared."""

from collections.abc import Callable, Sequence
from typing import Any

from annotation.campaigns.design.files import FILE_VERSION
from annotation.campaigns.fields.table import CAMPAIGN, CRITERION
from annotation.models import Campaign, Criterion, Dataset, QualityRules, ResponseList
from annotation.weighting.exclusion.registry import RULES


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """Return the design with names in place of ids, without the name and the completion code of the campaign."""
    document: dict[str, Any] = {}
    for name, field in CAMPAIGN.items():
        if field.exported and field.frozen:
            value = RELATED[name](campaign) if field.related else field.exported_value(getattr(campaign, name))
            put(document, field.path, value)
    return document


def put(document: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set a value in nested objects; create those that are missing."""
    *groups, last = path
    for group in groups:
        document = document.setdefault(group, {})
    document[last] = value


def dataset_document(dataset: Dataset) -> dict[str, Any]:
    return {"slug": dataset.slug, "language": dataset.language, "normalisation": dataset.normalisation}


def list_document(response_list: ResponseList) -> dict[str, Any]:
    """Return the list with each response as external id and text key, which every copy of the data set has."""
    responses = response_list.responses.order_by("item__external_id", "text_key")
    return {
        "name": response_list.name,
        "origin": response_list.origin,
        "responses": [list(names) for names in responses.values_list("item__external_id", "text_key")],
    }


def criterion_document(criterion: Criterion) -> dict[str, Any]:
    return {name: field.exported_value(getattr(criterion, name)) for name, field in CRITERION.items()}


# What a file holds for the rows of other tables.
RELATED: dict[str, Callable[[Campaign], Any]] = {
    "dataset": lambda campaign: dataset_document(campaign.dataset),
    "systems": lambda campaign: sorted(campaign.systems.values_list("name", flat=True)),
    "response_list": lambda campaign: list_document(campaign.response_list) if campaign.response_list else None,
    "criteria": lambda campaign: [criterion_document(criterion) for criterion in campaign.criteria.all()],
}


def campaign_export(campaign: Campaign, *, with_answers: bool = True) -> dict[str, Any]:
    """Return the file that ``campaign_import`` reads; without checks and qualification for people who may be raters."""
    design = campaign_document(campaign)
    if not with_answers:
        for field in CAMPAIGN.values():
            if field.confidential:
                design.pop(field.name, None)
    return {"assay_campaign": FILE_VERSION, "name": campaign.name, **design, "rules": rules_document(campaign)}


def rules_document(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the newest registered rules, without those that name raters or ratings of this campaign."""
    rules = QualityRules.objects.filter(campaign=campaign).order_by("-version").first()
    return [rule for rule in rules.rules if not RULES[rule["rule"]].of_campaign] if rules else []
