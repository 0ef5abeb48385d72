"""Send what was written: each delivery by one worker at a time, with growing pauses after failures."""

import json
import smtplib
import time
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models.functions import Now
from django.urls import reverse

from annotation.core.turns import DELIVERIES, turn
from annotation.models import Channel, Delivery, DeliveryState, Role
from annotation.notifications.kinds import KINDS, Kind
from annotation.notifications.public_addresses import AddressRefused, resolved, url_check
from annotation.notifications.signing import HEADER, secret_of, signature

PAUSES = [timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480)]  # before the attempts after the first
TIMEOUT = httpx.Timeout(10.0, connect=5.0)
LONGEST = 15.0  # seconds for an answer as a whole
READ = 2000  # bytes of an answer
SHOWN = 300


class Refused(Exception):
    """Nothing can be sent, now or later; the message says why."""


def deliveries_due() -> list[int]:
    """Return deliveries to send now."""
    due = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=Now())
    return list(due.order_by("due_at").values_list("pk", flat=True)[:100])


def delivery_send(*, delivery_id: int) -> bool:
    """Send a delivery that is due; return False if another worker has it, or it is not due.

    A worker that is killed between sending and writing so lets it be sent again, with the same id.
    """
    with turn(DELIVERIES, delivery_id) as mine:
        rows = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.WAITING, due_at__lte=Now())
        delivery = rows.select_related(
            "notification__project", "membership__user", "membership__notification_settings"
        ).first()
        if not mine or delivery is None:
            return False
        try:
            answer = _send(delivery)
        except (Refused, AddressRefused, httpx.InvalidURL) as error:
            _record(delivery, DeliveryState.FAILED, str(error))
        except (OSError, smtplib.SMTPException, httpx.HTTPError) as error:
            _record_failure(delivery, str(error) or type(error).__name__)
        except Exception as error:
            _record_failure(delivery, f"Unexpected {type(error).__name__}")
            raise
        else:
            _record(delivery, DeliveryState.SENT, answer)
    return True


def _record(delivery: Delivery, state: DeliveryState, answer: str, **fields: Any) -> None:
    written = " ".join("".join(char if char.isprintable() else " " for char in answer).split())[:SHOWN]
    Delivery.objects.filter(pk=delivery.pk).update(
        state=state, attempts=delivery.attempts + 1, answer=written, answered_at=Now(), **fields
    )


def _record_failure(delivery: Delivery, answer: str) -> None:
    if delivery.attempts >= len(PAUSES):
        _record(delivery, DeliveryState.FAILED, answer)
    else:
        _record(delivery, DeliveryState.WAITING, answer, due_at=Now() + PAUSES[delivery.attempts])


def _send(delivery: Delivery) -> str:
    kind = KINDS.get(delivery.notification.kind)
    if kind is None:
        raise Refused("This installation no longer has this kind of notification.")
    _check_wanted(delivery, kind)
    return _send_email(delivery, kind) if delivery.channel == Channel.EMAIL else _send_webhook(delivery, kind)


def _check_wanted(delivery: Delivery, kind: Kind) -> None:
    """Refuse what the member no longer wants, or may no longer see."""
    membership, chosen = delivery.membership, delivery.membership.notification_settings
    if not membership.user.is_active or Role(membership.role).rank < kind.role.rank:
        raise Refused("Not sent: the account or the role has changed since.")
    kinds = chosen.by_email if delivery.channel == Channel.EMAIL else chosen.by_webhook
    if kind.offered and kind.key not in kinds:
        raise Refused("Not sent: it was switched off meanwhile.")


def _link(delivery: Delivery, path: str) -> str:
    return urljoin(delivery.membership.notification_settings.site, path)


def _send_email(delivery: Delivery, kind: Kind) -> str:
    user, facts = delivery.membership.user, delivery.notification.facts
    if not settings.EMAIL_HOST:
        raise Refused("Not sent: this installation has no mail server.")
    if not user.email:
        raise Refused("Not sent: the account has no e-mail address.")
    project = delivery.notification.project
    chosen_at = _link(delivery, reverse("annotation:project-notifications", args=[project.slug]))
    text = (
        f"{kind.text(facts)}\n\n{_link(delivery, kind.link(facts))}\n\n"
        f"You chose to be notified of this in the project {project.name}. Change it at {chosen_at}\n"
    )
    subject = " ".join(f"{project.name}: {kind.title(facts)}".split())
    host = urlsplit(delivery.membership.notification_settings.site).hostname
    EmailMessage(subject, text, to=[user.email], headers={"Message-ID": f"<{delivery.uid}@{host}>"}).send()
    return f"Accepted by the mail server for {user.email}"


def _send_webhook(delivery: Delivery, kind: Kind) -> str:
    chosen, notification = delivery.membership.notification_settings, delivery.notification
    if not chosen.webhook_url:
        raise Refused("Not sent: there is no address for webhooks.")
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    secret = secret_of(chosen.secret_seed, chosen.secret_digest, keys)
    if not secret:
        raise Refused("Not sent: the installation's secret key has changed. Make a new secret for webhooks.")
    body = json.dumps(
        {
            "id": str(delivery.uid),
            "kind": kind.key,
            "project": notification.project.slug,
            "title": kind.title(notification.facts),
            "text": kind.text(notification.facts),
            "url": _link(delivery, kind.link(notification.facts)),
            "facts": notification.facts,
            "created_at": notification.created_at.isoformat(),
        },
        ensure_ascii=False,
    ).encode()
    timestamp = int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Assay",
        HEADER: signature(secret, body, timestamp),
        "Assay-Delivery": str(delivery.uid),
    }
    return _post(chosen.webhook_url, body, headers)


def _post(url: str, body: bytes, headers: dict[str, str]) -> str:
    """Post to the one address that was checked; follow no redirect; read the beginning of the answer."""
    private = settings.WEBHOOK_PRIVATE_ADDRESSES
    url_check(url, private=private)
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80)
    address = resolved(host, port, private=private)
    numeric = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    target = urlunsplit(parts._replace(netloc=numeric, fragment=""))
    ends = time.monotonic() + LONGEST
    with (
        httpx.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client,
        client.stream(
            "POST",
            target,
            content=body,
            headers={**headers, "Host": parts.netloc},
            extensions={"sni_hostname": host},
        ) as response,
    ):
        begun = b""
        for chunk in response.iter_raw():  # each as it arrives: a chunk of a size would wait for that many bytes
            begun += chunk
            if len(begun) >= READ or time.monotonic() > ends:
                break
    answer = f"{response.status_code} {begun[:READ].decode('utf-8', 'replace')}"
    if not response.is_success:
        raise OSError(answer)
    return answer
