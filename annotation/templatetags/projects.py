"""The navigation of a project's pages."""

from typing import Any

from django import template
from django.template import Context
from django.urls import reverse

from annotation.models import Campaign, Dataset, Role
from annotation.projects.navigation import SUBJECTS, TASKS
from annotation.projects.roles import roles_sentence
from annotation.removal.services import deletion_of

register = template.Library()
register.simple_tag(roles_sentence)


@register.inclusion_tag("annotation/projects/project_nav.html", takes_context=True)
def project_nav(context: Context) -> dict[str, Any]:
    """Show the tasks that this member may do, and the lists of the current one."""
    match = context["request"].resolver_match
    view_name = match.view_name if match else ""
    project = context["project"]
    rank = Role(project.membership.role).rank
    tasks = []
    for task in TASKS:
        entries = [
            {
                "label": entry.label,
                "url": reverse(entry.url_name, args=[project.slug]),
                "is_current": view_name.startswith(entry.views),
            }
            for entry in task.entries
            if rank >= entry.role.rank
        ]
        is_current = any(entry["is_current"] for entry in entries)
        mark = ("true" if len(entries) > 1 else "page") if is_current else ""  # several: the list below is the page
        tasks.append(
            {"key": task.label.lower(), "label": task.label, "purpose": task.purpose, "entries": entries, "mark": mark}
        )
    return {"tasks": tasks, "current": next((task for task in tasks if task["mark"]), None)}


@register.inclusion_tag("annotation/removal/being_deleted.html")
def being_deleted(row: Dataset | Campaign, project_slug: str) -> dict[str, Any]:
    """Say that a data set or a campaign is being deleted, if it is."""
    deletion = deletion_of(row)
    url = reverse("annotation:deletion-detail", args=[project_slug, deletion.pk]) if deletion else ""
    return {"deletion": deletion, "url": url}


@register.inclusion_tag("components/tabs.html", takes_context=True)
def tabs(context: Context, subject: str, *identity: object) -> dict[str, Any]:
    """Show the pages of one campaign, release or run; ``identity`` is what their addresses have in common."""
    match = context["request"].resolver_match
    view_name = match.view_name if match else ""
    entries = [
        {
            "label": entry.label,
            "url": reverse(entry.url_name, args=identity),
            "is_current": view_name.startswith(entry.views),
        }
        for entry in SUBJECTS[subject]
    ]
    current = next((entry["label"] for entry in entries if entry["is_current"]), "Overview and more")
    return {"subject": subject, "tabs": entries, "current": current}
