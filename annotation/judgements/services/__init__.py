"""Import files of ratings as campaigns: read, checked row by row, stored all or nothing."""

from annotation.judgements.services.imports import (
    campaign_import,
    rating_import_create,
    rating_import_draft,
    rating_import_execute,
)
from annotation.judgements.services.preview import (
    rating_import_confirm,
    rating_import_discard,
    rating_import_read_again,
    rating_preview,
)

__all__ = [
    "campaign_import",
    "rating_import_confirm",
    "rating_import_create",
    "rating_import_discard",
    "rating_import_draft",
    "rating_import_execute",
    "rating_import_read_again",
    "rating_preview",
]
