"""Studies: specified once, computed by a worker, read as a table or whole."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.api import JOB_FIELDS, Conflict, JobSerializer, JobViewSet, Strict
from annotation.references.releases.selectors.releases import release_name
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

# --- What is asked and shown ------------------------------------------------------------------------------------------


@extend_schema_field({"oneOf": [{"type": "string", "enum": list(METRICS)}, METRIC_SCHEMA, RUN_SCHEMA]})
class MetricField(serializers.Field[Any, Any, Any, Any]):
    """A metric's name, or its name with its own parameters, or the run that holds imported scores."""

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


class NamesField(serializers.ListField):
    child = serializers.CharField()


class SpecificationSerializer(Strict, serializers.Serializer[Any]):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    release = serializers.CharField(help_text="A finished release: `reference-set/v2`, or its newest: `reference-set`.")
    campaigns = NamesField(help_text="Whose ratings of the systems count.")
    systems = NamesField(help_text="The hypotheses.")
    criteria = NamesField(required=False, help_text="By default all that the campaigns share.")
    pairs = serializers.ListField(
        child=NamesField(min_length=2, max_length=2), required=False, help_text="By default all pairs of systems."
    )
    metrics = serializers.ListField(child=MetricField(), required=False, allow_empty=False)
    subsets = NamesField(required=False, allow_empty=False, help_text="References: original, all, w>0, w>=0.6, …")
    sweep_subset = serializers.CharField(required=False)
    order = serializers.IntegerField(required=False, help_text="Longest n-gram, of every metric.")
    tokenize = serializers.CharField(required=False)
    lowercase = serializers.BooleanField(required=False)
    unit_size = serializers.IntegerField(required=False, help_text="Items of an observation unit.")
    assignments = serializers.IntegerField(required=False, help_text="Random assignments of items to units.")
    orientation = serializers.CharField(required=False, help_text="both, fixed or random.")
    remainder = serializers.CharField(required=False, help_text="keep or drop.")
    bootstrap = serializers.IntegerField(required=False, help_text="Replicates of each interval; 0 for none.")
    sweeps = serializers.BooleanField(required=False)
    coefficients = NamesField(
        required=False,
        help_text=f"Of {', '.join(COEFFICIENTS)}; the first leads sweeps and comparisons. Default: {', '.join(USUAL)}.",
    )
    seed = serializers.IntegerField(required=False)
    named = serializers.DictField(
        required=False, help_text="In answers: hashes of what was named. In requests it is ignored."
    )


class StudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = SpecificationSerializer()


class StudySerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(help_text="As `reference-set/v2`.")
    campaigns: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    specification = SpecificationSerializer(read_only=True)
    score_runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)

    class Meta:
        model = Study
        fields = (
            "id",
            *JOB_FIELDS,
            "name",
            "dataset",
            "release",
            "campaigns",
            "specification",
            "signature",
            "score_runs",
        )
        read_only_fields = fields

    def get_release(self, study: Study) -> str:
        return release_name(study.release)


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
        allow_null=True, required=False, help_text="95%, bootstrap over items and raters."
    )


class StudyRowSerializer(serializers.Serializer[Any]):
    """One metric under one choice of references; the result holds more of it."""

    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment] # a field of the answer, not the serializer's own label
    subset = serializers.CharField()
    n_observations = serializers.FloatField()
    items = serializers.IntegerField()
    signature = serializers.CharField()
    run = serializers.IntegerField(help_text="Id of the score run behind it.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add each coefficient under its short name; a row has those that the study computed."""
        named = {
            entry.short: CoefficientSerializer(required=False, help_text=f"{entry.name}.")
            for entry in COEFFICIENTS.values()
        }
        return super().get_fields() | named


# --- Endpoints --------------------------------------------------------------------------------------------------------


class StudiesViewSet(JobViewSet):
    queryset = Study.objects.all()
    serializer_class = StudySerializer
    lookup_field = "pk"
    lookup_url_kwarg = "study_pk"
    lookup_value_converter = "int"
    task = execute

    def get_queryset(self) -> QuerySet[Study]:
        studies = self.project.studies.select_related("dataset", "release__reference_set", "requested_by")
        return studies.prefetch_related("campaigns", "score_runs").defer("result", "release__report")

    @extend_schema(request=StudyRequestSerializer, responses={201: StudySerializer, 200: StudySerializer})
    def create(self, request: Request, **_: Any) -> Response:
        """Create a study (201), or return the existing one with the same specification (200). Poll its ``url``."""
        study, created = study_create(project=self.project, by=self.user, **self.validated(StudyRequestSerializer))
        if not created:
            return self.answer(study)
        self.start(study)
        return self.answer(study, status.HTTP_201_CREATED)

    def _done(self) -> Study:
        study: Study = self.get_object()
        if study.result is None:
            raise Conflict(
                f"The study is {study.get_state_display().lower()}; its result is available when it is done."
            )
        return study

    @extend_schema(responses=StudyRowSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def table(self, request: Request, **_: Any) -> Response:
        """Return a row per metric and choice of references."""
        return Response(StudyRowSerializer(to_json(self._done().read_result().rows), many=True).data)

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def result(self, request: Request, **_: Any) -> Response:
        """Return everything that the report shows: table, pairs, observations, comparisons, sweeps, counts."""
        return Response(self._done().result)
