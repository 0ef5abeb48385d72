"""The texts that raters wrote in a campaign."""

from django.db.models import OuterRef, QuerySet, Subquery

from annotation.hygiene.written import Remark
from annotation.models import Campaign, Participation, PresentationOutcome, WrittenText

IN_WORDS = {
    Remark.COPY: "a copy of the response",
    Remark.COPY_OF_SOURCE: "repeats the conversation",
    Remark.PASTED: "pasted",
    Remark.LANGUAGE: "another language",
}


def stands_out(text: WrittenText) -> str:
    """Return what stands out in a text, in words; empty if nothing does."""
    return ", ".join(IN_WORDS[Remark(remark)] for remark in text.remarks)


def current_texts(campaign: Campaign) -> QuerySet[WrittenText]:
    """Return the latest text of each item that counts, newest first: not late, not by excluded raters."""
    latest = WrittenText.objects.filter(presentation=OuterRef("presentation")).order_by("-revision").values("pk")[:1]
    excluded = Participation.objects.filter(campaign=campaign, excluded_at__isnull=False)
    texts = WrittenText.objects.filter(
        pk=Subquery(latest), campaign=campaign, presentation__outcome=PresentationOutcome.SUBMITTED
    )
    return texts.exclude(rater__in=excluded.values("rater")).order_by("-pk")


def texts_page(campaign: Campaign) -> QuerySet[WrittenText]:
    """Return the texts with what a page shows of them."""
    return current_texts(campaign).select_related("presentation__unit__item", "rater", "given", "source")
