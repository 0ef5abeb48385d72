"""A draft from one of the designs to start from, fitted to a data set."""

from django.db import transaction

from annotation.campaigns.design import ALL_TEMPLATES, Template
from annotation.campaigns.design.files import draft_values, read_campaign_file
from annotation.campaigns.fields.table import CampaignDraft, CriterionDraft
from annotation.campaigns.presentations import COMPARING
from annotation.campaigns.services.copies import free_name
from annotation.campaigns.services.validation import draft_validate
from annotation.campaigns.services.writing import campaign_create
from annotation.core.errors import AnnotationError
from annotation.models import Campaign, Dataset, Project, ResponseSource, User
from annotation.projects.services.audit import audit_record


@transaction.atomic
def campaign_start(
    *, project: Project, dataset: Dataset, template: str, name: str = "", by: User | None = None
) -> Campaign:
    """Named after the template, unless a name is given."""
    found = next((one for one in ALL_TEMPLATES if one.slug == template), None)
    if found is None:
        known = ", ".join(one.slug for one in ALL_TEMPLATES)
        raise AnnotationError.at("template", f"Found {template!r}; accepted: {known}.")
    draft = template_draft(found, dataset, name=name.strip() or free_name(project, found.title))
    draft_validate(project, draft)
    campaign = campaign_create(project=project, draft=draft, by=by)
    audit_record(
        verb="campaign.start",
        summary=f"Began “{campaign.name}” with “{found.title}”.",
        campaign=campaign,
        by=by,
        data={"template": found.slug},
    )
    return campaign


def template_draft(template: Template, dataset: Dataset, *, name: str) -> CampaignDraft:
    """What depends on the data set is drawn from it: who wrote the standard text, whether raters judge references."""
    read = read_campaign_file({"assay_campaign": 1, "name": name, **template.design})
    values = draft_values(read, {})
    criteria = [CriterionDraft(**criterion) for criterion in read["criteria"]]
    sources = ResponseSource.objects.filter(item__dataset=dataset).order_by()
    kinds = set(sources.values_list("kind", flat=True).distinct())
    standard = next((kind for kind in template.standard_kinds if kind in kinds), None)
    if template.standard_kinds and standard is None:
        raise AnnotationError.at(
            "dataset",
            f"{template.title!r} needs a text by a person or a mined one as its standard; {dataset.name!r} has none.",
        )
    if standard:
        criteria = [CriterionDraft(**{**vars(one), "standard_source": standard}) for one in criteria]
    if values["presentation"] in COMPARING and dataset.systems.count() < 2:
        raise AnnotationError.at(
            "dataset", f"{template.title!r} compares two systems; {dataset.name!r} has {dataset.systems.count()}."
        )
    if template.slug == "blank" and not dataset.systems.exists():
        values["target"] = "references"
    return CampaignDraft(dataset=dataset, criteria=criteria, **values)
