"""Names of campaigns that no other campaign of the project has."""

from annotation.models import Campaign, Project

SUFFIX = " (copy)"


def free_name(project: Project, name: str) -> str:
    """Return the name, with a number if another campaign of the project has it."""
    taken = set(Campaign.objects.filter(project=project, name__startswith=name[:100]).values_list("name", flat=True))
    if name not in taken:
        return name
    number, base = 2, name.removesuffix(SUFFIX)
    while (numbered := f"{base[: 112 - len(str(number))]} ({number})") in taken:
        number += 1
    return numbered


def reserved_name(project: Project, name: str) -> str:
    """Within a transaction: return ``free_name``; other requests for one wait until it is stored."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    return free_name(project, name)
