"""Receive providers' messages; only signed messages are stored."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.models import ProviderAccount
from annotation.recruitment.providers.errors import NotSupported, ProviderError
from annotation.recruitment.services import events
from annotation.recruitment.tasks import provider_event_handle

LARGEST = 64 * 1024


@csrf_exempt
@require_POST
def provider_webhook(request: HttpRequest, account_id: int) -> HttpResponse:
    """Answer 202 once the message is stored, also for a repeated message; a worker then reads the current state."""
    account = get_object_or_404(ProviderAccount, pk=account_id)
    if int(request.headers.get("Content-Length") or 0) > LARGEST:
        return HttpResponse("Too large.", status=413, content_type="text/plain")
    try:
        event, new = events.event_receive(account=account, headers=request.headers, body=request.body)
    except NotSupported:
        return HttpResponse("No such webhook.", status=404, content_type="text/plain")
    except ProviderError as refusal:
        return HttpResponse(refusal.message, status=400, content_type="text/plain; charset=utf-8")
    if new:
        provider_event_handle.delay_on_commit(event.pk)
    return HttpResponse(status=202)
