"""Where raters come from: one interface, one package or file each. Plain Python; a notebook can use it."""

from collections.abc import Mapping, Sequence

from annotation.recruitment.providers.base import Provider
from annotation.recruitment.providers.direct import Direct
from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.mturk import SUBMIT_ORIGINS, MechanicalTurk
from annotation.recruitment.providers.prolific import Prolific
from annotation.recruitment.providers.retry import Backoff

PROVIDERS: Mapping[str, type[Provider]] = {each.kind: each for each in (Direct, Prolific, MechanicalTurk)}


def provider(
    kind: str,
    values: Mapping[str, str] | None = None,
    *,
    endpoint: str = "",
    app_url: str = "",
    submit_origins: Sequence[str] = (),
    backoff: Backoff | None = None,
) -> Provider:
    """The provider of this kind, connected with what its ``credentials`` ask for.

    ``endpoint``, ``app_url`` (where Prolific's raters are sent back) and ``submit_origins`` (where Mechanical Turk's
    may be) lead elsewhere than to the provider's own addresses: to its sandbox, or to a copy for trying things out.
    """
    if kind not in PROVIDERS:
        raise ProviderError.at("provider", f"Found {kind!r}; accepted: {', '.join(PROVIDERS)}.")
    known = {field.name for field in PROVIDERS[kind].credentials}
    given = {name: value for name, value in (values or {}).items() if name in known}
    if kind == Prolific.kind:
        return Prolific(**given, endpoint=endpoint, app_url=app_url, backoff=backoff)
    if kind == MechanicalTurk.kind:
        return MechanicalTurk(
            **given, endpoint=endpoint, backoff=backoff, submit_origins=tuple(submit_origins) or SUBMIT_ORIGINS
        )
    return Direct()


__all__ = ["PROVIDERS", "Direct", "MechanicalTurk", "Prolific", "Provider", "provider"]
