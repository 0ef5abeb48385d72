"""Scores made elsewhere, in and out."""

from typing import Any, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotation.core.access import get_in_project_or_404
from annotation.core.api import ProjectViewSet, Strict
from annotation.models import Dataset, Project, User
from metrics.models import ScoreRun
from metrics.scoring.external import NAME_CHARACTERS
from metrics.services.score_exports import archive_chunks
from metrics.services.score_imports import (
    NOTE_CHARACTERS,
    ImportOptions,
    Understood,
    score_file_import,
    score_file_look,
)


class ScoreImportRequestSerializer(Strict, serializers.Serializer[Any]):
    file = serializers.FileField(
        help_text="A .csv, .tsv or .jsonl table; a .seg.score or .sys.score file; a .zip or .tar.gz of such files."
    )
    dataset = serializers.SlugField(help_text="Whose systems and items were scored.")
    name = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=NAME_CHARACTERS,
        help_text="What the metric is called; score files name it themselves.",
    )
    lower_is_better = serializers.BooleanField(required=False, default=False, help_text="Of every metric in the file.")
    lower = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="Metrics of which lower is better."
    )
    lowest = serializers.FloatField(required=False, allow_null=True, default=None, help_text="Left out: no bound.")
    highest = serializers.FloatField(required=False, allow_null=True, default=None, help_text="Left out: no bound.")
    note = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=NOTE_CHARACTERS,
        help_text="Version and settings of the scorer, a link, a licence.",
    )
    check = serializers.BooleanField(
        required=False, default=False, help_text="Say what the file holds, and store nothing."
    )

    def validate_file(self, file: "UploadedFile[bytes]") -> "UploadedFile[bytes]":
        if file.size is not None and file.size > settings.UPLOAD_MAX_BYTES:
            raise serializers.ValidationError(
                f"Found {file.size} bytes; accepted: at most {settings.UPLOAD_MAX_BYTES}, or any size by the command "
                "import_scores."
            )
        return file


class ImportedSystemSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    score = serializers.FloatField(allow_null=True, help_text="Of segments: their mean. Null where there is none.")


class ImportedScoresSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    level = serializers.ChoiceField(choices=["segment", "system"])
    items = serializers.IntegerField(help_text="With at least one score; 0 for scores of systems.")
    missing = serializers.IntegerField(help_text="Scores that are missing among these items and systems.")
    systems = ImportedSystemSerializer(many=True)
    run = serializers.IntegerField(allow_null=True, help_text="The score run; null where nothing was stored.")
    url = serializers.URLField(allow_null=True)
    created = serializers.BooleanField(help_text="False: the same scores were imported before, or this was a check.")


class ScoreImportsViewSet(ProjectViewSet):
    queryset = ScoreRun.objects.none()
    serializer_class = ImportedScoresSerializer
    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={"multipart/form-data": ScoreImportRequestSerializer},
        responses={201: ImportedScoresSerializer(many=True), 200: ImportedScoresSerializer(many=True)},
    )
    def create(self, request: Request, **_: Any) -> Response:
        """Each metric and level in the file as a score run: 201 where one is new; 200 where all were there before."""
        asked = self.validated(ScoreImportRequestSerializer)
        file, check = asked.pop("file"), asked.pop("check")
        what: dict[str, Any] = {
            "dataset": dataset_of(self.project, asked.pop("dataset")),
            "filename": file.name,
            "content": file.read(),
            "options": ImportOptions(**asked),
        }
        if check:
            return Response([understood(one) for one in score_file_look(**what)])
        runs = score_file_import(**what, by=cast(User, request.user))
        code = status.HTTP_201_CREATED if any(created for _, created in runs) else status.HTTP_200_OK
        return Response([self.imported(run, created) for run, created in runs], status=code)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=False, url_path="<slug:dataset_slug>/archive", url_name="archive")
    def archive(self, request: Request, dataset_slug: str, **_: Any) -> StreamingHttpResponse:
        """All finished runs of a data set with its texts and ratings, in mt-metrics-eval's layout."""
        dataset = get_in_project_or_404(Dataset.objects.all(), self.project, slug=dataset_slug)
        response = StreamingHttpResponse(archive_chunks(dataset), content_type="application/zip")
        response["Content-Disposition"] = content_disposition_header(True, f"{dataset.slug}-scores.zip")
        return response

    def imported(self, run: ScoreRun, created: bool) -> dict[str, Any]:
        where = {"project_slug": self.project.slug, "score_run_pk": run.pk}
        scores = run.scores.select_related("system").order_by("position")
        return {
            "name": run.parameters["scorer"],
            "level": run.parameters["level"],
            "items": run.report["items"],
            "missing": run.report["missing"],
            "systems": [{"system": score.system.name, "score": score.score} for score in scores],
            "run": run.pk,
            "url": reverse("api:score-run-detail", kwargs=where, request=self.request),
            "created": created,
        }


def understood(one: Understood) -> dict[str, Any]:
    return {
        "name": one.metric.label,
        "level": one.metric.level,
        "items": len(one.places),
        "missing": one.n_missing,
        "systems": [{"system": row["system"], "score": row.get("mean")} for row in one.rows()],
        "run": None,
        "url": None,
        "created": False,
    }


def dataset_of(project: Project, slug: str) -> Dataset:
    found = project.datasets.filter(slug=slug).first()
    if found is None:
        names = ", ".join(project.datasets.order_by("slug").values_list("slug", flat=True)[:50]) or "none yet"
        raise ValidationError({"dataset": [f"Found {slug!r}; accepted: {names}."]})
    return found
