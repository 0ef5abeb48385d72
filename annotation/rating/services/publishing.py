"""Add what raters wrote to the data set as references, and let other raters rate it."""

from django.db import transaction

from annotation.campaigns.services.names import reserved_name
from annotation.campaigns.services.starting import campaign_start
from annotation.campaigns.services.writing import campaign_change
from annotation.core.errors import AnnotationError
from annotation.core.normalisation import text_key
from annotation.core.numbers import counted
from annotation.datasets.services.export import dataset_rehash
from annotation.datasets.services.lists import response_list_create
from annotation.models import Campaign, Dataset, Response, ResponseSource, SourceKind, Target, User, WrittenText
from annotation.projects.services.audit import audit_record
from annotation.rating.selectors.written import current_texts

TEMPLATE = "delta-bleu-references"


@transaction.atomic
def written_add(*, campaign: Campaign, by: User | None = None) -> int:
    """Add the texts that are not in the data set yet, as references written by a person. Return how many."""
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=campaign.dataset_id)  # concurrent additions wait
    texts = current_texts(campaign).filter(source=None).select_related("presentation__unit").order_by("pk")
    n = 0
    for written in texts:
        item = written.presentation.unit.item_id  # type: ignore[union-attr] # work has a unit
        response, _ = Response.objects.get_or_create(
            item_id=item, text_key=text_key(written.text, dataset.normalisation), defaults={"text": written.text}
        )
        written.source = ResponseSource.objects.create(
            response=response,
            item_id=item,
            kind=SourceKind.HUMAN,
            raw_text="" if response.text == written.text else written.text,
            written_by_id=written.rater_id,
        )
        WrittenText.objects.filter(pk=written.pk).update(source=written.source)
        n += 1
    if n:
        dataset_rehash(dataset)
        audit_record(
            verb="campaign.add_written",
            summary=f"Added {counted(n, 'text')} that raters wrote to “{dataset.name}”.",
            campaign=campaign,
            by=by,
            data={"texts": n, "dataset": dataset.slug},
        )
    return n


@transaction.atomic
def written_rate(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Create a draft campaign that rates what was written here; no rater gets their own text."""
    written_add(campaign=campaign, by=by)
    texts = WrittenText.objects.filter(campaign=campaign, source__isnull=False)
    responses = list(texts.order_by("pk").values_list("source__response", flat=True))
    if not responses:
        raise AnnotationError("No text has been written yet; there is nothing to rate.")
    name = f"Written in {campaign.name}"[:120]
    response_list = response_list_create(
        dataset=campaign.dataset, name=name, responses=responses, origin={"campaign": campaign.name}, by=by
    )
    draft = campaign_start(
        project=campaign.project,
        dataset=campaign.dataset,
        template=TEMPLATE,
        name=reserved_name(campaign.project, "Rating replies"),
        by=by,
    )
    changes = {"target": Target.LISTED, "response_list": response_list, "reference_kinds": ()}
    return campaign_change(campaign=draft, changes=changes, settle=["target", "response_list"], by=by)
