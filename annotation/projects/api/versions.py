"""The version of a description, which an answer holds and a change can send back."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.api import Strict
from annotation.projects.services.editing import columns_of, version_of


@extend_schema_field(str)
class VersionField(serializers.Field[Any, Any, str, Any]):
    """The version of these columns of a row."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        super().__init__(source="*", read_only=True, help_text=f"Changes with {' and '.join(columns)}.")

    def to_representation(self, row: Any) -> str:
        return version_of(columns_of(row, self.columns))


class EditSerializer(Strict, serializers.ModelSerializer[Any]):
    """A change of some columns."""

    version = serializers.CharField(
        source="seen",
        required=False,
        max_length=1000,
        help_text="The version that you read. If another person changed the same since, the answer is 409.",
    )
