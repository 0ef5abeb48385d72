"""Studies: specified once, computed by a worker, read as a table or whole."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import Strict
from correlations.api.base import NamesField, StudyJobSerializer, StudySpecificationSerializer, StudyViewSet
from correlations.models import Study
from correlations.results.codec import to_json
from correlations.services.studies import study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.stats.units import USUAL
from correlations.tasks import execute
from metrics.scoring.registry import METRICS

METRIC_KEYS = {"name", "parameters"}
METRIC_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "enum": list(METRICS)}, "parameters": {"type": "object"}},
    "required": ["name"],
}
RUN_SCHEMA = {"type": "object", "properties": {"run": {"type": "integer"}}, "required": ["run"]}


@extend_schema_field({"oneOf": [{"type": "string", "enum": list(METRICS)}, METRIC_SCHEMA, RUN_SCHEMA]})
class MetricField(serializers.Field[Any, Any, Any, Any]):
    """A metric's name, or its name with parameters, or the run that holds imported scores."""

    def to_internal_value(self, data: Any) -> Any:
        entry = {"name": data} if isinstance(data, str) else data
        if isinstance(entry, dict) and set(entry) == {"run"}:
            return entry
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not set(entry) <= METRIC_KEYS:
            raise ValidationError(f"Found {data!r}; accepted: a name, or an object with a name and parameters.")
        if not isinstance(entry.get("parameters", {}), dict):
            raise ValidationError(f"Found parameters {entry['parameters']!r}; accepted: an object.")
        return entry

    def to_representation(self, value: Any) -> Any:
        return value


class SpecificationSerializer(StudySpecificationSerializer):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    pairs = serializers.ListField(
        child=NamesField(min_length=2, max_length=2), required=False, help_text="By default all pairs of systems."
    )
    metrics = serializers.ListField(child=MetricField(), required=False, allow_empty=False)
    subsets = NamesField(required=False, allow_empty=False, help_text="References: original, all, w>0, w>=0.6, …")
    sweep_subset = serializers.CharField(required=False)
    order = serializers.IntegerField(required=False, help_text="Longest n-gram, of every metric.")
    tokenize = serializers.CharField(required=False)
    lowercase = serializers.BooleanField(required=False)
    unit_size = serializers.IntegerField(
        required=False, help_text="Items of an observation unit; by default 100, or fewer if the items are few."
    )
    assignments = serializers.IntegerField(required=False, help_text="Random assignments of items to units.")
    orientation = serializers.CharField(required=False, help_text="both, fixed or random.")
    remainder = serializers.CharField(required=False, help_text="keep or drop.")
    sweeps = serializers.BooleanField(required=False)
    compare = serializers.CharField(
        required=False,
        help_text="best: rows with the same references, and the best rows of all metrics; all: every two rows.",
    )
    coefficients = NamesField(
        required=False,
        help_text=f"Of {', '.join(COEFFICIENTS)}; the first leads sweeps and comparisons. Default: {', '.join(USUAL)}.",
    )


class StudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = SpecificationSerializer()


class StudySerializer(StudyJobSerializer):
    specification = SpecificationSerializer(read_only=True)
    score_runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)

    class Meta(StudyJobSerializer.Meta):
        model = Study
        fields = (*StudyJobSerializer.Meta.fields, "score_runs")


class IntervalField(serializers.ListField):
    child = serializers.FloatField()


class CoefficientSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(help_text="Why it is undefined, or empty.")
    paper = IntervalField(
        allow_null=True, required=False, help_text="As the paper's: Fisher's z, 95%, mirrors counted."
    )
    over_items = IntervalField(allow_null=True, required=False, help_text="95%, bootstrap over items.")
    over_items_and_raters = IntervalField(
        allow_null=True, required=False, help_text="Range of 95% of resamples of items and raters."
    )


class StudyRowSerializer(serializers.Serializer[Any]):
    """One metric under one choice of references; the result holds more of it."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own label
    subset = serializers.CharField()
    n_observations = serializers.FloatField()
    items = serializers.IntegerField()
    signature = serializers.CharField()
    run = serializers.IntegerField(help_text="Number of the score run behind it.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add each coefficient under its short name; a row has those that the study computed."""
        entries = COEFFICIENTS.values()
        return super().get_fields() | {
            entry.short: CoefficientSerializer(required=False, help_text=f"{entry.name}.") for entry in entries
        }


@extend_schema_view(
    create=extend_schema(request=StudyRequestSerializer, responses={201: StudySerializer, 200: StudySerializer})
)
class StudiesViewSet(StudyViewSet):
    queryset = Study.objects.all()
    serializer_class = StudySerializer
    request_serializer = StudyRequestSerializer
    lookup_url_kwarg = "study_pk"
    task = execute
    create_study = staticmethod(study_create)
    prefetched = ("campaigns", "score_runs")

    @extend_schema(responses=StudyRowSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def table(self, request: Request, **_: Any) -> ApiResponse:
        """Return a row per metric and choice of references."""
        return ApiResponse(StudyRowSerializer(to_json(self.finished().read_result().rows), many=True).data)
