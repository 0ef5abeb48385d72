"""Provider accounts. Their secrets are stored encrypted and sent to no one but the provider."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.core.errors import AnnotationError
from annotation.core.races import refused_if_taken
from annotation.models import Project, ProviderAccount, User
from annotation.projects.services.audit import audit_record
from annotation.projects.services.editing import overtaken_check
from annotation.recruitment.providers import PROVIDERS, open_provider, recruiting_provider
from annotation.recruitment.providers.base import Account, Provider
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.retry import Backoff
from annotation.recruitment.providers.vault import Vault
from annotation.recruitment.services.changes import checked_name, locked, options_change

WEBHOOK_SECRET = "webhook_secret"  # noqa: S105 - its name in the vault, not the secret
# While a person waits for a page: two attempts and short pauses.
IMPATIENT = Backoff(attempts=2, first=0.3, longest=1.0, patience=2.0)


def vault() -> Vault:
    return Vault([settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS])


def provider_of(key: str) -> Provider:
    """Return the provider without an account: enough to recognise raters and send them back."""
    return open_provider(key, settings=settings.PROVIDER_SETTINGS)


def client_of(account: ProviderAccount, *, patient: bool = True) -> Provider:
    """Return the provider, connected with the account; ``patient`` workers retry for longer than a page can wait."""
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
    """Store an account, its secrets encrypted."""
    account = ProviderAccount(project=project, provider=recruiting_provider(provider).key)
    _save(account, name, values, endpoint)
    summary = f"Connected {account.get_provider_display()}: “{account.name}”."
    _audit(account, "connect", summary, by, account=account.pk)
    account.refresh_from_db()
    return account


@transaction.atomic
def account_update(
    *,
    account: ProviderAccount,
    name: str,
    values: Mapping[str, str],
    endpoint: str = "",
    seen: str = "",
    by: User | None = None,
) -> ProviderAccount:
    """Change an account; a secret that is left empty stays.

    With ``seen``, the ``version_of`` the settings that the user saw, no change made since is overwritten.
    """
    account = locked(account)
    stored = account_shown(account)
    changed = _save(account, name, values, endpoint)
    new = account_shown(account) if changed else {**account_shown(account), "secrets": stored["secrets"]}
    changes = account.project.audit_entries.filter(verb="provider.update", data__account=account.pk)
    overtaken_check(stored=stored, new=new, seen=seen, changes=changes, by=by)
    summary = f"Changed the account “{account.name}”{': new ' + ' and '.join(changed) if changed else ''}."
    _audit(account, "update", summary, by, account=account.pk, secrets_changed=changed)
    return account


@transaction.atomic
def account_remove(*, account: ProviderAccount, by: User | None = None) -> None:
    """Remove an account that no recruitment uses."""
    account = locked(account)
    if n := account.recruitments.count():
        raise AnnotationError(
            f"“{account.name}” has {n} recruitment{'' if n == 1 else 's'}; accepted: an account without recruitments. "
            "To end its access, withdraw the token at the provider."
        )
    _audit(account, "remove", f"Removed the account “{account.name}”.", by)
    account.delete()


def account_shown(account: ProviderAccount) -> dict[str, Any]:
    """Return what the form of an account shows, and the sealed secrets, which it does not show."""
    fields = PROVIDERS[account.provider].account_fields
    options = {each.name: account.options.get(each.name, "") for each in fields if not each.secret}
    return {**options, "name": account.name, "endpoint": account.endpoint, "secrets": account.secrets.encode()}


def account_check(*, account: ProviderAccount) -> Account:
    """Read the account holder and the balance from the provider."""
    with client_of(account, patient=False) as client:
        holder = client.account()
    account.options = options_change(
        account,
        checked_at=timezone.now().isoformat(timespec="seconds"),
        holder=holder.name,
        currency=holder.currency,
        balance=None if holder.balance is None else str(holder.balance),
    ).options
    return holder


def account_receive_messages(*, account: ProviderAccount, url: str, by: User | None = None) -> ProviderAccount:
    """Have the provider send its messages to ``url``; calling it again renews the subscriptions."""
    with client_of(account, patient=False) as client:
        subscriptions = client.webhook_subscribe(url)
        secret = client.webhook_secret()
    with transaction.atomic():
        events = [subscription.event for subscription in subscriptions]
        account = options_change(account, messages=events)
        account.secrets = vault().seal({**secrets_of(account), WEBHOOK_SECRET: secret})
        account.save(update_fields=["secrets"])
        _audit(account, "messages", f"“{account.name}” sends messages: {', '.join(events)}.", by, account=account.pk)
    return account


def _audit(owner: ProviderAccount, verb: str, summary: str, by: User | None, **data: object) -> None:
    audit_record(verb=f"provider.{verb}", summary=summary, project=owner.project, by=by, data=data)


def _save(account: ProviderAccount, name: str, values: Mapping[str, str], endpoint: str) -> list[str]:
    """Save the account with these values; return the labels of the new secrets."""
    account.name, account.endpoint = checked_name(name, 80), endpoint
    new_secrets = _set_values(account, values)
    message = f"Found “{account.name}”, the name of another account of this project; accepted: a new name."
    with refused_if_taken("provider_account_name_once_per_project", AnnotationError.at("name", message)):
        account.save()
    return new_secrets


def _set_values(account: ProviderAccount, values: Mapping[str, str]) -> list[str]:
    """Set the encrypted secrets and the options; return the labels of the new secrets."""
    fields = PROVIDERS[account.provider].account_fields
    replaces_all = all(values.get(each.name, "").strip() for each in fields if each.secret)
    stored = _stored_secrets(account, replaces_all=replaces_all)
    secrets = {name: stored[name] for name in (*(each.name for each in fields), WEBHOOK_SECRET) if name in stored}
    options = dict(account.options)
    new_secrets: list[str] = []
    for field in fields:
        value = values.get(field.name, "").strip()
        if field.secret and value:
            secrets[field.name] = value
            new_secrets.append(field.label)
        elif not field.secret:
            options[field.name] = value
        if field.required and not value and field.name not in secrets:
            raise AnnotationError.at(field.name, f"Found nothing; accepted: {field.help[:1].lower()}{field.help[1:]}")
    account.secrets, account.options = vault().seal(secrets), options
    client_of(account).close()  # refuses an impossible token or address
    return new_secrets


def _stored_secrets(account: ProviderAccount, *, replaces_all: bool) -> dict[str, str]:
    try:
        return secrets_of(account)
    except ProviderError:
        if replaces_all:  # the installation's key has changed, but the old secrets are not needed
            return {}
        raise
