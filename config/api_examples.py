"""Examples in the API's schema: real requests and what they are answered.

``api_examples.json`` holds them by operation. ``python -m scripts.api_examples`` records it with the world of the
API's tests; ``tests/api/test_examples.py`` sends each request again.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("api_examples.json")
JSON, MULTIPART = "application/json", "multipart/form-data"


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return by operation: ``request``, if it takes a body, ``status``, and ``response``, if it has one."""
    recorded: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return recorded


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the examples to the schema."""
    for operations in result["paths"].values():
        for operation in operations.values():
            example = examples().get(operation["operationId"], {})
            _add(operation.get("requestBody"), example, "request")
            _add(operation["responses"].get(str(example.get("status"))), example, "response")
    return result


def _add(part: dict[str, Any] | None, example: dict[str, Any], name: str) -> None:
    content = (part or {}).get("content", {})
    kind = next((kind for kind in (JSON, MULTIPART) if kind in content), None)
    if name in example and kind:
        content[kind]["example"] = example[name]
