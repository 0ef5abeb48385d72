"""Run a service for a button, and show what happened as a message on the next page."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest

from annotation.core.errors import AnnotationError


def run_and_report(request: HttpRequest, service: Callable[[], object], done: str) -> bool:
    """Call ``service``; show ``done``, or its refusal with the fields that it is about. Return whether it was done."""
    try:
        service()
    except AnnotationError as error:
        fields = "; ".join(f"{name}: {' '.join(problems)}" for name, problems in error.fields.items())
        messages.error(request, error.message if not fields or fields in error.message else f"{error.message} {fields}")
        return False
    messages.success(request, done)
    return True
