"""Values about the product for all templates."""

from django.conf import settings
from django.http import HttpRequest


def product(request: HttpRequest) -> dict[str, object]:
    return {"assay_version": settings.VERSION, "can_send_mail": bool(settings.EMAIL_HOST)}
