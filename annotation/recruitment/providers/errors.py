"""What can go wrong between Assay and a provider, and whether it makes sense to try again."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class ProviderError(AnnotationError):
    """The provider refused, could not be reached, or cannot do what was asked.

    ``said`` is what the provider answered, for the people who run the installation; ``status`` its HTTP status.
    ``retriable``: the same call may succeed later, no sooner than in ``retry_after`` seconds where that is known.
    ``sent`` is False where the request certainly never left. ``unknown`` is True where a write may or may not have been
    carried out: ask the provider before doing it again, or somebody may be paid twice.
    """

    def __init__(
        self,
        message: str,
        *,
        said: str = "",
        status: int | None = None,
        retriable: bool = False,
        retry_after: float | None = None,
        sent: bool = True,
        unknown: bool = False,
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(message, fields=fields)
        self.said = said
        self.status = status
        self.retriable = retriable
        self.retry_after = retry_after
        self.sent = sent
        self.unknown = unknown


class NotSupported(ProviderError):
    """This provider has no such thing; its capabilities say so beforehand."""


class AccessRefused(ProviderError):
    """The provider does not accept the token or keys."""


class NotFound(ProviderError):
    """The provider knows no such study, submission or rater, or shows it to other accounts only."""


class ArrivalRefused(ProviderError):
    """The address that brought a rater here is not one the provider would have sent."""


class WebhookRefused(ProviderError):
    """A message that claims to come from the provider is unsigned, altered, too old or not understood."""
