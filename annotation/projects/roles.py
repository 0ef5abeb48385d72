"""The roles of members and what each may do: one registry, from which pages take their sentences."""

from typing import NamedTuple

from annotation.core.prose import enumerated
from annotation.models import Role


class RoleRights(NamedTuple):
    """``may`` names what a role may do beyond the roles below it."""

    role: Role
    may: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Return ``Managers also import data and launch campaigns.``"""
        return f"{self.role.label}s {'also ' if self.role.rank else ''}{enumerated(self.may)}."


ROLES = (
    RoleRights(Role.VIEWER, ("read everything", "download")),
    RoleRights(Role.MANAGER, ("import data", "launch campaigns", "decide about raters", "compute scores and studies")),
    RoleRights(Role.OWNER, ("invite", "change and remove members", "change the project", "erase raters' identities")),
)


def roles_sentence() -> str:
    """Return what all roles may do, the lowest first."""
    return " ".join(rights.sentence for rights in ROLES)


def rights_of(role: str) -> str:
    """Return all that a role may do, in one sentence."""
    may = [part for rights in ROLES if rights.role.rank <= Role(role).rank for part in rights.may]
    return enumerated(may)
