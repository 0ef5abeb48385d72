"""The registry of providers of raters: each has a folder and a line here."""

from collections.abc import Mapping
from typing import Any

from annotation.recruitment.providers.base import Provider
from annotation.recruitment.providers.direct import Direct
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.mturk.client import MechanicalTurk
from annotation.recruitment.providers.prolific.client import Prolific
from annotation.recruitment.providers.retry import Backoff

KINDS: tuple[type[Provider], ...] = (
    Direct,
    Prolific,
    MechanicalTurk,
)
PROVIDERS = {kind.key: kind for kind in KINDS}


def recruiting_providers() -> list[type[Provider]]:
    """Return the providers that a campaign can recruit through."""
    return [provider for provider in PROVIDERS.values() if provider.sends_raters]


def recruiting_provider(key: str) -> type[Provider]:
    """Return the provider with this key, if a campaign can recruit through it."""
    return _provider(key, {provider.key: provider for provider in recruiting_providers()})


def _provider(key: str, accepted: Mapping[str, type[Provider]]) -> type[Provider]:
    if key not in accepted:
        raise ProviderError.at("provider", f"Found {key!r}; accepted: {', '.join(accepted)}.")
    return accepted[key]


def open_provider(
    key: str,
    values: Mapping[str, str] | None = None,
    *,
    endpoint: str = "",
    settings: Mapping[str, Any] | None = None,
    backoff: Backoff | None = None,
) -> Provider:
    """Return the provider, connected with the ``values`` of its account fields.

    ``settings`` holds values by the names of environment variables; ``endpoint`` is another address of the API, such as
    a sandbox.
    """
    provider = _provider(key, PROVIDERS)
    names = {field.name for field in provider.account_fields}
    arguments: dict[str, Any] = {name: value for name, value in (values or {}).items() if name in names}
    for setting in provider.settings:
        arguments[setting.name] = (settings or {}).get(setting.variable, setting.default)
    return provider(**arguments, endpoint=endpoint, backoff=backoff)
