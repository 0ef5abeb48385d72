"""The connection to Amazon, in a module of its own: importing boto3 is the slowest part of starting a web process."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import botocore.session
from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)
from botocore.loaders import Loader, create_loader

from annotation.recruitment.providers.errors import AccessRefused, NotFound, ProviderError
from annotation.recruitment.providers.http import retry_after

T = TypeVar("T")

REGION = "us-east-1"  # Mechanical Turk has no other
NO_ACCESS = {
    "AccessDeniedException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
    "OptInRequired",
}
BUSY = {"Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded", "ServiceFault"}


def connect(*, access_key: str, secret_key: str, endpoint: str) -> Any:
    core = botocore.session.get_session()
    core.register_component("data_loader", _loader())
    session = Session(
        aws_access_key_id=access_key, aws_secret_access_key=secret_key, region_name=REGION, botocore_session=core
    )
    # Backoff retries for all providers, so botocore must not.
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20)
    return session.client("mturk", endpoint_url=endpoint, config=config)


@cache
def _loader() -> Loader:
    """Return the loader of botocore's service descriptions, which caches them."""
    return create_loader()


def translated(call: Callable[[], T]) -> T:
    """Make a call; raise botocore's errors as provider errors."""
    try:
        return call()
    except ClientError as error:
        raise _refusal(error) from error
    except (EndpointConnectionError, ConnectTimeoutError) as error:
        message = "Mechanical Turk could not be reached."
        raise ProviderError(message, answer=str(error), retriable=True, sent=False) from error
    except HTTPClientError as error:
        message = "Mechanical Turk did not answer in time."
        raise ProviderError(message, answer=str(error), retriable=True, unknown=True) from error
    except BotoCoreError as error:
        raise ProviderError(f"The request cannot be made: {error}", answer=str(error), sent=False) from error


def _refusal(error: ClientError) -> ProviderError:
    response: Mapping[str, Any] = error.response
    answer = str(response.get("Error", {}).get("Message") or response.get("Message") or "")
    code = str(response.get("Error", {}).get("Code", ""))
    turk = str(response.get("TurkErrorCode") or "")
    meta = response.get("ResponseMetadata", {})
    status = int(meta.get("HTTPStatusCode", 0)) or None
    is_missing = turk.endswith("DoesNotExist") or "does not exist" in answer
    if turk and turk not in answer:
        answer = f"{answer} ({turk})"
    text = f"Mechanical Turk said: {answer}" if answer else f"Mechanical Turk answered with {code}."
    if code in NO_ACCESS or status in {401, 403}:
        return AccessRefused(
            f"Mechanical Turk does not accept these keys. {answer}".strip(), answer=answer, status=status
        )
    if is_missing:
        return NotFound(text, answer=answer, status=status)
    broken = status is not None and status >= 500
    busy = code in BUSY or status == 429
    return ProviderError(
        text,
        answer=answer,
        status=status,
        retriable=busy or broken,
        retry_after=retry_after(str(meta.get("HTTPHeaders", {}).get("retry-after", ""))),
        unknown=broken,
    )
