"""Projects and their members."""

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from annotation.core.errors import AnnotationError
from annotation.models import Membership, Project, Role, User
from annotation.projects.services.editing import row_describe

DESCRIBED = ("name", "description")


@transaction.atomic
def project_create(*, by: User, name: str, description: str = "") -> Project:
    """Create a project owned by ``by``. Its address is its name, with a number if that is taken."""
    base = slugify(name)[:50].strip("-") or "project"
    for number in range(1, 1000):
        slug = base if number == 1 else f"{base}-{number}"
        try:
            with transaction.atomic():
                project = Project.objects.create(name=name, slug=slug, description=description)
        except IntegrityError:
            continue
        Membership.objects.create(project=project, user=by, role=Role.OWNER)
        return project
    raise AnnotationError.at("name", f"Name: there are too many projects named {name!r}; choose another name.")


def project_update(*, project: Project, by: User | None = None, seen: str = "", **described: str) -> Project:
    """Change columns of ``DESCRIBED``, and no other; the address stays.

    With ``seen``, the ``version_of`` the description that the user saw, no change made since is overwritten.
    """
    return row_describe(
        row=project, project=project, noun="project", columns=DESCRIBED, described=described, seen=seen, by=by
    )


def member_add(*, project: Project, username: str, role: Role) -> Membership:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise AnnotationError.at("username", f"Username: found {username!r}; accepted: a username on this server.")
    membership, created = Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
    if not created:
        role_name = membership.get_role_display().lower()
        raise AnnotationError.at("username", f"{username} is already a member, as {role_name}.")
    return membership


@transaction.atomic
def member_change(*, membership: Membership, role: Role) -> Membership:
    membership = _locked(membership)
    if role != Role.OWNER:
        _keep_an_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    return membership


@transaction.atomic
def member_remove(*, membership: Membership) -> None:
    membership = _locked(membership)
    _keep_an_owner(membership)
    membership.delete()


def _locked(membership: Membership) -> Membership:
    """Return the membership as it is now. The lock on the project keeps two owners from leaving at once."""
    Project.objects.select_for_update(no_key=True).get(pk=membership.project_id)
    return Membership.objects.select_related("user").get(pk=membership.pk)


def _keep_an_owner(membership: Membership) -> None:
    """Refuse to remove the last owner."""
    others = Membership.objects.filter(project_id=membership.project_id, role=Role.OWNER).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise AnnotationError("A project needs an owner: make another member owner first.")
