"""Create a draft from a template, fitted to a data set."""

from dataclasses import replace
from typing import Any

from django.db import transaction

from annotation.campaigns.design.files import draft_values, read_campaign_file
from annotation.campaigns.design.templates import ALL_TEMPLATES, BLANK, Template
from annotation.campaigns.design.writing import REFERENCE
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.presentations import COMPARING, PRESENTATIONS
from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.datasets.selectors.datasets import reference_choices
from annotation.models import Campaign, Dataset, Project, ResponseSource, Target, User
from annotation.projects.services.audit import audit_record

LEAST_SCREENS, LEAST_LISTS = 10, 5  # before a rater gets the completion code, unless the template says otherwise

BY_SLUG = {template.slug: template for template in ALL_TEMPLATES}


@transaction.atomic
def campaign_start(
    *,
    project: Project,
    dataset: Dataset,
    template: str,
    name: str = "",
    consent: str = "",
    by: User | None = None,
) -> Campaign:
    """Create a draft from a template, with its name and its consent text unless others are given."""
    if template not in BY_SLUG:
        raise AnnotationError.at("template", f"Found {template!r}; accepted: {', '.join(BY_SLUG)}.")
    chosen = BY_SLUG[template]
    draft = template_draft(chosen, dataset, name=name.strip() or reserved_name(project, chosen.name))
    if consent.strip():
        draft = replace(draft, consent=consent)
    campaign = campaign_create(project=project, draft=draft, by=by)
    audit_record(
        verb="campaign.start",
        summary=f"Began “{campaign.name}” for “{chosen.aim}”.",
        campaign=campaign,
        by=by,
        data={"template": template},
    )
    return campaign


def template_draft(template: Template, dataset: Dataset, *, name: str) -> CampaignDraft:
    """Return the template's design for a data set, with a standard text that the data set has."""
    read = read_campaign_file({"assay_campaign": 1, "name": name, **template.design})
    values = draft_values(read, {})
    criteria = [CriterionDraft(**criterion) for criterion in read["criteria"]]
    if template.standard_kinds:
        kinds = dict(reference_choices(dataset))
        standard = next((kind for kind in template.standard_kinds if kind in kinds), None)
        if standard is None:
            needs = f"{template.aim!r} needs a text by a person or a mined one as its standard"
            raise AnnotationError.at("dataset", f"{needs}; {dataset.name!r} has none.")
        criteria = [replace(criterion, standard_source=standard) for criterion in criteria]
    n_systems = dataset.systems.count()
    if values["presentation"] in COMPARING and n_systems < 2:
        message = f"{template.aim!r} compares two systems; {dataset.name!r} has {n_systems}."
        raise AnnotationError.at("dataset", message)
    if "min_units_per_rater" not in template.design:
        most = LEAST_LISTS if PRESENTATIONS[values["presentation"]].keeps_lists else LEAST_SCREENS
        values["min_units_per_rater"] = min(most, max(dataset.items.count(), 1))
    if template == BLANK and not n_systems:
        values["target"] = Target.REFERENCES
        if not ResponseSource.objects.filter(item__dataset=dataset).exists():
            return CampaignDraft(dataset=dataset, criteria=[], **values | {"writing": _references_wanted(dataset)})
    return CampaignDraft(dataset=dataset, criteria=criteria, **values)


def _references_wanted(dataset: Dataset) -> dict[str, Any]:
    """Return what there is to ask about items that have no response yet."""
    of_conversations = dataset.items.exclude(message="").exists()
    question = "Write a reply of your own." if of_conversations else "Write a text that says all of this."
    return {"asks": REFERENCE, "question": question, "least": 1, "most": 300, "language": dataset.language}
