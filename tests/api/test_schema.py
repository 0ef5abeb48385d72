from io import StringIO

import pytest
import yaml
from django.core.management import call_command

from config.api import router


@pytest.fixture(scope="module")
def schema() -> dict:
    out = StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=out)
    return yaml.safe_load(out.getvalue())


def test_every_operation_of_the_router_is_documented_without_a_warning(schema: dict) -> None:
    documented = sum(len(operations) for operations in schema["paths"].values())
    routed = sum(method != "head" for route in router.urls for method in route.callback.actions)
    assert documented == routed + 2  # the token's own two


def test_every_operation_documents_its_responses(schema: dict) -> None:
    for address, operations in schema["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            assert any(code.startswith("2") for code in responses), (method, address)
            assert ("404" in responses) == ("{project_slug}" in address), (method, address)
            assert "401" in responses or address.endswith("/token/"), (method, address)


def test_every_operation_but_reads_is_described(schema: dict) -> None:
    undescribed = [
        (method, address)
        for address, operations in schema["paths"].items()
        for method, operation in operations.items()
        if method != "get" and not operation.get("description")
    ]
    assert undescribed == []
