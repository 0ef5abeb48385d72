"""Which views take files, and limits on the size of files."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.base import File
from django.template.defaultfilters import filesizeformat

View = TypeVar("View", bound=Callable[..., Any])


def takes_uploads(view: View) -> View:
    """Mark a view whose form has a file: signed-in users may send bodies larger than a form's.

    It stands directly above the view, so that the permission checks around it copy the mark.
    """
    view.takes_uploads = True  # type: ignore[attr-defined]
    return view


def in_bytes(size: int) -> str:
    return f"{size} bytes"


def upload_limit(
    alternative: str = "", *, max_bytes: int | None = None, write: Callable[[int], str] = filesizeformat
) -> Callable[["File[Any]"], None]:
    """Return a validator of a form's or a serializer's file; its message names another way for larger files."""

    def validate(file: "File[Any]") -> None:
        limit = settings.UPLOAD_MAX_BYTES if max_bytes is None else max_bytes
        if file.size is not None and file.size > limit:
            raise ValidationError(f"Found {write(file.size)}; accepted: at most {write(limit)}{alternative}.")

    return validate
