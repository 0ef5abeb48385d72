"""Verifications: a study, or a report that was sent, computed again here, and what differs."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as ApiResponse

from annotation.core.api import JOB_FIELDS, JobSerializer, JobViewSet, Strict
from annotation.core.parameters import is_whole
from correlations.models import StudyVerification
from correlations.selectors.verifications import outcome_sentence, verifications
from correlations.services.verifications import report_verification_create, study_verification_create
from correlations.tasks import verify


class DifferenceSerializer(serializers.Serializer[Any]):
    """A value that the two results do not share; "nothing" for a side that has none."""

    path = serializers.CharField(
        help_text="In the result: `rows[0].rho.value`; of a report over several data sets with the data set before it, "
        "or `Together`: `Cats: rows[0].rho.value`."
    )
    then = serializers.JSONField(help_text="In the report.")
    now = serializers.JSONField()


class OutcomeSerializer(serializers.Serializer[Any]):
    """As `manage.py study verify --json` prints it."""

    equal = serializers.BooleanField()
    computed = serializers.BooleanField(help_text="False if the study cannot be computed here.")
    changed = serializers.ListField(child=serializers.CharField(), help_text="What the study reads otherwise here.")
    notes = serializers.ListField(child=serializers.CharField(), help_text="What makes no difference by itself.")
    differences = DifferenceSerializer(many=True)


class VerificationSerializer(JobSerializer):
    study: Any = serializers.PrimaryKeyRelatedField(
        read_only=True, help_text="The study here; null for a report that was sent, and for a parameter study."
    )
    parameter_study: Any = serializers.PrimaryKeyRelatedField(
        read_only=True, help_text="The parameter study here; null for a report that was sent, and for a study."
    )
    sentence = serializers.SerializerMethodField(help_text="The outcome in words; empty until it is done.")
    outcome = OutcomeSerializer(read_only=True, allow_null=True)

    class Meta:
        model = StudyVerification
        fields = ("id", *JOB_FIELDS, "study", "parameter_study", "name", "signature", "sentence", "outcome")

    def get_sentence(self, verification: StudyVerification) -> str:
        return outcome_sentence(verification.outcome) if verification.outcome else ""


class VerificationRequestSerializer(Strict, serializers.Serializer[Any]):
    """One of the three."""

    study = serializers.IntegerField(required=False, min_value=1, help_text="A study of this project that is done.")
    parameter_study = serializers.IntegerField(required=False, min_value=1, help_text="Likewise a parameter study.")
    report = serializers.DictField(
        required=False, help_text="The JSON report of a study of any kind, from any installation."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError({"study": ["Accepted: a study, a parameter study, or a report."]})
        return attrs


@extend_schema_view(
    list=extend_schema(
        parameters=[
            OpenApiParameter("study", int, description="Only those of a study."),
            OpenApiParameter("parameter_study", int, description="Only those of a parameter study."),
        ]
    ),
    create=extend_schema(
        request=VerificationRequestSerializer, responses={201: VerificationSerializer, 200: VerificationSerializer}
    ),
)
class VerificationsViewSet(JobViewSet):
    queryset = StudyVerification.objects.all()
    serializer_class = VerificationSerializer
    lookup_url_kwarg = "verification_pk"
    task = verify

    def get_queryset(self) -> QuerySet[Any]:
        numbers = {field: self.parameter(field) for field in ("study", "parameter_study")}
        return verifications(self.project).filter(**{field: int(pk) for field, pk in numbers.items() if is_whole(pk)})

    def create(self, request: Request, **_: Any) -> ApiResponse:
        """Compute a study again (201), or return its verification that is going on (200). Poll its ``url``."""
        requested = self.validated(VerificationRequestSerializer)
        if "report" in requested:
            verification = report_verification_create(project=self.project, report=requested["report"], by=self.user)
            created = True
        else:
            of_kind: dict[str, Any] = {"study": self.project.studies, "parameter_study": self.project.parameter_studies}
            study: Any = next(get_object_or_404(of_kind[field], pk=pk) for field, pk in requested.items())
            verification, created = study_verification_create(study=study, by=self.user)
        if not created:
            return self.answer(verification)
        self.start(verification)
        return self.answer(verification, status.HTTP_201_CREATED)
