"""Values that are computed once and kept in the cache."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import cache

Value = TypeVar("Value")
MISSING: Any = object()


def cached(key: str, compute: Callable[[], Value], seconds: int) -> Value:
    """Return the value of a key; compute and store it if it is missing."""
    value: Value = cache.get(key, MISSING)
    if value is MISSING:
        value = compute()
        cache.set(key, value, seconds)
    return value
