"""The page of the texts that raters wrote: to read them, to add them to the data set, to let others rate them."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.campaigns.lookups import campaign_or_404
from annotation.core.access import may_manage
from annotation.core.errors import AnnotationError
from annotation.core.exports import table_response
from annotation.core.numbers import counted
from annotation.core.views import MemberRequest, object_view
from annotation.models import Campaign, Role
from annotation.rating.selectors.written import stands_out, texts_page
from annotation.rating.services.publishing import written_add, written_rate

PAGE = 50
COLUMNS = ("item", "rater", "text", "given", "remarks", "pasted", "in_dataset", "sent_at")


@require_http_methods(["GET", "POST"])
@object_view(campaign_or_404, Role.VIEWER, post=Role.MANAGER)
def campaign_written(request: MemberRequest, campaign: Campaign) -> HttpResponseBase:
    if request.method == "POST":
        return _act(request, campaign)
    texts = texts_page(campaign)
    if file_format := request.GET.get("format"):
        rows = (
            (
                each.presentation.unit.item.external_id,  # type: ignore[union-attr] # work has a unit
                each.rater.pseudonym,
                each.text,
                each.given.text if each.given else "",
                " ".join(each.remarks),
                each.pasted,
                each.source_id is not None,
                each.sent_at,
            )
            for each in texts.iterator(chunk_size=2000)
        )
        name = f"{request.project.slug}-campaign-{campaign.pk}-written"
        return table_response(format=file_format, filename=name, columns=COLUMNS, rows=rows)
    shown = list(texts[: PAGE + 1])
    context = {
        "project": request.project,
        "campaign": campaign,
        "texts": [(each, stands_out(each)) for each in shown[:PAGE]],
        "more": len(shown) > PAGE,
        "n_texts": texts.count(),
        "n_new": texts.filter(source=None).count(),
        "may_manage": may_manage(request.project),
    }
    return render(request, "annotation/rating/campaign_written.html", context)


def _act(request: MemberRequest, campaign: Campaign) -> HttpResponse:
    try:
        if request.POST.get("then") == "rate":
            draft = written_rate(campaign=campaign, by=request.user)
            messages.success(request, "Drafted a campaign that rates what was written. No rater gets their own text.")
            return redirect("annotation:campaign-step", request.project.slug, draft.pk, "review")
        n = written_add(campaign=campaign, by=request.user)
        messages.success(request, f"Added {counted(n, 'text')} to “{campaign.dataset}” as references.")
    except AnnotationError as error:
        messages.error(request, error.message)
    return redirect("annotation:campaign-written", request.project.slug, campaign.pk)
