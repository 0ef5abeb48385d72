"""Store the texts that raters write, and say what stands out in them."""

from django.utils.translation import gettext

from annotation import models
from annotation.campaigns.design.writing import NOTE, REFUSE, Writing
from annotation.core.errors import AnnotationError
from annotation.hygiene.written import Remark, remarks_on
from annotation.rating.services.answers import Written

FIELD = "written"
LONGEST = 20_000  # characters that are looked at
WARNED = "written-sure"  # the field of the warning that the rater confirms


def remarks_of(presentation: models.Presentation, written: Written) -> list[Remark]:
    """Return what stands out in a text for the item of a presentation."""
    writing = Writing.lenient(presentation.campaign.writing)
    given = _given(presentation, writing)
    item = models.Item.objects.get(units=presentation.unit_id)
    return remarks_on(
        written.text[:LONGEST],
        least=writing.least,
        most=writing.most,
        language=writing.language,
        given=given.text if given else "",
        sources=[*item.context, item.message],
        pasted=written.pasted,
    )


def text_check(presentation: models.Presentation, written: Written) -> list[Remark]:
    """Return what is noted of a text. Raise ``AnnotationError`` in the rater's language if it is refused or warned of.

    A warning is under the field ``written-sure``: sent again with it, the text is accepted.
    """
    writing = Writing.lenient(presentation.campaign.writing)
    if "\x00" in written.text:
        raise AnnotationError.at(FIELD, gettext("Please write a text."))
    remarks = remarks_of(presentation, written)
    refused = [message_of(remark, writing) for remark in remarks if writing.policy(remark) == REFUSE]
    if refused:
        raise AnnotationError.at(FIELD, " ".join(refused))
    warned = [message_of(remark, writing) for remark in remarks if writing.policy(remark) != NOTE]
    if warned and not written.sure:
        raise AnnotationError.at(WARNED, " ".join(warned))
    return remarks


def message_of(remark: Remark, writing: Writing) -> str:
    """Return what the rater reads about a text."""
    match remark:
        case Remark.SHORT:
            return gettext("Please write more: the least number of characters is %(n)s.") % {"n": writing.least}
        case Remark.LONG:
            return gettext("Please shorten it: the limit in characters is %(n)s.") % {"n": writing.most}
        case Remark.COPY:
            return gettext("This is almost the text that you were shown.")
        case Remark.COPY_OF_SOURCE:
            return gettext("This almost repeats the conversation.")
        case Remark.PASTED:
            return gettext("Much of this was pasted. Please write in your own words.")
        case Remark.LANGUAGE:
            return gettext("This does not look like the language of the texts.")


def _given(presentation: models.Presentation, writing: Writing) -> models.Response | None:
    """Return the response that is corrected; None where a reference is written."""
    return None if writing.hides_text else models.Response.objects.get(unit_responses__unit=presentation.unit_id)


def text_store(presentation: models.Presentation, written: Written, remarks: list[Remark]) -> int:
    """Append the text if it differs from the current one; return the number of new rows."""
    last = models.WrittenText.objects.filter(presentation=presentation).order_by("-revision").first()
    text = written.text.strip()
    if last is not None and last.text == text:
        return 0
    writing = Writing.lenient(presentation.campaign.writing)
    models.WrittenText.objects.create(
        campaign_id=presentation.campaign_id,
        presentation=presentation,
        rater_id=presentation.rater_id,
        given=_given(presentation, writing),
        text=text,
        revision=last.revision + 1 if last else 0,
        pasted=min(written.pasted, 2**31 - 1),
        remarks=[remark.value for remark in remarks],
    )
    return 1
