"""Ratings of the demo, kept as if their file had been imported by hand."""

from django.db.models.functions import Now

from annotation.judgements.services.files import read_ratings
from annotation.judgements.services.imports import campaign_import
from annotation.judgements.services.options import RatingOptions
from annotation.models import Dataset, JobState, RatingImport, User


def ratings_import(
    content: bytes, *, dataset: Dataset, name: str, filename: str, options: RatingOptions, by: User
) -> dict[str, int]:
    """Import a table of ratings as a campaign of this name, and return what was counted."""
    file_format = filename.rpartition(".")[2]
    ratings = read_ratings(content, filename=filename, file_format=file_format, options=options)
    campaign, counts = campaign_import(dataset=dataset, name=name, by=by, content=ratings, filename=filename)
    RatingImport.objects.create(
        project=dataset.project,
        dataset=dataset,
        campaign=campaign,
        name=name,
        filename=filename,
        file_format=file_format,
        content=b"",
        options=options.as_json(),
        report={"counts": counts},
        state=JobState.DONE,
        finished_at=Now(),
    )
    return counts
