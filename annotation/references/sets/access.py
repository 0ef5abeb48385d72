"""Look-ups, addresses and template contexts that the pages of reference sets and releases share."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from annotation.core.access import get_in_project_or_404, may_manage
from annotation.models import JobState, Project, ReferenceSet, Release


def release_args(project: Project, release: Release) -> list[str | int]:
    """Return the parts of the addresses of a release's pages."""
    return [project.slug, release.reference_set.slug, release.number]


def release_url(project: Project, release: Release) -> str:
    return reverse("annotation:release-detail", args=release_args(project, release))


def set_or_404(project: Project, slug: str) -> ReferenceSet:
    sets = ReferenceSet.objects.select_related("dataset", "project")
    return get_in_project_or_404(sets, project, slug=slug)


def release_or_404(project: Project, slug: str, number: int) -> Release:
    releases = Release.objects.select_related("reference_set__dataset", "reference_set__project", "requested_by")
    return get_object_or_404(releases, reference_set__project=project, reference_set__slug=slug, number=number)


def finished_release_or_404(project: Project, slug: str, number: int) -> Release:
    release = release_or_404(project, slug, number)
    if release.state != JobState.DONE:
        raise Http404("This release is not finished.")
    return release


def release_context(project: Project, release: Release) -> dict[str, Any]:
    """Return what every page of a release needs in its template."""
    return {
        "project": project,
        "release": release,
        "reference_set": release.reference_set,
        "may_manage": may_manage(project),
    }


def file_stem(release: Release) -> str:
    """Return the beginning of names of files: ``set-v2``."""
    return f"{release.reference_set.slug}-v{release.number}"


def project_stem(project: Project, release: Release) -> str:
    """Return the beginning of names of tables: ``project-set-v2``."""
    return f"{project.slug}-{file_stem(release)}"
