"""What a member wants to be notified of, the secret of webhooks, and tests."""

import uuid
from collections.abc import Collection

from django.conf import settings
from django.db import transaction

from annotation.core.errors import AnnotationError
from annotation.core.limits import Limit, limit_count
from annotation.models import Channel, Delivery, Membership, Notification, NotificationSettings, Role
from annotation.notifications.kinds import offered_kinds
from annotation.notifications.kinds.trial import TRIAL
from annotation.notifications.public_addresses import AddressRefused, url_check
from annotation.notifications.signing import secret_new

TESTS = Limit("notification-tests", most=10, seconds=3600, uses="tests of your notifications")


def settings_of(membership: Membership, *, site: str = "") -> NotificationSettings:
    """Return the member's settings; not stored, and all off, if nothing was chosen yet."""
    stored = NotificationSettings.objects.filter(membership=membership).first()
    return stored or NotificationSettings(membership=membership, site=site)


@transaction.atomic
def notifications_choose(
    *, membership: Membership, site: str, by_email: Collection[str], by_webhook: Collection[str], webhook_url: str
) -> str:
    """Store what a member chose; return the secret of webhooks if one was made for a first or another address."""
    known = {kind.key for kind in offered_kinds(Role(membership.role))}
    for field, kinds in (("by_email", by_email), ("by_webhook", by_webhook)):
        if unknown := sorted(set(kinds) - known):
            raise AnnotationError.at(field, f"Found {unknown[0]!r}; accepted: {', '.join(sorted(known))}.")
    if by_webhook and not webhook_url:
        raise AnnotationError.at("webhook_url", "Webhooks need an address: fill it in, or choose e-mail.")
    if webhook_url:
        try:
            url_check(webhook_url, private=settings.WEBHOOK_PRIVATE_ADDRESSES)
        except AddressRefused as error:
            raise AnnotationError.at("webhook_url", str(error)) from error
    Membership.objects.select_for_update().get(pk=membership.pk)
    chosen = settings_of(membership)
    secret = ""
    if webhook_url and webhook_url != chosen.webhook_url:
        secret, chosen.secret_seed, chosen.secret_digest = secret_new(settings.SECRET_KEY)
    chosen.by_email, chosen.by_webhook = sorted(by_email), sorted(by_webhook)
    chosen.webhook_url, chosen.site = webhook_url, site
    chosen.save()
    return secret


@transaction.atomic
def webhook_secret_replace(*, membership: Membership) -> str:
    """Make a new secret and return it; what is signed from now on has the new one."""
    chosen = NotificationSettings.objects.select_for_update().filter(membership=membership).first()
    if chosen is None or not chosen.webhook_url:
        raise AnnotationError("There is no address for webhooks yet: save one first.")
    secret, chosen.secret_seed, chosen.secret_digest = secret_new(settings.SECRET_KEY)
    chosen.save(update_fields=["secret_seed", "secret_digest"])
    return secret


def test_send(*, membership: Membership) -> list[str]:
    """Let a worker send a test by each channel that is set up; return their names."""
    chosen = NotificationSettings.objects.filter(membership=membership).first()
    if chosen is None:
        raise AnnotationError("Nothing to test: save your choice first.")
    channels = []
    if settings.EMAIL_HOST and membership.user.email:
        channels.append(Channel.EMAIL)
    if chosen.webhook_url:
        channels.append(Channel.WEBHOOK)
    if not channels:
        raise AnnotationError("Nothing to test: there is neither e-mail nor an address for webhooks.")
    limit_count(limit=TESTS, subject=str(membership.user_id))
    project = membership.project
    with transaction.atomic():
        notification = Notification.objects.create(
            project=project,
            kind=TRIAL.key,
            key=str(uuid.uuid4()),
            facts={"project": project.slug, "name": project.name},
        )
        Delivery.objects.bulk_create(
            Delivery(notification=notification, membership=membership, channel=channel) for channel in channels
        )
    return [str(channel.label) for channel in channels]
