"""Where a person is signed in, seen and ended by that person."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import SignIn, User
from annotation.projects.services.sign_ins import sign_ins_sweep

PAGE = "/account/sessions/"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1"
DESK = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"

pytestmark = pytest.mark.django_db


def signed_in(user: User, user_agent: str) -> Client:
    user.set_password("correct horse battery")
    user.save()
    client = Client(headers={"User-Agent": user_agent})
    login = reverse("login")
    assert client.post(login, {"username": user.username, "password": "correct horse battery"}).status_code == 302
    return client


def test_a_person_sees_where_the_account_is_signed_in_and_ends_the_rest(
    manager: User, viewer: User, as_user: Callable[[User], Client]
) -> None:
    desk = signed_in(manager, DESK)
    phone = Client(headers={"User-Agent": PHONE})
    phone.post(reverse("login"), {"username": manager.username, "password": "correct horse battery"})
    third = as_user(manager)  # a session that nothing noted when it began
    other = signed_in(viewer, DESK)

    page = desk.get(PAGE)
    assert "no-store" in page["Cache-Control"]
    assert "Edge on Windows" in page.text
    assert "Safari on iPhone" in page.text
    assert "and in 1 other place." in page.text
    assert "127.0.0.1" in page.text
    assert "and in 2 other places." in third.get(PAGE).text

    on_phone = SignIn.objects.get(browser="Safari on iPhone")
    assert "ended already" in other.post(f"{PAGE}{on_phone.pk}/end/", follow=True).text  # another person's
    assert phone.get(PAGE).status_code == 200
    assert "The session is ended." in desk.post(f"{PAGE}{on_phone.pk}/end/", follow=True).text
    assert phone.get(PAGE).status_code == 302
    assert "Ended: 1 session elsewhere." in desk.post(f"{PAGE}end/", follow=True).text
    assert third.get(PAGE).status_code == 302
    assert "You are signed in here alone." in " ".join(desk.get(PAGE).text.split())
    assert other.get(PAGE).status_code == 200


def test_what_has_expired_is_not_listed_and_is_swept(manager: User) -> None:
    desk = signed_in(manager, DESK)
    signed_in(manager, PHONE)
    Session.objects.exclude(session_key=desk.session.session_key).update(expire_date=timezone.now() - timedelta(1))
    desk.force_login(manager)

    assert "Safari on iPhone" not in desk.get(PAGE).text
    assert SignIn.objects.filter(browser="Safari on iPhone").exists()
    sign_ins_sweep()
    assert not SignIn.objects.filter(browser="Safari on iPhone").exists()
    assert not Session.objects.filter(expire_date__lt=timezone.now()).exists()
    assert desk.get(PAGE).status_code == 200
