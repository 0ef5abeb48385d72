"""Projects: the list, a new one, the overview, its members."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import get_in_project_or_404, get_project_or_404
from annotation.errors import AnnotationError
from annotation.exports import table_response
from annotation.forms.projects import MemberForm, ProjectForm, RoleForm
from annotation.models import Membership, Role
from annotation.selectors import projects as selectors
from annotation.services import projects as services


@login_required
@require_GET
def project_list(request: HttpRequest) -> HttpResponse:
    memberships = selectors.memberships_of(request.user)
    if wanted := request.GET.get("format"):
        rows = ((m.project.name, m.project.slug, m.role, m.n_datasets, m.n_campaigns, m.n_raters) for m in memberships)
        columns = ["project", "slug", "role", "datasets", "campaigns", "raters"]
        return table_response(format=wanted, filename="projects", columns=columns, rows=rows)
    return render(request, "annotation/project_list.html", {"memberships": memberships})


@login_required
@require_http_methods(["GET", "POST"])
def project_create(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        project = services.project_create(by=request.user, **form.cleaned_data)
        return redirect("annotation:project-detail", project.slug)
    return render(request, "annotation/project_create.html", {"form": form})


@login_required
@require_GET
def project_detail(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug)
    overview = selectors.project_overview(project)
    return render(request, "annotation/project_detail.html", {"project": project, "overview": overview})


@login_required
@require_http_methods(["GET", "POST"])
def project_edit(request: HttpRequest, project_slug: str) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.OWNER)
    form = ProjectForm(request.POST or None, initial={"name": project.name, "description": project.description})
    if request.method == "POST" and form.is_valid():
        services.project_update(project=project, **form.cleaned_data)
        return redirect("annotation:project-detail", project.slug)
    return render(request, "annotation/project_edit.html", {"project": project, "form": form})


@login_required
@require_http_methods(["GET", "POST"])
def project_members(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Every member may see who belongs; adding one is the owner's."""
    project = get_project_or_404(
        request.user, project_slug, role=Role.OWNER if request.method == "POST" else Role.VIEWER
    )
    memberships = project.memberships.select_related("user").order_by("user__username")
    if wanted := request.GET.get("format"):
        rows = ((m.user.username, m.role, m.created_at) for m in memberships)
        columns = ["member", "role", "since"]
        return table_response(format=wanted, filename=f"{project.slug}-members", columns=columns, rows=rows)
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            role = Role(form.cleaned_data["role"])
            member = services.member_add(project=project, username=form.cleaned_data["username"], role=role)
        except AnnotationError as error:
            form.add_error(None, error.message)
        else:
            messages.success(
                request, f"{member.user} now belongs to this project as {member.get_role_display().lower()}."
            )
            return redirect("annotation:project-members", project.slug)
    context = {"project": project, "memberships": memberships, "form": form, "roles": Role.choices}
    return render(request, "annotation/project_members.html", context)


@login_required
@require_POST
def member_change(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.OWNER)
    membership = get_in_project_or_404(Membership.objects.select_related("user"), project, pk=pk)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            raise AnnotationError("Role: " + " ".join(form.errors["role"]))
        services.member_change(membership=membership, role=Role(form.cleaned_data["role"]))
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{membership.user} is now {membership.get_role_display().lower()}.")
    return redirect("annotation:project-members", project.slug)


@login_required
@require_POST
def member_remove(request: HttpRequest, project_slug: str, pk: int) -> HttpResponse:
    project = get_project_or_404(request.user, project_slug, role=Role.OWNER)
    membership = get_in_project_or_404(Membership.objects.select_related("user"), project, pk=pk)
    try:
        services.member_remove(membership=membership)
    except AnnotationError as error:
        messages.error(request, error.message)
        return redirect("annotation:project-members", project.slug)
    if membership.user_id == request.user.pk:
        messages.success(request, f"You left {project.name}.")
        return redirect("annotation:project-list")
    messages.success(request, f"{membership.user} no longer belongs to this project.")
    return redirect("annotation:project-members", project.slug)
