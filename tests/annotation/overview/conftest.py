"""The data of the API's tests, which have at least one of everything."""

from tests.api.conftest import built_world, world

__all__ = ["built_world", "world"]
