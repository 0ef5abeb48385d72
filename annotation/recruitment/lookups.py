"""Provider accounts and recruitments of a project, or 404."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from annotation.core.access import get_in_project_or_404
from annotation.models import Project, ProviderAccount, Recruitment
from annotation.recruitment.providers import recruiting_providers
from annotation.recruitment.providers.base import Provider
from annotation.recruitment.services.accounts import provider_of


def account_or_404(project: Project, pk: int) -> ProviderAccount:
    return get_in_project_or_404(ProviderAccount.objects.select_related("project"), project, pk=pk)


def recruitment_or_404(project: Project, pk: int, number: int) -> Recruitment:
    """Return a recruitment of the campaign ``pk``; an imported campaign recruits no raters."""
    recruitments = Recruitment.objects.select_related("account", "campaign__project", "campaign__dataset")
    return get_object_or_404(recruitments, campaign__project=project, campaign__imported=False, campaign=pk, pk=number)


def provider_or_404(key: str) -> Provider:
    """Return a provider that a campaign can recruit through, without an account."""
    if key not in {provider.key for provider in recruiting_providers()}:
        raise Http404("No such provider.")
    return provider_of(key)
