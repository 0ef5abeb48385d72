"""The registry of providers of raters: one folder and one line each. Plain Python; a notebook can use it."""

from collections.abc import Mapping
from typing import Any

from annotation.recruitment.providers.base import Provider
from annotation.recruitment.providers.direct import Direct
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.mturk import MechanicalTurk
from annotation.recruitment.providers.prolific import Prolific
from annotation.recruitment.providers.retry import Backoff

PROVIDERS: dict[str, type[Provider]] = {
    each.key: each
    for each in (
        Direct,
        Prolific,
        MechanicalTurk,
    )
}


def recruiting_providers() -> list[type[Provider]]:
    """Return the providers that a campaign can recruit through."""
    return [each for each in PROVIDERS.values() if each.sends_raters]


def recruiting_provider(key: str) -> type[Provider]:
    """Return the provider with this key, if a campaign can recruit through it."""
    accepted = {each.key: each for each in recruiting_providers()}
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

    ``settings`` holds values by the names of environment variables; ``endpoint`` is the address of another API, such as
    a sandbox.
    """
    if key not in PROVIDERS:
        raise ProviderError.at("provider", f"Found {key!r}; accepted: {', '.join(PROVIDERS)}.")
    provider = PROVIDERS[key]
    names = {field.name for field in provider.account_fields}
    arguments: dict[str, Any] = {name: value for name, value in (values or {}).items() if name in names}
    for setting in provider.settings:
        arguments[setting.name] = (settings or {}).get(setting.variable, setting.default)
    return provider(**arguments, endpoint=endpoint, backoff=backoff)


__all__ = [
    "PROVIDERS",
    "Direct",
    "MechanicalTurk",
    "Prolific",
    "Provider",
    "open_provider",
    "recruiting_provider",
    "recruiting_providers",
]
