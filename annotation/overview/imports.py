"""Uploaded files on the front page that await confirmation."""

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.timezone import now

from annotation.datasets.services.drafts import LOOK, awaiting
from annotation.judgements.services.preview import PREVIEW
from annotation.models import Project
from annotation.overview.registry import Need, register

MOST = 3  # files of each kind, newest first


def datasets_to_confirm(project: Project) -> Iterator[Need]:
    text = "“{}” is uploaded, but not imported: say what its fields mean."
    return _needs(project, project.dataset_imports.all(), LOOK, text, "annotation:dataset-import-detail")


def ratings_to_confirm(project: Project) -> Iterator[Need]:
    text = "The ratings in “{}” are uploaded, but not imported: check how the file was read."
    return _needs(project, project.rating_imports.all(), PREVIEW, text, "annotation:rating-import-detail")


def _needs(project: Project, jobs: QuerySet[Any], mark: str, text: str, page: str) -> Iterator[Need]:
    waiting = awaiting(jobs, mark).order_by("-pk").values_list("pk", "filename", "finished_at")
    for pk, filename, at in waiting[:MOST]:
        yield Need(at or now(), text.format(filename), "Continue", reverse(page, args=[project.slug, pk]))


register(needs=[datasets_to_confirm, ratings_to_confirm])
