"""Files into data sets and campaigns: read, checked row by row, stored whole or not at all."""

from annotation.datasets.services.imports import dataset_create, dataset_import_create, dataset_import_execute
from annotation.datasets.services.report import report_rows
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
    "dataset_create",
    "dataset_import_create",
    "dataset_import_execute",
    "rating_import_confirm",
    "rating_import_create",
    "rating_import_discard",
    "rating_import_draft",
    "rating_import_execute",
    "rating_import_read_again",
    "rating_preview",
    "report_rows",
]
