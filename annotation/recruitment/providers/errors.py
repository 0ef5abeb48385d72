"""Errors between Assay and a provider, and whether it makes sense to try again."""

from collections.abc import Mapping, Sequence

from annotation.core.errors import AnnotationError


class ProviderError(AnnotationError):
    """The provider refused, could not be reached, or cannot do what was requested.

    ``answer`` is the provider's text, for the people who run the installation; ``status`` its HTTP status.
    ``retriable``: the same call may succeed later, after ``retry_after`` seconds if that is known.
    ``sent`` is False if the request certainly never left. ``unknown`` is True if a write may or may not have been
    carried out: check at the provider before repeating it, or a rater may be paid twice.
    """

    def __init__(
        self,
        message: str,
        *,
        answer: str = "",
        status: int | None = None,
        retriable: bool = False,
        retry_after: float | None = None,
        sent: bool = True,
        unknown: bool = False,
        fields: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__(message, fields=fields)
        self.answer = answer
        self.status = status
        self.retriable = retriable
        self.retry_after = retry_after
        self.sent = sent
        self.unknown = unknown


class NotSupported(ProviderError):
    """This provider lacks the function; its ``capabilities`` tell beforehand."""


class AccessRefused(ProviderError):
    """The provider does not accept the token or keys."""


class NotFound(ProviderError):
    """The provider knows no such study, submission or rater, or hides it from this account."""


class ArrivalRefused(ProviderError):
    """The address by which a rater came cannot be from the provider."""


class WebhookRefused(ProviderError):
    """A message from the provider is unsigned, altered, too old or not understood."""
