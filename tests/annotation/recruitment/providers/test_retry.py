"""Pauses: exponential with full jitter (Brooker, AWS Architecture Blog 2015), never shorter than requested."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.recruitment.providers.errors import ProviderError
from annotation.recruitment.providers.retry import Backoff


class Flaky:
    """A call that fails with these errors, one after the other, and then succeeds."""

    def __init__(self, *errors: ProviderError) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def busy(**more: object) -> ProviderError:
    return ProviderError("Busy.", retriable=True, **more)  # type: ignore[arg-type]


def test_a_read_is_retried_after_pauses_that_double(naps: list[float], backoff: Backoff) -> None:
    call = Flaky(busy(), busy(), busy())
    assert backoff.run(call, idempotent=True) == "done"
    assert naps == [0.5, 1.0, 2.0]


def test_pauses_are_at_least_as_long_as_the_provider_requests(naps: list[float], backoff: Backoff) -> None:
    backoff.run(Flaky(busy(retry_after=7.0), busy(retry_after=0.0)), idempotent=True)
    assert naps == [7.0, 1.0]


def test_a_pause_beyond_the_patience_is_an_error_that_names_it(naps: list[float], backoff: Backoff) -> None:
    with pytest.raises(ProviderError) as refusal:
        backoff.run(Flaky(busy(retry_after=600.0)), idempotent=True)
    assert refusal.value.retry_after == 600.0
    assert refusal.value.retriable
    assert naps == []


def test_a_final_refusal_is_not_retried(naps: list[float], backoff: Backoff) -> None:
    call = Flaky(ProviderError("No."))
    with pytest.raises(ProviderError, match="No"):
        backoff.run(call, idempotent=True)
    assert call.calls == 1


def test_a_payment_that_was_sent_is_not_repeated(naps: list[float], backoff: Backoff) -> None:
    call = Flaky(busy(unknown=True))
    with pytest.raises(ProviderError) as refusal:
        backoff.run(call, idempotent=False)
    assert refusal.value.unknown
    assert call.calls == 1


def test_a_payment_that_was_not_sent_is_repeated(naps: list[float], backoff: Backoff) -> None:
    call = Flaky(busy(sent=False))
    assert backoff.run(call, idempotent=False) == "done"
    assert call.calls == 2


def test_it_gives_up_after_its_attempts(naps: list[float], backoff: Backoff) -> None:
    call = Flaky(*(busy() for _ in range(9)))
    with pytest.raises(ProviderError):
        backoff.run(call, idempotent=True)
    assert call.calls == 5


@given(failures=st.integers(0, 12), attempts=st.integers(1, 8), patience=st.floats(0, 30))
def test_the_pauses_never_exceed_its_patience(failures: int, attempts: int, patience: float) -> None:
    naps: list[float] = []
    backoff = Backoff(attempts=attempts, patience=patience, sleep=naps.append, uniform=lambda low, high: high)
    call = Flaky(*(busy() for _ in range(failures)))
    try:
        backoff.run(call, idempotent=True)
    except ProviderError:
        assert call.calls <= attempts
    assert sum(naps) <= patience
    assert len(naps) == call.calls - 1
