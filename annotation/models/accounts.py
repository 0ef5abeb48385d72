"""Who may see what: users, projects, roles."""

from collections.abc import Iterable
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.db.models.functions import Now
from django.utils import timezone


class User(AbstractUser):
    """An account of the product. Raters are not users: see ``Rater``."""

    @transaction.atomic
    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Save the account. A new password, wherever it is set, ends the API tokens, as it ends the sessions."""
        stored = update_fields is None or "password" in update_fields
        # Django forgets the raw password when it only stores the old one under a newer algorithm.
        is_new = getattr(self, "_password", None) is not None or (stored and self._is_unusable_since_now())
        super().save(*args, update_fields=update_fields, **kwargs)
        if stored and is_new:
            self.api_tokens.live().update(revoked_at=Now())

    def _is_unusable_since_now(self) -> bool:
        """Return whether a password is taken away now; accounts of single sign-on never had one."""
        return not self.has_usable_password() and not User.objects.filter(pk=self.pk, password=self.password).exists()

    @property
    def signs_in_with_password(self) -> bool:
        """Return whether a password opens this account: where single sign-on alone is used, an administrator's."""
        return self.has_usable_password() and (settings.PASSWORD_SIGN_IN or self.is_superuser)


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def live(self) -> Self:
        """Return those that a program can use."""
        not_over = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(not_over, revoked_at=None)


class ApiToken(models.Model):
    """What a program shows instead of a password. The token itself is not stored, only its hash."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="Which program or machine uses it.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    ending = models.CharField(max_length=4, editable=False, help_text="The last characters, to recognise it by.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"API token …{self.ending}"


class SignIn(models.Model):
    """A session of an account, and where it was begun, so that its owner can end it from elsewhere."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True, editable=False)
    browser = models.CharField(max_length=60, blank=True, editable=False)
    address = models.CharField(max_length=45, blank=True, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"Sign-in of {self.user_id} at {self.created_at:%Y-%m-%d %H:%M}"


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    MANAGER = "manager", "Manager"
    VIEWER = "viewer", "Viewer"

    @property
    def rank(self) -> int:
        """The position among the roles: a higher one may do more."""
        return list(reversed(Role)).index(self)


# Options of a foreign key to the user who did something: one that keeps the user, and one that survives the user.
KEEPS_USER: dict[str, Any] = {"blank": True, "on_delete": models.PROTECT, "related_name": "+"}
SURVIVES_USER: dict[str, Any] = {"blank": True, "on_delete": models.SET_NULL, "related_name": "+"}


DELETION_ENDED = ("failed", "cancelled")  # states of a deletion that left its project as it was


def not_being_deleted(project: str = "") -> models.Q:
    """Select projects that nobody has begun to delete, or rows whose ``project`` is one.

    A deletion that failed leaves its project as it was.
    """
    path = f"{project}__deletion" if project else "deletion"
    return models.Q(**{path: None}) | models.Q(**{f"{path}__state__in": DELETION_ENDED})


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> Self:
        return self.filter(not_being_deleted(), memberships__user=user)


class Project(models.Model):
    """A workspace. Everything else belongs to one; outsiders cannot see that it exists."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=60, unique=True)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    members = models.ManyToManyField(User, through="Membership", related_name="projects")
    is_sandbox = models.BooleanField(
        default=False, help_text="Holds the throw-away copy of a dry run; has no members and is deleted with it."
    )
    is_example = models.BooleanField(default=False, help_text="Made by one click, to try things out.")

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ("name", "id")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once_per_project"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"
