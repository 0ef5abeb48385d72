"""Projects and their members."""

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from annotation.core.errors import AnnotationError, Overtaken
from annotation.models import Membership, Project, Role, User
from annotation.projects.services.audit import audit_record, who_made
from annotation.projects.services.editing import columns_of, overtaken_check, row_describe

DESCRIBED = ("name", "description")
CHANGED = ("role",)  # of a member, by owners


@transaction.atomic
def project_create(*, by: User, name: str, description: str = "", is_example: bool = False) -> Project:
    """Create a project owned by ``by``. Its address is its name, with a number if that is taken."""
    base = slugify(name)[:50].strip("-") or "project"
    for number in range(1, 1000):
        slug = base if number == 1 else f"{base}-{number}"
        try:
            with transaction.atomic():
                project = Project.objects.create(name=name, slug=slug, description=description, is_example=is_example)
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


@transaction.atomic
def member_add(*, project: Project, username: str, role: Role, by: User | None = None) -> Membership:
    owner_check(project=project, by=by)
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise AnnotationError.at("username", f"Username: found {username!r}; accepted: a username on this server.")
    membership, created = Membership.objects.get_or_create(project=project, user=user, defaults={"role": role.value})
    if not created:
        role_name = membership.get_role_display().lower()
        raise AnnotationError.at("username", f"{username} is already a member, as {role_name}.")
    _record("add", f"Added {user} as {role.label.lower()}.", membership, by)
    return membership


@transaction.atomic
def member_change(*, membership: Membership, role: Role, by: User | None = None, seen: str = "") -> Membership:
    """Change a role. With ``seen``, the ``version_of`` what the user saw, no change made since is lost."""
    membership = _locked(membership, by)
    _overtaken_check(membership, {"role": role.value}, seen, by)
    if role != Role.OWNER:
        _keep_an_owner(membership)
    if membership.role != role:
        before = Role(membership.role).label.lower()
        membership.role = role.value
        membership.save(update_fields=["role"])
        _record("change", f"Made {membership.user} {role.label.lower()}, before {before}.", membership, by)
    return membership


@transaction.atomic
def member_remove(*, membership: Membership, by: User | None = None, seen: str = "") -> None:
    membership = _locked(membership, by)
    _overtaken_check(membership, {"role": None}, seen, by)
    _keep_an_owner(membership)
    _record("remove", f"Removed {membership.user}, who was {membership.get_role_display().lower()}.", membership, by)
    membership.delete()


def owner_check(*, project: Project, by: User | None) -> None:
    """Lock who is a member until the transaction ends, and refuse a user who was an owner until a moment ago.

    The lock keeps two owners from leaving at once.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if by is not None and not Membership.objects.filter(project=project, user=by, role=Role.OWNER).exists():
        raise Overtaken("You are no longer an owner of this project; nothing was changed.")


def _locked(membership: Membership, by: User | None) -> Membership:
    """Return the membership as it is now; refuse one that was removed meanwhile."""
    owner_check(project=membership.project, by=by)
    fresh = Membership.objects.select_related("user", "project").filter(pk=membership.pk).first()
    if fresh is None:
        raise Overtaken(removed_meanwhile(membership.project, membership.pk, by) or "The member was removed meanwhile.")
    return fresh


def removed_meanwhile(project: Project, membership_pk: int, by: User | None) -> str:
    """Return in words who removed a member of the project; an empty text if there was none."""
    removals = project.audit_entries.filter(verb="member.remove", data__membership=membership_pk)
    entry = removals.select_related("actor").order_by("-pk").first()
    return f"{who_made(entry, by)} removed {entry.data['username']} meanwhile." if entry else ""


def _overtaken_check(membership: Membership, new: dict[str, str | None], seen: str, by: User | None) -> None:
    changes = membership.project.audit_entries.filter(verb__startswith="member.", data__membership=membership.pk)
    overtaken_check(stored=columns_of(membership, CHANGED), new=new, seen=seen, changes=changes, by=by)


def _record(act: str, summary: str, membership: Membership, by: User | None) -> None:
    username = membership.user.get_username()
    data = {"membership": membership.pk, "username": username, "role": str(membership.role)}
    audit_record(verb=f"member.{act}", summary=summary, project=membership.project, by=by, data=data)


def _keep_an_owner(membership: Membership) -> None:
    """Refuse to remove the last owner."""
    others = Membership.objects.filter(project_id=membership.project_id, role=Role.OWNER).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise AnnotationError("A project needs an owner: make another member owner first.")
