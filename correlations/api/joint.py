"""Studies over several data sets: one request, a study of each, and what they say together."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import AnswerSerializer, Conflict, Strict, UsernameField
from correlations.api.base import ReportFiles
from correlations.api.comparisons import ComparisonSerializer
from correlations.models import JointStudy
from correlations.selectors.compared import Compared
from correlations.selectors.compared_words import plain
from correlations.selectors.joint import joint_comparison, joint_state, joint_studies, members
from correlations.services.joint_studies import joint_study_create
from correlations.services.reports import joint_report_file
from correlations.tasks import execute


class StudyOfDatasetSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    data_set = serializers.CharField()
    state = serializers.CharField()
    signature = serializers.CharField()


class JointStudySerializer(AnswerSerializer):
    state = serializers.SerializerMethodField(help_text="Done once every study is.")
    studies = serializers.SerializerMethodField(help_text="By the names of the data sets.")
    requested_by = UsernameField()

    class Meta:
        model = JointStudy
        fields = ("id", "name", "state", "studies", "specification", "signature", "requested_by", "created_at")

    def get_state(self, joint: JointStudy) -> str:
        return joint_state(list(joint.studies.all()))

    @extend_schema_field(StudyOfDatasetSerializer(many=True))
    def get_studies(self, joint: JointStudy) -> list[dict[str, Any]]:
        studies = sorted(joint.studies.all(), key=lambda study: (study.dataset.name, study.pk))
        return [
            {"id": each.pk, "data_set": each.dataset.slug, "state": each.state, "signature": each.signature}
            for each in studies
        ]


class JointStudyRequestSerializer(Strict, serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    specification = serializers.DictField(
        help_text="A study's specification, and under `datasets` two or more objects with what each data set has by "
        "itself: `campaigns`, `systems`, `release` and any other field, which wins over the shared one."
    )

    def validate_specification(self, value: dict[str, Any]) -> dict[str, Any]:
        if "datasets" not in value:
            raise serializers.ValidationError(["Found no datasets; accepted: two or more."])
        return value


@extend_schema_view(
    create=extend_schema(
        request=JointStudyRequestSerializer, responses={201: JointStudySerializer, 200: JointStudySerializer}
    )
)
class JointStudiesViewSet(ReportFiles):
    queryset = JointStudy.objects.all()
    serializer_class = JointStudySerializer
    lookup_url_kwarg = "joint_study_pk"
    ordering = "-pk"

    def get_queryset(self) -> QuerySet[Any]:
        return joint_studies(self.project).select_related("requested_by")

    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Make or find a study of each data set (201 if one is new, else 200)."""
        validated = self.validated(JointStudyRequestSerializer)
        joint, new = joint_study_create(project=self.project, by=self.user, **validated)
        for study in new:
            execute.delay_on_commit(study.pk)
        return self.answer(joint, status.HTTP_201_CREATED if new else status.HTTP_200_OK)

    @extend_schema(
        parameters=[OpenApiParameter("coefficient", description="By default the leading one.")],
        responses=ComparisonSerializer,
    )
    @action(detail=True)
    def comparison(self, request: Request, **_: Any) -> ApiResponse:
        """Return what the studies say together: values per data set and pooled, average ranks, what differs."""
        return ApiResponse(plain(self._compared(self.get_object(), self.parameter("coefficient") or None)))

    def report_content(self, ending: str) -> tuple[bytes, str]:
        joint = self.get_object()
        return joint_report_file(joint, self._compared(joint), ending), f"joint-study-{joint.pk}"

    def _compared(self, joint: JointStudy, coefficient: str | None = None) -> Compared:
        """Return what the studies say together; 409 unless all are done and have the coefficient."""
        compared = joint_comparison(joint, coefficient)
        if compared is None:
            state = joint_state(members(joint))
            raise Conflict(f"The study is {state}, or has no such coefficient; its result is there when it is done.")
        return compared
