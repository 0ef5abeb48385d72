"""Parameter studies: specified once, computed by a worker, read as tables or whole."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.api import JOB_FIELDS, Conflict, JobSerializer, JobViewSet, Strict
from annotation.references.releases.selectors.releases import release_name
from correlations.api.studies import METRIC_SCHEMA, MetricField, NamesField
from correlations.models import ParameterStudy
from correlations.services.parameter_studies import parameter_study_create
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.tasks import execute_parameter_study
from metrics.scoring.registry import METRICS


@extend_schema_field({"oneOf": [{"type": "string", "enum": list(METRICS)}, METRIC_SCHEMA]})
class ComputedMetricField(MetricField):
    """A metric's name, or its name with its own parameters."""


@extend_schema_field({"type": "array", "items": {"oneOf": [{"type": t} for t in ("number", "string", "boolean")]}})
class ValuesField(serializers.ListField):
    """Numbers, words, or yes and no."""


class SweepSerializer(Strict, serializers.Serializer[Any]):
    parameter = serializers.CharField(help_text="Its name, or its key in signatures.")
    values = ValuesField(required=False, help_text="By default the usual ones, as far as trained models go.")


class ParameterSpecificationSerializer(Strict, serializers.Serializer[Any]):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    release = serializers.CharField(help_text="A finished release: `reference-set/v2`, or its newest: `reference-set`.")
    campaigns = NamesField(help_text="Whose ratings of the systems count.")
    systems = NamesField(help_text="Three or more.")
    metric = ComputedMetricField(help_text="With the values in use.")
    criteria = NamesField(required=False, help_text="By default all that the campaigns share.")
    subset = serializers.CharField(required=False, help_text="References: all, original, w>0, …")
    sweeps = SweepSerializer(many=True, required=False, help_text="By default all numbers that the metric takes.")
    coefficient = serializers.CharField(
        required=False, help_text=f"Whose highest value is the best: {', '.join(COEFFICIENTS)}."
    )
    choose_on = serializers.CharField(required=False, allow_blank=True, help_text="Split to choose the best value on.")
    judge_on = serializers.CharField(required=False, allow_blank=True, help_text="Split to judge it on.")
    bootstrap = serializers.IntegerField(required=False, help_text="Replicates of each interval; 0 for none.")
    halves = serializers.IntegerField(required=False, help_text="Random halves that choose and judge; 0 for none.")
    seed = serializers.IntegerField(required=False)
    named = serializers.DictField(
        required=False, help_text="In answers: hashes of what was named. In requests it is ignored."
    )


class ParameterStudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = ParameterSpecificationSerializer()


class ParameterStudySerializer(JobSerializer):
    dataset: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(help_text="As `reference-set/v2`.")
    campaigns: Any = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    specification = ParameterSpecificationSerializer(read_only=True)

    class Meta:
        model = ParameterStudy
        fields = ("id", *JOB_FIELDS, "name", "dataset", "release", "campaigns", "specification", "signature")
        read_only_fields = fields

    def get_release(self, study: ParameterStudy) -> str:
        return release_name(study.release)


class ParameterStudiesViewSet(JobViewSet):
    queryset = ParameterStudy.objects.all()
    serializer_class = ParameterStudySerializer
    lookup_field = "pk"
    lookup_url_kwarg = "parameter_study_pk"
    lookup_value_converter = "int"
    task = execute_parameter_study

    def get_queryset(self) -> QuerySet[ParameterStudy]:
        studies = self.project.parameter_studies.select_related("dataset", "release__reference_set", "requested_by")
        return studies.prefetch_related("campaigns").defer("result", "release__report")

    @extend_schema(
        request=ParameterStudyRequestSerializer,
        responses={201: ParameterStudySerializer, 200: ParameterStudySerializer},
    )
    def create(self, request: Request, **_: Any) -> Response:
        """Create a study (201), or return the existing one with the same specification (200). Poll its ``url``."""
        asked = self.validated(ParameterStudyRequestSerializer)
        study, created = parameter_study_create(project=self.project, by=self.user, **asked)
        if not created:
            return self.answer(study)
        self.start(study)
        return self.answer(study, status.HTTP_201_CREATED)

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def result(self, request: Request, **_: Any) -> Response:
        """Return all that the report shows: curves with intervals, results without each system, held-out choices."""
        study = self.get_object()
        if study.result is None:
            raise Conflict(
                f"The study is {study.get_state_display().lower()}; its result is available when it is done."
            )
        return Response(study.result)
