"""Invitations by link: made and revoked on the page of members, accepted on a page of their own."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.access import get_in_project_or_404
from annotation.core.errors import AnnotationError
from annotation.core.limits import client_address
from annotation.core.problems import listed
from annotation.core.views import MemberRequest, UserRequest, object_view, project_view
from annotation.models import Invitation, Membership, Project, Role
from annotation.projects.forms import InvitationForm
from annotation.projects.roles import rights_of
from annotation.projects.services import invitations as services
from annotation.projects.views.projects import members_page


@never_cache
@require_POST
@project_view(Role.OWNER)
def invitation_create(request: MemberRequest) -> HttpResponse:
    """Make a link and show it this once: it is stored only as a hash."""
    form = InvitationForm(request.POST)
    made = form.submit(services.invitation_create, project=request.project, by=request.user)
    if made is None:
        return members_page(request, invitation_form=form)
    _, token = made
    link = request.build_absolute_uri(reverse("annotation:invitation", args=[token]))
    return members_page(request, new_link=link)


def _invitation_or_404(project: Project, pk: int) -> Invitation:
    return get_in_project_or_404(Invitation.objects.all(), project, pk=pk)


@require_POST
@object_view(_invitation_or_404, Role.OWNER)
def invitation_revoke(request: MemberRequest, invitation: Invitation) -> HttpResponse:
    """End an invitation and say who joined by it: perhaps a moment ago, after the page was shown."""
    try:
        services.invitation_revoke(invitation=invitation, by=request.user)
    except AnnotationError as error:
        messages.error(request, error.message)
    else:
        joined = [use.user.get_username() for use in invitation.uses.select_related("user")]
        people = f" Joined by it before: {listed(joined)}." if joined else ""
        messages.success(request, f"The invitation is revoked: its link no longer works.{people}")
    return redirect("annotation:project-members", request.project.slug)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def invitation(request: UserRequest, token: str) -> HttpResponse:
    """Show an invitation; a POST joins the project."""
    invitation = services.invitation_by_token(token=token, address=client_address(request))
    if invitation is None:
        raise Http404("No such invitation.")
    member = Membership.objects.filter(project=invitation.project, user=request.user).first()
    if request.method == "POST":
        try:
            membership = services.invitation_accept(invitation=invitation, user=request.user)
        except AnnotationError:
            invitation.refresh_from_db()  # closed since it was read: the page says why
        else:
            if member is None:
                messages.success(
                    request, f"Welcome: you are now {membership.get_role_display().lower()} of this project."
                )
            return redirect("annotation:project-detail", invitation.project.slug)
    closed = "" if member else services.why_closed(invitation, request.user)
    context = {"invitation": invitation, "member": member, "closed": closed, "rights": rights_of(invitation.role)}
    return render(request, "annotation/projects/invitation.html", context, status=410 if closed else 200)
