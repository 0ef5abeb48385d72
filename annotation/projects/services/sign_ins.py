"""Sessions of an account: noted when they begin, listed for their owner, ended from elsewhere."""

import re
from typing import Any

from django.contrib.auth import user_logged_in
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from annotation.core.limits import client_address
from annotation.models import SignIn, User

# The first that is found names the browser, or the system: others claim to be like the ones below them.
BROWSERS: tuple[tuple[str, str], ...] = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS: tuple[tuple[str, str], ...] = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
LONGEST = 60


def browser_in_words(user_agent: str) -> str:
    """Return browser and system that a user agent names; else the beginning of what it says.

    Examples
    --------
    >>> browser_in_words("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> browser_in_words("curl/8.5.0"), browser_in_words("")
    ('curl/8.5.0', '')
    """
    browser, system = (next((name for mark, name in names if mark in user_agent), "") for names in (BROWSERS, SYSTEMS))
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or re.sub(r"[^ -~]", "", user_agent)[:LONGEST].strip()


def sign_in_note(request: HttpRequest, user: User) -> None:
    """Note where the request's session is used, once."""
    key = request.session.session_key
    if key:
        browser = browser_in_words(request.headers.get("User-Agent", ""))
        SignIn.objects.get_or_create(
            session_key=key, defaults={"user": user, "browser": browser, "address": client_address(request)}
        )


def live_sign_ins(user: User) -> QuerySet[SignIn]:
    """Return the sign-ins whose sessions can be used."""
    session = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=Now())
    return user.sign_ins.filter(Exists(session))


@transaction.atomic
def sign_ins_end(sign_ins: QuerySet[SignIn]) -> int:
    """End the sessions: their next request is asked to sign in. Return how many there were."""
    keys = list(sign_ins.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
    return len(keys)


def sign_ins_sweep() -> None:
    """Delete sessions that have expired, and notes of those that are gone."""
    Session.objects.filter(expire_date__lt=Now()).delete()
    gone = ~Exists(Session.objects.filter(session_key=OuterRef("session_key")))
    SignIn.objects.filter(gone).delete()


def _when_signed_in(sender: type[User], request: HttpRequest, user: User, **_: Any) -> None:
    sign_in_note(request, user)


user_logged_in.connect(_when_signed_in, dispatch_uid="sign-in-note")
