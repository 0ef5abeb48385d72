"""A campaign's design as plain JSON: no ids; what is exported, cloned and compared."""

from collections.abc import Mapping
from typing import Any

from annotation.design import DesignError, QualificationDesign, QualityDesign
from annotation.models import Campaign, Criterion, QualityRules, ResponseList

FILE_VERSION = 1
LISTED = ("exclude_raters", "exclude_ratings")  # rules that name people and ratings of this campaign alone


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """Everything that was decided about a campaign, under the data's own names.

    Not its name, by which two equal designs may differ, and not its completion code, which is worth money.
    """
    dataset = campaign.dataset
    return {
        "dataset": {"slug": dataset.slug, "language": dataset.language, "normalisation": dataset.normalisation},
        "target": campaign.target,
        "systems": sorted(campaign.systems.values_list("name", flat=True)),
        "response_list": list_document(campaign.response_list) if campaign.response_list else None,
        "reference_kinds": sorted(campaign.reference_kinds),
        "pairs": [list(pair) for pair in campaign.pairs],
        "split": campaign.split,
        "item_limit": campaign.item_limit,
        "presentation": campaign.presentation,
        "criteria": [criterion_document(criterion) for criterion in campaign.criteria.all()],
        "comment": campaign.comment,
        "cannot_judge_reasons": list(campaign.cannot_judge_reasons),
        "instructions": campaign.instructions,
        "consent": campaign.consent,
        "rater_language": campaign.rater_language,
        "ratings_per_unit": campaign.ratings_per_unit,
        "min_units_per_rater": campaign.min_units_per_rater,
        "max_units_per_rater": campaign.max_units_per_rater,
        "seconds_between_units": campaign.seconds_between_units,
        "break_every_units": campaign.break_every_units,
        "lease_seconds": campaign.lease_seconds,
        "lease_min_seconds": campaign.lease_min_seconds,
        "lease_max_seconds": campaign.lease_max_seconds,
        "admission": campaign.admission,
        "payment": {
            "per_unit": f"{campaign.payment_per_unit:.4f}",
            "currency": campaign.payment_currency,
            "fee_percent": f"{campaign.payment_fee_percent:.2f}",
        },
        "qualification": settled(QualificationDesign, campaign.qualification),
        "quality": settled(QualityDesign, campaign.quality),
        "seed": campaign.seed,
    }


def list_document(response_list: ResponseList) -> dict[str, Any]:
    """Each response by its item's external id and the key of its text, by which any copy of the data set has it."""
    responses = response_list.responses.order_by("item__external_id", "text_key")
    return {
        "name": response_list.name,
        "origin": response_list.origin,
        "responses": [list(names) for names in responses.values_list("item__external_id", "text_key")],
    }


def criterion_document(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "question": criterion.question,
        "kind": criterion.kind,
        "scale_min": criterion.scale_min,
        "scale_max": criterion.scale_max,
        "step": criterion.step,
        "labels": list(criterion.labels),
        "ties": criterion.ties,
        "standard_source": criterion.standard_source,
        "standard_value": criterion.standard_value,
    }


def settled(design: type[QualityDesign] | type[QualificationDesign], stored: Mapping[str, Any]) -> dict[str, Any]:
    """With every field filled in; of a draft with mistakes, what it has."""
    try:
        return design.from_dict(stored).to_dict()
    except DesignError:
        return dict(stored)


def campaign_export(campaign: Campaign, *, with_answers: bool = True) -> dict[str, Any]:
    """The file that ``campaign_import`` reads elsewhere: name, design, and the rules as they stand, if registered.

    Without the answers to checks and test it has none of either: for people who might be raters.
    """
    design = campaign_document(campaign)
    if not with_answers:
        for name in ("quality", "qualification"):
            del design[name]
    return {
        "assay_campaign": FILE_VERSION,
        "name": campaign.name,
        **design,
        "rules": rules_document(campaign),
    }


def rules_document(campaign: Campaign) -> list[dict[str, Any]]:
    """The newest rules that are registered, without those that name people and ratings of this campaign alone."""
    rules = QualityRules.objects.filter(campaign=campaign).order_by("-version").first()
    return [rule for rule in rules.rules if rule["rule"] not in LISTED] if rules else []
