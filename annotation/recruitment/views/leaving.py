"""The last page: how the work ended, and the way back to the provider."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET

from annotation.models import Campaign
from annotation.rating.selectors.endings import Stay, stay_of
from annotation.rating.selectors.handout import Waiting, presentation_before
from annotation.rating.views.access import participation_here
from annotation.rating.views.pages import address, page, rater_view
from annotation.recruitment.providers.base import Completion
from annotation.recruitment.services.endings import stay_end


@require_GET
@rater_view
def rater_finish(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    participation = participation_here(request, campaign)
    if participation is None:
        return redirect(address(campaign, "landing"))
    rater = participation.rater
    stay = stay_of(campaign=campaign, participation=participation)
    stopped = "stopped" in request.GET
    waits = stay.waiting == Waiting.PAUSED and not stopped  # a pause ends the work only if the rater stops
    # All ratings are stored by now; the rater's browser reports the end to the provider.
    ended = None if waits else stay_end(campaign=campaign, rater=rater, stay=stay)
    context = {
        "recruited": ended[0].recruitment if ended else None,
        "rater": rater,
        "stay": stay,
        "stopped": stopped,
        "waits": waits,
        "completion": None if waits else ended[1] if ended else completion_of(campaign, stay),
        "before": presentation_before(campaign=campaign, rater=rater, current=None),
    }
    return page(request, campaign, "rater_finish", context)


def completion_of(campaign: Campaign, stay: Stay) -> Completion:
    """Return the campaign's code for a rater from a direct link who has earned it."""
    return Completion(code=campaign.completion_code if stay.entitled else "")
