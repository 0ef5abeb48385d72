"""Single sign-on: which provider the settings name, and which account a person of that provider signs in to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from annotation.accounts.openid import OpenIdError, Provider, is_safe_address
from annotation.core.errors import AnnotationError
from annotation.models import Identity, User

NEW_ACCOUNTS = ("none", "invited", "all")
NEEDED = ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET")
OPTIONS = ("OIDC_EMAIL_DOMAINS", "OIDC_GROUPS", "OIDC_EMAILS_ARE_VERIFIED")  # without a provider they do nothing
LONGEST_SUBJECT = 255  # OpenID Connect Core 1.0, section 2
TRIES = 3  # of two first sign-ins at the same time, one is repeated

log = structlog.get_logger("assay.accounts")


# --- Settings ---------------------------------------------------------------------------------------------------------


def setting_problems() -> list[str]:
    """Return what is half set, or cannot be; single sign-on is then off."""
    problems = []
    missing = [name for name in NEEDED if not getattr(settings, name)]
    is_meant = len(missing) < len(NEEDED) or any(getattr(settings, name) for name in OPTIONS)
    if is_meant and missing:
        problems.append(
            f"Single sign-on is off: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set."
        )
    if settings.OIDC_ISSUER and not is_safe_address(settings.OIDC_ISSUER):
        problems.append(f"OIDC_ISSUER: found {settings.OIDC_ISSUER!r}; accepted: an address that begins with https://.")
    if settings.OIDC_NEW_ACCOUNTS not in NEW_ACCOUNTS:
        problems.append(
            f"OIDC_NEW_ACCOUNTS: found {settings.OIDC_NEW_ACCOUNTS!r}; accepted: {', '.join(NEW_ACCOUNTS)}."
        )
    if "openid" not in settings.OIDC_SCOPES:
        problems.append("OIDC_SCOPES: found no “openid”; accepted: a list with it.")
    if not settings.PASSWORD_SIGN_IN and (problems or not is_meant):
        problems.append("PASSWORD_SIGN_IN is off without single sign-on: superusers alone can sign in.")
    return problems


def provider() -> Provider | None:
    """Return the provider of the settings; None without one, or if they are half set."""
    if not settings.OIDC_ISSUER or setting_problems():
        return None
    return Provider(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)


# --- Who it is --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    """Whom a provider names. ``email`` is empty unless the provider says that it is verified."""

    issuer: str
    subject: str
    email: str = ""
    groups: tuple[str, ...] = ()
    name: str = ""
    first_name: str = ""
    last_name: str = ""


def needed_claims() -> list[str]:
    verified = [] if settings.OIDC_EMAILS_ARE_VERIFIED else ["email_verified"]
    return ["email", *verified, *(["groups"] if settings.OIDC_GROUPS else [])]


def person_of(claims: Mapping[str, Any]) -> Person:
    """Return the person whom checked claims describe."""
    subject, groups = claims["sub"], claims.get("groups")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise OpenIdError("The provider gives the person no name of its own (sub).")
    verified = claims.get("email_verified", settings.OIDC_EMAILS_ARE_VERIFIED)
    email = _text(claims, "email", 254) if verified in (True, "true") else ""
    return Person(
        issuer=str(claims["iss"]),
        subject=subject,
        email=email if email.count("@") == 1 else "",
        groups=tuple(each for each in groups if isinstance(each, str)) if isinstance(groups, list) else (),
        name=_text(claims, "preferred_username", 150) or _text(claims, "email", 150),
        first_name=_text(claims, "given_name", 150),
        last_name=_text(claims, "family_name", 150),
    )


def _text(claims: Mapping[str, Any], name: str, longest: int) -> str:
    value = claims.get(name)
    return value.replace("\0", "").strip()[:longest] if isinstance(value, str) else ""


# --- Which account ----------------------------------------------------------------------------------------------------


def single_sign_on_user(*, person: Person, invited: bool) -> User:
    """Return the account of a person: the one linked, else the one with the verified address, else a new one.

    ``invited`` says whether the person has opened an invitation that can be used.
    """
    _admitted_check(person)
    for tries_left in reversed(range(TRIES)):
        try:
            with transaction.atomic():
                return _active(_linked(person) or _linked_by_email(person) or _new(person, invited=invited))
        except IntegrityError:  # the same person, or another with the same name, came at the same time
            if not tries_left:
                raise
    raise AssertionError("a loop of tries returns or raises")


@transaction.atomic
def identity_link(*, user: User, person: Person) -> Identity:
    """Link the person to the account that is signed in."""
    _admitted_check(person)
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # a second request waits
    stored = Identity.objects.filter(issuer=person.issuer, subject=person.subject).first()
    if stored is not None and stored.user_id != user.pk:
        raise AnnotationError(f"This person of {settings.OIDC_NAME} is linked to another account here.")
    if stored is None:
        if user.identities.filter(issuer=person.issuer).exists():
            raise AnnotationError(
                f"Your account is linked to another person of {settings.OIDC_NAME}. End that link first."
            )
        stored = _link(user, person, how="signed in")
    return stored


@transaction.atomic
def identity_unlink(*, user: User) -> bool:
    """End the link of an account that can sign in without it. Return whether there was one."""
    if not user.signs_in_with_password:
        raise AnnotationError("Without the link you could not sign in: your account has no password here.")
    removed, _ = user.identities.filter(issuer=settings.OIDC_ISSUER).delete()
    if removed:
        log.info("single sign-on unlinked", account=user.get_username())
    return bool(removed)


def identity_of(user: User) -> Identity | None:
    return user.identities.filter(issuer=settings.OIDC_ISSUER).first()


def _admitted_check(person: Person) -> None:
    """Refuse people of no domain or group that the settings name, at each sign-in: who has left stays out."""
    domains = {each.casefold().lstrip("@") for each in settings.OIDC_EMAIL_DOMAINS}
    if domains and not person.email:
        raise AnnotationError(f"{settings.OIDC_NAME} does not say that your e-mail address is verified.")
    if domains and person.email.rpartition("@")[2].casefold() not in domains:
        raise AnnotationError("Your e-mail address is of no domain that is accepted here.")
    if settings.OIDC_GROUPS and not set(person.groups) & set(settings.OIDC_GROUPS):
        raise AnnotationError("You are in no group that is accepted here.")


def _active(user: User) -> User:
    if not user.is_active:
        raise AnnotationError("This account is switched off. An administrator can switch it on.")
    return user


def _linked(person: Person) -> User | None:
    linked = Identity.objects.filter(issuer=person.issuer, subject=person.subject)
    identity = linked.select_related("user").first()
    if identity is None:
        return None
    linked.update(last_used_at=Now())
    return identity.user


def _linked_by_email(person: Person) -> User | None:
    """Link the person to the account with the same verified address, if it is one that may be given away so."""
    # PostgreSQL takes some letters of other alphabets for Latin ones that differ in case.
    if not person.email.isascii() or not person.email:
        return None
    accounts = [user for user in User.objects.filter(email__iexact=person.email) if user.email.isascii()]
    if not accounts:
        return None
    if len(accounts) > 1:
        raise AnnotationError(
            f"Several accounts here have the address {person.email}. An administrator can change that."
        )
    [user] = accounts
    if user.is_staff or user.is_superuser:
        raise AnnotationError(
            "The account of an administrator is linked only by its owner: sign in with the password, then open Sign-in."
        )
    if user.identities.filter(issuer=person.issuer).exists():
        raise AnnotationError(
            "The account with your e-mail address is linked to another person. An administrator can end that link."
        )
    _link(user, person, how="verified e-mail address")
    return user


def _new(person: Person, *, invited: bool) -> User:
    allowed = settings.OIDC_NEW_ACCOUNTS == "all" or (settings.OIDC_NEW_ACCOUNTS == "invited" and invited)
    if not person.email:
        raise AnnotationError(
            f"{settings.OIDC_NAME} does not say that your e-mail address is verified. If you have an account here, "
            "sign in with its password and link it under Sign-in."
        )
    if not allowed:
        way = " Open the link of an invitation, or ask" if settings.OIDC_NEW_ACCOUNTS == "invited" else " Ask"
        raise AnnotationError(f"No account here has the address {person.email}.{way} an administrator for an account.")
    user = User.objects.create_user(
        _free_name(person), person.email, first_name=person.first_name, last_name=person.last_name
    )
    _link(user, person, how="new account")
    return user


def _free_name(person: Person) -> str:
    """Return a username that no account has: two people with one name are two accounts."""
    wanted = User.normalize_username(re.sub(r"[^\w.+-]", "", person.name.partition("@")[0])[:100]) or "user"
    taken = {
        name.casefold() for name in User.objects.filter(username__istartswith=wanted).values_list("username", flat=True)
    }
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name.casefold() not in taken)


def _link(user: User, person: Person, *, how: str) -> Identity:
    identity = Identity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    log.info("single sign-on linked", account=user.get_username(), how=how)
    return identity
