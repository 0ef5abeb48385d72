"""Look up a campaign of a project, or raise 404."""

from annotation.campaigns.selectors import campaigns_of, plain_campaigns
from annotation.core.access import get_in_project_or_404
from annotation.models import Campaign, Project


def campaign_or_404(project: Project, pk: int) -> Campaign:
    return get_in_project_or_404(plain_campaigns(project), project, pk=pk)


def counted_campaign_or_404(project: Project, pk: int) -> Campaign:
    """Return a campaign with the counts of its units, judgements and raters."""
    return get_in_project_or_404(campaigns_of(project), project, pk=pk)


def rated_here_or_404(project: Project, pk: int) -> Campaign:
    """Return a campaign that hands out units here, not an imported one."""
    campaigns = plain_campaigns(project).select_related("project").filter(imported=False)
    return get_in_project_or_404(campaigns, project, pk=pk)
