"""Parameter studies: specified once, computed by a worker, read whole."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers

from annotation.core.api import Strict
from correlations.api.base import (
    NamesField,
    ReportFiles,
    StudyJobSerializer,
    StudySpecificationSerializer,
    StudyViewSet,
)
from correlations.api.studies import MetricField
from correlations.models import ParameterStudy
from correlations.services.parameter_studies import parameter_study_create
from correlations.services.reports import parameter_report_file
from correlations.specification_schema import metric_schemas
from correlations.stats.coefficients.registry import COEFFICIENTS
from correlations.tasks import execute_parameter_study


@extend_schema_field({"oneOf": metric_schemas(pools=True)[:2]})
class ComputedMetricField(MetricField):
    """A metric's name, or its name with parameters."""


@extend_schema_field({"type": "array", "items": {"oneOf": [{"type": t} for t in ("number", "string", "boolean")]}})
class ValuesField(serializers.ListField):
    """Numbers, texts or booleans."""


class SweepSerializer(Strict, serializers.Serializer[Any]):
    parameter = serializers.CharField(
        help_text="Its name, its key in signatures, or `subset`: which references of a release are read."
    )
    values = ValuesField(required=False, help_text="By default the usual ones, as far as trained models go.")


class ParameterSpecificationSerializer(StudySpecificationSerializer):
    """Missing fields take their defaults. The answer lists every field, and can be sent again unchanged."""

    systems = NamesField(help_text="Three or more.")
    metric = ComputedMetricField(help_text="With the values in use.")
    subset = serializers.CharField(required=False, help_text="References: all, original, w>0, …")
    sweeps = SweepSerializer(many=True, required=False, help_text="By default all numbers that the metric takes.")
    coefficient = serializers.CharField(
        required=False, help_text=f"Whose highest value is the best: {', '.join(COEFFICIENTS)}."
    )
    choose_on = serializers.CharField(required=False, allow_blank=True, help_text="Split to choose the best value on.")
    judge_on = serializers.CharField(required=False, allow_blank=True, help_text="Split to judge it on.")
    halves = serializers.IntegerField(required=False, help_text="Random halves that choose and judge; 0 for none.")


class ParameterStudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = ParameterSpecificationSerializer()


class ParameterStudySerializer(StudyJobSerializer):
    specification = ParameterSpecificationSerializer(read_only=True)

    class Meta(StudyJobSerializer.Meta):
        model = ParameterStudy


@extend_schema_view(
    create=extend_schema(
        request=ParameterStudyRequestSerializer,
        responses={201: ParameterStudySerializer, 200: ParameterStudySerializer},
    )
)
class ParameterStudiesViewSet(ReportFiles, StudyViewSet):
    queryset = ParameterStudy.objects.all()
    serializer_class = ParameterStudySerializer
    request_serializer = ParameterStudyRequestSerializer
    lookup_url_kwarg = "parameter_study_pk"
    task = execute_parameter_study
    create_study = staticmethod(parameter_study_create)

    def report_content(self, ending: str) -> tuple[bytes, str]:
        study = self.finished()
        return parameter_report_file(study, study.read_result(), ending), f"parameter-study-{study.pk}"
