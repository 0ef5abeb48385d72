"""The examples in the API's schema are what the endpoints take and answer."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from config.api_examples import JSON, examples
from scripts.api_examples import exchanges, request_of, shortened
from tests.api.conftest import World

NOTHING_TO_DO = {  # in the world of these tests; the answer is that of the job, or of the campaign's amendments
    "campaigns_amendments_add_items_create",
    *(
        f"{jobs}_retry_create"
        for jobs in (
            "corpora",
            "dataset_imports",
            "mining_runs",
            "parameter_studies",
            "rating_imports",
            "reference_sets_releases",
            "score_runs",
            "studies",
            "verifications",
        )
    ),
}


def operations_of_schema() -> dict[str, dict[str, Any]]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return {operation["operationId"]: operation for path in paths.values() for operation in path.values()}


def test_every_operation_that_takes_json_has_an_example_in_the_schema() -> None:
    without = [
        name
        for name, operation in operations_of_schema().items()
        if JSON in operation.get("requestBody", {}).get("content", {})
        and "example" not in operation["requestBody"]["content"][JSON]
    ]
    assert set(without) <= NOTHING_TO_DO


def test_every_operation_that_answers_in_json_has_an_example_in_the_schema() -> None:
    without = {
        name
        for name, operation in operations_of_schema().items()
        for code, answer in operation["responses"].items()
        if code.startswith("2") and JSON in answer.get("content", {})
    } - {name for name, example in examples().items() if "response" in example}
    assert without == NOTHING_TO_DO


def test_the_endpoints_take_the_examples_and_answer_in_their_shape(world: World) -> None:
    recorded, seen = examples(), set()
    for valid, answer in exchanges(world.names, world.people):
        example = recorded.get(valid.operation, {})
        seen.add(valid.operation)
        if "status" in example:
            assert answer.status_code == example["status"], (valid.operation, answer.content[:300])
        if "request" in example:
            assert shape(shortened(request_of(valid))) == shape(example["request"]), valid.operation
        if "response" in example:
            assert shape(shortened(answer.json())) == shape(example["response"]), valid.operation
    assert set(recorded) <= seen, "an operation was removed: record the examples anew"


def shape(value: Any) -> Any:
    """Return the names in an answer: what does not depend on when and where it was recorded."""
    if isinstance(value, Mapping):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value]
    return None
