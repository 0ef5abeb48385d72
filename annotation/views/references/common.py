"""What the pages of reference sets and releases share."""

from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.access import get_in_project_or_404
from annotation.models import Project, ReferenceSet, Release


def release_url(project: Project, release: Release) -> str:
    return reverse("annotation:release-detail", args=[project.slug, release.reference_set.slug, release.number])


def set_or_404(project: Project, slug: str) -> ReferenceSet:
    sets = ReferenceSet.objects.select_related("dataset", "project")
    return get_in_project_or_404(sets, project, slug=slug)


def release_or_404(project: Project, slug: str, number: int, **lookup: object) -> Release:
    found = Release.objects.select_related("reference_set__dataset", "reference_set__project", "requested_by")
    return get_object_or_404(found, reference_set__project=project, reference_set__slug=slug, number=number, **lookup)
