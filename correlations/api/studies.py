"""Studies: specified once, computed by a worker, read as a table or whole."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.base import JOB_FIELDS, Conflict, JobSerializer, JobViewSet
from correlations.models import Study
from correlations.services.studies import study_create
from correlations.tasks import execute
from metrics.services.runs import release_name

# --- What is asked and shown ------------------------------------------------------------------------------------------


class StudyRequestSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    specification = serializers.DictField(
        help_text="release, campaigns and systems are needed; all else has a default, shown in the answer."
    )


class StudySerializer(JobSerializer):
    dataset = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    release = serializers.SerializerMethodField(help_text="As `reference-set/v2`.")
    campaigns = serializers.SlugRelatedField(slug_field="name", many=True, read_only=True)
    specification = serializers.DictField(read_only=True, help_text="As asked, with every default spelled out.")
    score_runs = serializers.PrimaryKeyRelatedField(many=True, read_only=True)

    class Meta:
        model = Study
        fields = (
            "id", *JOB_FIELDS, "name", "dataset", "release", "campaigns", "specification", "signature", "score_runs",
        )  # fmt: skip
        read_only_fields = fields

    def get_release(self, study: Study) -> str:
        return release_name(study.release)


class IntervalField(serializers.ListField):
    child = serializers.FloatField()


class CoefficientSerializer(serializers.Serializer):
    value = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(help_text="Why it is undefined, or nothing.")
    paper = IntervalField(allow_null=True, required=False, help_text="As the paper: over assignments, Fisher's z.")
    over_items = IntervalField(allow_null=True, required=False, help_text="95%, bootstrap over items.")
    over_items_and_raters = IntervalField(
        allow_null=True, required=False, help_text="95%, bootstrap over items and raters."
    )


class StudyRowSerializer(serializers.Serializer):
    """One metric under one choice of references; the result holds more of it."""

    metric = serializers.CharField()
    label = serializers.CharField()
    subset = serializers.CharField()
    rho = CoefficientSerializer(help_text="Spearman's.")
    tau = CoefficientSerializer(help_text="Kendall's, tau-b.")
    n_observations = serializers.FloatField()
    items = serializers.IntegerField()
    signature = serializers.CharField()
    run = serializers.IntegerField(help_text="Id of the score run behind it.")


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
        """A new study (201), or the one that computed the same specification before (200). Poll its ``url``."""
        study, created = study_create(project=self.project, by=request.user, **self.asked(StudyRequestSerializer))
        if not created:
            return self.answer(study)
        self.start(study)
        return self.answer(study, status.HTTP_201_CREATED)

    def _result(self) -> dict[str, Any]:
        study = self.get_object()
        if study.result is None:
            raise Conflict(f"The study is {study.get_state_display().lower()}; its result is there once it is done.")
        return study.result

    @extend_schema(responses=StudyRowSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def table(self, request: Request, **_: Any) -> Response:
        """A row per metric and choice of references."""
        return Response(StudyRowSerializer(self._result()["rows"], many=True).data)

    @extend_schema(responses={200: dict[str, Any]})
    @action(detail=True)
    def result(self, request: Request, **_: Any) -> Response:
        """Everything the report shows: table, pairs, observations, comparisons, sweeps, counts."""
        return Response(self._result())
