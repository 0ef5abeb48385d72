"""The demo's data, imported once per process."""

from typing import Any

from annotation.demo.load import demo_import
from annotation.models import User
from tests.snapshots import recalled_world


def imported_demo() -> dict[str, Any]:
    """Import the demo as a new user and return the report."""
    return recalled_world("demo", lambda: demo_import(by=User.objects.create_user("demo-importer")))
