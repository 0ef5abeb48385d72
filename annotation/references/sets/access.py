"""What the pages of reference sets and releases share."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.core.access import get_in_project_or_404
from annotation.models import JobState, Project, ReferenceSet, Release


def release_url(project: Project, release: Release) -> str:
    return reverse("annotation:release-detail", args=[project.slug, release.reference_set.slug, release.number])


def set_or_404(project: Project, slug: str) -> ReferenceSet:
    sets = ReferenceSet.objects.select_related("dataset", "project")
    return get_in_project_or_404(sets, project, slug=slug)


def release_or_404(project: Project, slug: str, number: int) -> Release:
    releases = Release.objects.select_related("reference_set__dataset", "reference_set__project", "requested_by")
    return get_object_or_404(releases, reference_set__project=project, reference_set__slug=slug, number=number)


def file_stem(release: Release) -> str:
    """What names of files begin with: ``set-v2``."""
    return f"{release.reference_set.slug}-v{release.number}"


def finished_release_or_404(project: Project, slug: str, number: int) -> Release:
    release = release_or_404(project, slug, number)
    if release.state != JobState.DONE:
        raise Http404("This release is not finished.")
    return release
