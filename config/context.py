"""What every template may say about the product itself."""

from django.conf import settings
from django.http import HttpRequest


def product(request: HttpRequest) -> dict[str, object]:
    return {"assay_version": settings.VERSION, "can_send_mail": bool(settings.EMAIL_HOST)}
