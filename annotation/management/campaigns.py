"""Which campaign a command's arguments name."""

from django.core.management.base import CommandError

from annotation.models import Campaign, Project


def campaign_named(slug: str, name: str) -> Campaign:
    """Return a project's campaign by its name, or else by its id."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"--project: no project has the slug {slug!r}.")
    campaign = project.campaigns.filter(name=name).first()
    if campaign is None and name.isdecimal():
        campaign = project.campaigns.filter(pk=int(name)).first()
    if campaign is None:
        accepted = ", ".join(project.campaigns.values_list("name", flat=True)[:20]) or "none is there yet"
        raise CommandError(f"--campaign: {name!r} found; accepted: {accepted}.")
    return campaign
