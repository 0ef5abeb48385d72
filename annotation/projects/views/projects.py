"""Projects: the list, a new project, and its members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.core.errors import AnnotationError, Overtaken
from annotation.core.exports import table_response
from annotation.core.views import MemberRequest, UserRequest, project_view
from annotation.models import CampaignState, Membership, Role
from annotation.projects import tasks
from annotation.projects.forms import DeletionForm, InvitationForm, MemberForm, ProjectEditForm, ProjectForm, RoleForm
from annotation.projects.roles import roles_sentence
from annotation.projects.selectors import projects as selectors
from annotation.projects.selectors.deletion import contents_of, deletion_problems
from annotation.projects.selectors.invitations import invitations_of
from annotation.projects.services import projects as services
from annotation.projects.services.deletion import project_deletion_request
from annotation.projects.services.editing import columns_of, version_of
from annotation.projects.services.invitations import why_closed


@login_required
@require_GET
def project_list(request: UserRequest) -> HttpResponseBase:
    memberships: QuerySet[Any] = selectors.memberships_of(request.user)
    if file_format := request.GET.get("format"):
        rows = ((m.project.name, m.project.slug, m.role, m.n_datasets, m.n_campaigns, m.n_raters) for m in memberships)
        columns = ["project", "slug", "role", "datasets", "campaigns", "raters"]
        return table_response(format=file_format, filename="projects", columns=columns, rows=rows)
    context = {"memberships": memberships, "deletions": selectors.deletions_of(request.user)}
    return render(request, "annotation/projects/project_list.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def project_create(request: UserRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        project = services.project_create(by=request.user, **form.cleaned_data)
        return redirect("annotation:project-detail", project.slug)
    return render(request, "annotation/projects/project_create.html", {"form": form})


@require_http_methods(["GET", "POST"])
@project_view(Role.OWNER)
def project_edit(request: MemberRequest) -> HttpResponse:
    project = request.project
    about = columns_of(project, services.DESCRIBED)
    form = ProjectEditForm(request.POST or None, initial=about | {"version": version_of(about)})
    if form.submit(services.project_update, project=project, by=request.user):
        return redirect("annotation:project-detail", project.slug)
    return render(request, "annotation/projects/project_edit.html", {"project": project, "form": form})


@require_http_methods(["GET", "POST"])
@project_view(Role.OWNER)
def project_delete(request: MemberRequest) -> HttpResponse:
    """Show what goes with the project, and delete it if its name is given."""
    project = request.project
    form = DeletionForm(request.POST or None)
    if request_made := form.submit(project_deletion_request, project=project, by=request.user):
        tasks.project_delete.delay_on_commit(request_made.pk)
        messages.success(request, f"“{project.name}” is being deleted. Nobody can open it any more.")
        return redirect("annotation:project-list")
    context = {
        "project": project,
        "form": form,
        "contents": contents_of(project),
        "problems": deletion_problems(project),
        "n_running": project.campaigns.filter(state=CampaignState.RUNNING).count(),
    }
    return render(request, "annotation/projects/project_delete.html", context)


@require_http_methods(["GET", "POST"])
@project_view(Role.VIEWER, post=Role.OWNER)
def project_members(request: MemberRequest) -> HttpResponseBase:
    """List the members; owners can add one."""
    project = request.project
    memberships = project.memberships.select_related("user").order_by("user__username")
    if file_format := request.GET.get("format"):
        rows = ((m.user.username, m.role, m.created_at) for m in memberships)
        columns = ["member", "role", "since"]
        return table_response(format=file_format, filename=f"{project.slug}-members", columns=columns, rows=rows)
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            role = Role(form.cleaned_data["role"])
            username = form.cleaned_data["username"]
            member = services.member_add(project=project, username=username, role=role, by=request.user)
        except AnnotationError as error:
            form.add_refusal(error)
        else:
            messages.success(request, f"{member.user} is now {member.get_role_display().lower()} of this project.")
            return redirect("annotation:project-members", project.slug)
    return members_page(request, form=form)


def members_page(
    request: MemberRequest,
    *,
    form: MemberForm | None = None,
    invitation_form: InvitationForm | None = None,
    new_link: str = "",
) -> HttpResponse:
    """Show the members and, to owners, the invitations; ``new_link`` is shown this once."""
    project = request.project
    memberships = project.memberships.select_related("user").order_by("user__username")
    is_owner = request.membership.role == Role.OWNER
    context = {
        "project": project,
        "members": [
            (member, f"remove-{member.pk}", f"Remove {member.user}?", version_of(columns_of(member, services.CHANGED)))
            for member in memberships
        ],
        "form": form or MemberForm(),
        "roles": Role.choices,
        "roles_sentence": roles_sentence(),
        "invitation_form": invitation_form or InvitationForm(),
        "invitations": [(row, why_closed(row)) for row in invitations_of(project)] if is_owner else [],
        "new_link": new_link,
    }
    return render(request, "annotation/projects/project_members.html", context)


def _membership(request: MemberRequest, pk: int) -> Membership:
    """Return a membership of the project; refuse one that another owner removed after the page was shown."""
    memberships = Membership.objects.select_related("user", "project")
    membership = memberships.filter(project=request.project, pk=pk).first()
    if membership is not None:
        return membership
    if removed := services.removed_meanwhile(request.project, pk, request.user):
        raise Overtaken(removed)
    raise Http404("No such member of this project.")


def _say_refusal(request: MemberRequest, error: AnnotationError) -> HttpResponse:
    texts = [text for texts in error.fields.values() for text in texts]
    messages.error(request, " ".join([error.message, *texts]))
    return redirect("annotation:project-members", request.project.slug)


@require_POST
@project_view(Role.OWNER)
def member_change(request: MemberRequest, pk: int) -> HttpResponse:
    form = RoleForm(request.POST)
    try:
        membership = _membership(request, pk)
        if not form.is_valid():
            raise AnnotationError(" ".join(f"{name}: {text}" for name, texts in form.errors.items() for text in texts))
        changed = services.member_change(membership=membership, by=request.user, **form.arguments())
    except AnnotationError as error:
        return _say_refusal(request, error)
    messages.success(request, f"{changed.user} is now {changed.get_role_display().lower()}.")
    return redirect("annotation:project-members", request.project.slug)


@require_POST
@project_view(Role.OWNER)
def member_remove(request: MemberRequest, pk: int) -> HttpResponse:
    try:
        membership = _membership(request, pk)
        services.member_remove(membership=membership, by=request.user, seen=request.POST.get("version", ""))
    except AnnotationError as error:
        return _say_refusal(request, error)
    if membership.user_id == request.user.pk:
        messages.success(request, f"You left {request.project.name}.")
        return redirect("annotation:project-list")
    messages.success(request, f"{membership.user} is no longer a member of this project.")
    return redirect("annotation:project-members", request.project.slug)
