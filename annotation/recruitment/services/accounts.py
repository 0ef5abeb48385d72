"""Provider accounts. Their secrets go in, encrypted, and never come out again but to the provider itself."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.models import Project, ProviderAccount, User
from annotation.projects.services.audit import audit_record
from annotation.recruitment.providers import PROVIDERS, Provider, open_provider, recruiting_provider
from annotation.recruitment.providers.base import Account
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.retry import Backoff
from annotation.recruitment.providers.vault import Vault

WEBHOOK_SECRET = "webhook_secret"  # noqa: S105 - the name under which it is kept, not the secret
# A person waits for a page: two tries, and no long pauses.
IMPATIENT = Backoff(attempts=2, first=0.3, longest=1.0, patience=2.0)


def vault() -> Vault:
    return Vault([settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])


def provider_of(key: str) -> Provider:
    """Return the provider without an account: enough to recognise raters and send them back."""
    return open_provider(key, settings=settings.PROVIDER_SETTINGS)


def client_of(account: ProviderAccount, *, patient: bool = True) -> Provider:
    """Return the provider, connected with the account. A worker has patience; a page has not."""
    values = {**account.options, **secrets_of(account)}
    return open_provider(
        account.provider,
        {name: str(value) for name, value in values.items()},
        endpoint=account.endpoint,
        settings=settings.PROVIDER_SETTINGS,
        backoff=None if patient else IMPATIENT,
    )


def secrets_of(account: ProviderAccount) -> dict[str, str]:
    return vault().open(account.secrets) if account.secrets else {}


@transaction.atomic
def account_connect(
    *, project: Project, provider: str, name: str, values: Mapping[str, str], endpoint: str = "", by: User | None = None
) -> ProviderAccount:
    account = ProviderAccount(
        project=project, provider=recruiting_provider(provider).key, name=_checked_name(name), endpoint=endpoint
    )
    _fill(account, values)
    try:
        with transaction.atomic():
            account.save()
    except IntegrityError as error:
        message = f"Found “{account.name}”, which another account of this project has; accepted: a name of its own."
        raise AnnotationError.at("name", message) from error
    audit_record(
        verb="provider.connect",
        summary=f"Connected {account.get_provider_display()}: “{account.name}”.",
        project=project,
        by=by,
        data={"account": account.pk},
    )
    account.refresh_from_db()
    return account


@transaction.atomic
def account_update(
    *, account: ProviderAccount, name: str, values: Mapping[str, str], endpoint: str = "", by: User | None = None
) -> ProviderAccount:
    """A secret that is left empty stays as it is."""
    account = ProviderAccount.objects.select_for_update().get(pk=account.pk)
    account.name, account.endpoint = _checked_name(name), endpoint
    changed = _fill(account, values)
    try:
        with transaction.atomic():
            account.save()
    except IntegrityError as error:
        message = f"Found “{account.name}”, which another account of this project has; accepted: a name of its own."
        raise AnnotationError.at("name", message) from error
    audit_record(
        verb="provider.update",
        summary=f"Changed the account “{account.name}”{': new ' + ' and '.join(changed) if changed else ''}.",
        project=account.project,
        by=by,
        data={"account": account.pk, "secrets_changed": changed},
    )
    return account


@transaction.atomic
def account_remove(*, account: ProviderAccount, by: User | None = None) -> None:
    """Its recruitments keep their submissions, so that an account that was used is not removed."""
    account = ProviderAccount.objects.select_for_update().get(pk=account.pk)
    if n := account.recruitments.count():
        raise AnnotationError(
            f"“{account.name}” has {n} recruitment{'' if n == 1 else 's'}; accepted: an account that has none. "
            "To take its access away, withdraw the token at the provider."
        )
    audit_record(
        verb="provider.remove", summary=f"Removed the account “{account.name}”.", project=account.project, by=by
    )
    account.delete()


def account_check(*, account: ProviderAccount) -> Account:
    """Ask the provider whose account it is."""
    with client_of(account, patient=False) as client:
        found = client.account()
    _remember(
        account,
        {
            "checked_at": timezone.now().isoformat(timespec="seconds"),
            "holder": found.name,
            "currency": found.currency,
            "balance": None if found.balance is None else str(found.balance),
        },
    )
    return found


def account_receive_messages(*, account: ProviderAccount, url: str, by: User | None = None) -> ProviderAccount:
    """Have the provider send its messages to ``url``; doing it again mends what was lost."""
    with client_of(account, patient=False) as client:
        subscriptions = client.webhook_subscribe(url)
        secret = client.webhook_secret()
    with transaction.atomic():
        account = ProviderAccount.objects.select_for_update().get(pk=account.pk)
        account.secrets = vault().seal({**secrets_of(account), WEBHOOK_SECRET: secret})
        account.options = {**account.options, "messages": [one.event for one in subscriptions]}
        account.save(update_fields=["secrets", "options"])
        audit_record(
            verb="provider.messages",
            summary=f"“{account.name}” sends messages: {', '.join(one.event for one in subscriptions)}.",
            project=account.project,
            by=by,
            data={"account": account.pk},
        )
    return account


def _fill(account: ProviderAccount, values: Mapping[str, str]) -> list[str]:
    """What is secret into the vault, the rest into the options; the labels of the secrets that were given."""
    fields = PROVIDERS[account.provider].account_fields
    kept = _kept(account, all_given=all(values.get(one.name, "").strip() for one in fields if one.secret))
    secrets = {name: kept[name] for name in (*(one.name for one in fields), WEBHOOK_SECRET) if name in kept}
    options = dict(account.options)
    given: list[str] = []
    for one in fields:
        value = values.get(one.name, "").strip()
        if one.secret and value:
            secrets[one.name] = value
            given.append(one.label)
        elif not one.secret:
            options[one.name] = value
        if one.required and not value and one.name not in secrets:
            raise AnnotationError.at(one.name, f"Found nothing; accepted: {one.help[:1].lower()}{one.help[1:]}")
    account.secrets, account.options = vault().seal(secrets), options
    client_of(account).close()  # refuses what cannot be a token or an address
    return given


def _kept(account: ProviderAccount, *, all_given: bool) -> dict[str, str]:
    try:
        return secrets_of(account)
    except ProviderError:
        if all_given:  # which is how an account recovers from a changed key
            return {}
        raise


def _checked_name(name: str) -> str:
    found = " ".join(name.split())
    if not 1 <= len(found) <= 80:
        raise AnnotationError.at("name", f"Found {len(found)} characters; accepted: 1 to 80.")
    return found


def _remember(account: ProviderAccount, what: dict[str, Any]) -> None:
    with transaction.atomic():
        fresh = ProviderAccount.objects.select_for_update().get(pk=account.pk)
        fresh.options = {**fresh.options, **what}
        fresh.save(update_fields=["options"])
    account.options = fresh.options
